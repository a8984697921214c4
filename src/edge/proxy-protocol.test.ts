import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import { httpOrigin, rawClient, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n";
const V6 = `\r\n\r\n\0\r\nQUIT\n\x21\x21\x00\x24\x20\x01\x0d\xb8${"\0".repeat(11)}\x07${"\0".repeat(16)}\x01\xbb\x00\x50`;
const LOCAL = "\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00";

/** A load balancer's header, and the visitor's address that everything after it sees. */
const HEADERS: readonly (readonly [header: string, clientIp: string])[] = [
  ["PROXY TCP4 192.0.2.7 192.0.2.8 5000 443\r\n", "192.0.2.7"],
  ["PROXY TCP6 2001:db8::5 2001:db8::6 5000 443\r\n", "2001:db8::5"],
  ["PROXY UNKNOWN\r\n", "127.0.0.1"],
  [V6, "2001:db8::7"],
  [LOCAL, "127.0.0.1"],
];

let origin: TestOrigin;
let edge: TestEdge;
let ca: string;

before(async () => {
  origin = await httpOrigin((req, res) => res.end(`for ${req.headers["x-forwarded-for"]}`));
  edge = await startEdge(siteOps(origin.port), { proxyProtocolFrom: ["127.0.0.0/8"] });
  const root = await createRoot(systemClock);
  ca = root.certificate;
  const issued = await createLocalCa({ root, clock: systemClock }).issue(["www.example.com"]);
  const sealed = edge.sealer.seal(issued.privateKey, "certificate:c");
  edge.replica.apply([
    {
      kind: "certificate",
      id: "c",
      value: { zone_id: "zone", hosts: ["www.example.com"], chain: issued.chain, private_key: sealed, not_after: issued.notAfter },
    },
  ]);
});
after(async () => {
  await edge.close();
  origin.close();
});

/** Sends the header in so many pieces, then speaks TLS over the same connection. Returns everything received. */
async function overTls(header: string, pieces: number): Promise<string> {
  const socket: Socket = connect({ port: edge.https, host: "127.0.0.1", noDelay: true });
  const size = Math.ceil(header.length / pieces);
  for (let at = 0; at < header.length; at += size) {
    socket.write(header.slice(at, at + size), "latin1");
    if (pieces > 1) await new Promise((done) => setTimeout(done, 5));
  }
  const tls = connectTls({ socket, servername: "www.example.com", ca });
  tls.write(REQUEST);
  let text = "";
  for await (const bytes of tls) text += (bytes as Buffer).toString("latin1");
  return text;
}

for (const [header, clientIp] of HEADERS) {
  test(`the client is ${clientIp} after ${JSON.stringify(header.slice(0, 20))}, over plain HTTP and over TLS`, async () => {
    edge.requests.length = 0;
    const whole = rawClient(edge.http);
    whole.send(`${header}${REQUEST}`);
    assert.ok((await whole.closed()).endsWith(`for ${clientIp}`));
    const bytewise = rawClient(edge.http);
    for (const byte of `${header}${REQUEST}`) {
      bytewise.send(byte);
      await new Promise((done) => setImmediate(done));
    }
    assert.ok((await bytewise.closed()).endsWith(`for ${clientIp}`));
    for (const pieces of [1, 4]) assert.match(await overTls(header, pieces), new RegExp(`for ${clientIp}`));
    assert.deepEqual(
      edge.requests.map((row) => row.client_ip),
      [clientIp, clientIp, clientIp, clientIp],
    );
  });
}

test("the client's port comes from the PROXY header", async () => {
  const rule = (expression: string) => rulesetOp("r", "zone", "zone", "http_request_firewall_custom", [{ action: "block", expression }]);
  edge.replica.apply([rule("cf.edge.client_port eq 5000")]);
  const [header = ""] = HEADERS[0] ?? [];
  const plain = rawClient(edge.http);
  plain.send(`${header}${REQUEST}`);
  assert.match(await plain.closed(), /^HTTP\/1\.1 403 /);
  assert.match(await overTls(header, 1), /^HTTP\/1\.1 403 /);
  // Without a visitor in the header, the port is the load balancer's own.
  edge.replica.apply([rule("cf.edge.client_port eq 5000 or cf.edge.client_port lt 1024")]);
  const own = rawClient(edge.http);
  own.send(`${LOCAL}${REQUEST}`);
  assert.match(await own.closed(), /^HTTP\/1\.1 200 /);
  edge.replica.apply([{ kind: "ruleset", id: "r", value: null }]);
});

test("connection limits count the client's address and not the load balancer's", async () => {
  const limited = await startEdge(siteOps(origin.port), { proxyProtocolFrom: ["127.0.0.1"] }, { connectionsPerAddressMax: 1 });
  const [first, second, other] = [rawClient(limited.http), rawClient(limited.http), rawClient(limited.http)];
  first.send(`PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n${REQUEST.replace("close", "keep-alive")}`);
  await first.until(/for 192/);
  second.send(`PROXY TCP4 192.0.2.7 192.0.2.8 3 2\r\n${REQUEST.replace("close", "keep-alive")}`);
  await second.until(/for 192/);
  // The address's idle connection made room.
  assert.match(await first.closed(), /for 192\.0\.2\.7$/);
  other.send(`PROXY TCP4 192.0.2.9 192.0.2.8 3 2\r\n${REQUEST}`);
  assert.match(await other.closed(), /for 192\.0\.2\.9$/);
  assert.equal(second.socket.destroyed, false, "another client's address takes no place of this one");
  second.socket.destroy();
  await limited.close();
});

test("the edge rejects a PROXY header from an address that is not a load balancer", async () => {
  const careful = await startEdge(siteOps(origin.port), { proxyProtocolFrom: ["192.0.2.0/24"] });
  const client = rawClient(careful.http);
  client.send(`${HEADERS[0]![0]}${REQUEST}`);
  assert.match(await client.closed(), /^HTTP\/1\.1 400 /);
  await careful.close();
});
