import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { EDGE_SETTINGS_DEFAULTS, type EdgeSettings } from "#snapshot/edge-settings.ts";
import type { Op } from "#snapshot/entries.ts";
import { exchangeRaw, httpOrigin, rawClient, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;
let ca: string;
/** Paths that reached the origin. */
let seen: string[];

before(async () => {
  seen = [];
  origin = await httpOrigin((req, res) => {
    seen.push(req.url ?? "");
    res.setHeader("strict-transport-security", "max-age=1; preload");
    res.end("here");
  });
  edge = await startEdge([
    ...siteOps(origin.port),
    zoneOp("other", "example.net"),
    recordOp("other", "other", "www.example.net", "A", "127.0.0.1"),
    rulesetOp("other-route", "zone", "other", "http_request_origin", [
      { action: "route", expression: "true", action_parameters: { origin: { port: origin.port } } },
    ]),
  ]);
  const root = await createRoot(systemClock);
  ca = root.certificate;
  const hosts = ["www.example.com", "www.example.net"];
  const issued = await createLocalCa({ root, clock: systemClock }).issue(hosts);
  const private_key = edge.sealer.seal(issued.privateKey, "certificate:c");
  edge.replica.apply([
    { kind: "certificate", id: "c", value: { zone_id: "zone", hosts, chain: issued.chain, private_key, not_after: issued.notAfter } } as Op,
  ]);
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

/** The visitor's response, and the paths that reached the origin. */
async function get(
  scheme: "http" | "https",
  target: string,
  more = "",
  host = "www.example.com",
  maxVersion: "TLSv1.2" | "TLSv1.3" = "TLSv1.3",
) {
  seen.length = 0;
  const bytes = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`;
  const text = scheme === "http" ? await exchangeRaw(edge.http, bytes) : await secure(bytes, maxVersion);
  const [head = ""] = text.split("\r\n\r\n");
  const field = (name: string): string[] => [...head.matchAll(new RegExp(`^${name}: (.*)$`, "gim"))].map((match) => match[1]!.trim());
  return { status: Number(head.slice(9, 12)), location: field("location")[0], field, seen: [...seen] };
}

function secure(bytes: string, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca, maxVersion }, () =>
      socket.write(bytes),
    );
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}

const choose = (settings: Partial<EdgeSettings>, zone: "zone" | "other" = "zone"): void =>
  edge.replica.apply([zoneOp(zone, zone === "zone" ? "example.com" : "example.net", { edge: settings })]);

test("always_use_https redirects plain HTTP to the same URL over HTTPS, but not ACME challenges", async () => {
  choose({ always_use_https: true });
  const plain = await get("http", "/path?a=1&b=%20");
  assert.deepEqual([plain.status, plain.location, plain.seen], [301, "https://www.example.com/path?a=1&b=%20", []]);
  const named = await get("http", "/", "", `www.example.com:${edge.http}`);
  assert.equal(named.location, `https://www.example.com:${edge.https}/`, "our own port becomes our other one");
  assert.equal((await get("http", "/", "", "www.example.com:8")).location, "https://www.example.com/");
  assert.equal((await get("http", "//evil.example/%0d%0a")).location, "https://www.example.com//evil.example/%0d%0a");
  assert.equal((await get("https", "/secure")).status, 200);
  const challenge = await get("http", "/.well-known/acme-challenge/token");
  assert.deepEqual([challenge.status, challenge.seen], [200, ["/.well-known/acme-challenge/token"]]);
});

test("ssl off redirects HTTPS to plain HTTP, and never in a loop", async () => {
  choose({ ssl: "off", always_use_https: true, security_header: { ...EDGE_SETTINGS_DEFAULTS.security_header, enabled: true, max_age: 9 } });
  const secured = await get("https", "/path?q");
  assert.deepEqual([secured.status, secured.location, secured.seen], [301, "http://www.example.com/path?q", []]);
  assert.deepEqual(secured.field("strict-transport-security"), []);
  assert.equal((await get("https", "/", "", `www.example.com:${edge.https}`)).location, `http://www.example.com:${edge.http}/`);
  assert.equal((await get("http", "/path")).status, 200);
});

test("mobile_redirect redirects only mobile devices, from the apex and www to the zone's mobile subdomain", async () => {
  const phone = "User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile/15E148\r\n";
  choose({ mobile_redirect: { subdomain: "m", strip_uri: false } });
  assert.equal((await get("http", "/a?b=1", phone)).status, 200, "the name has no record");
  for (const name of ["*.example.com", "m.example.com"]) {
    edge.replica.apply([recordOp("m", "zone", name, "A", "192.0.2.1", false)]);
    assert.equal((await get("http", "/a?b=1", phone)).status, 302, name);
  }
  const sent = await get("http", "/a?b=1", phone);
  assert.deepEqual([sent.status, sent.location, sent.field("vary"), sent.seen], [302, "http://m.example.com/a?b=1", ["User-Agent"], []]);
  assert.equal((await get("https", "/", phone, `www.example.com:${edge.https}`)).location, `https://m.example.com:${edge.https}/`);
  assert.equal((await get("http", "//evil.example/", phone)).location, "http://m.example.com//evil.example/");
  for (const agent of ["", "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n", "User-Agent: Mozilla/5.0 (iPad; CPU OS 17_0) Mobile\r\n"])
    assert.equal((await get("http", "/a", agent)).status, 200, agent);
  assert.equal((await get("http", "/.well-known/acme-challenge/token", phone)).status, 200);
  choose({ mobile_redirect: { subdomain: "m", strip_uri: true } });
  assert.equal((await get("http", "/a?b=1", phone)).location, "http://m.example.com/");
  choose({ mobile_redirect: { subdomain: "www", strip_uri: false } });
  assert.equal((await get("http", "/a", phone)).status, 200, "never round in a circle");
  choose({ mobile_redirect: null });
  assert.equal((await get("http", "/a", phone)).status, 200);
});

test("security_header replaces the origin's header over HTTPS only, also on error pages, and sets nosniff everywhere", async () => {
  const header = { enabled: true, max_age: 86_400, include_subdomains: true, preload: true, nosniff: true };
  choose({ security_header: header });
  const expected = ["max-age=86400; includeSubDomains; preload"];
  const secured = await get("https", "/");
  assert.deepEqual([secured.field("strict-transport-security"), secured.field("x-content-type-options")], [expected, ["nosniff"]]);
  const plain = await get("http", "/");
  assert.deepEqual(plain.field("strict-transport-security"), ["max-age=1; preload"], "the origin's own word over plain HTTP is its own");
  assert.deepEqual(plain.field("x-content-type-options"), ["nosniff"]);
  choose({ security_header: { ...header, include_subdomains: false, preload: false }, websockets: false });
  const page = await get("https", "/", "Upgrade: websocket\r\n");
  assert.deepEqual([page.status, page.field("strict-transport-security")], [403, ["max-age=86400"]]);
  assert.deepEqual(page.field("x-content-type-options"), ["nosniff"]);
});

test("websockets off refuses WebSocket upgrades before the origin, and no other request", async () => {
  choose({ websockets: false });
  for (const upgrade of ["websocket", "WebSocket/13", "foo, websocket"]) {
    const refused = await get("http", "/chat", `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Version: 13\r\n`);
    assert.deepEqual([refused.status, refused.seen], [403, []], upgrade);
  }
  assert.equal((await get("http", "/")).status, 200);
});

test("a request gets 421 if its name requires a newer TLS version than its connection has", async () => {
  choose({});
  choose({ min_tls_version: "1.3" }, "other");
  const older = await get("https", "/", "", "www.example.net", "TLSv1.2");
  assert.deepEqual([older.status, older.seen], [421, []]);
  assert.equal((await get("https", "/", "", "www.example.net", "TLSv1.3")).status, 200);
  assert.equal((await get("https", "/", "", "www.example.com", "TLSv1.2")).status, 200);
  assert.equal((await get("http", "/", "", "www.example.net")).status, 200);
});

test("an open connection gets 421 at its next request after the zone raises its TLS version", async () => {
  choose({});
  const options = { port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca, maxVersion: "TLSv1.2" } as const;
  const socket = connect(options);
  await once(socket, "secureConnect");
  const ask = async (): Promise<string> => {
    socket.write("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
    return String((await once(socket, "data"))[0]).slice(9, 12);
  };
  assert.equal(await ask(), "200");
  choose({ min_tls_version: "1.3" });
  assert.equal(await ask(), "421");
  socket.destroy();
});

test("a redirect leaves its connection open and makes a row", async () => {
  choose({ always_use_https: true });
  const before = edge.requests.length;
  const client = rawClient(edge.http);
  client.send("GET /1 HTTP/1.1\r\nHost: www.example.com\r\n\r\nGET /2 HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
  assert.deepEqual(
    (await client.closed()).match(/^Location: .*$/gm)?.map((line) => line.trim()),
    ["Location: https://www.example.com/1", "Location: https://www.example.com/2"],
  );
  assert.deepEqual(
    edge.requests.slice(before).map(({ status }) => status),
    [301, 301],
  );
});
