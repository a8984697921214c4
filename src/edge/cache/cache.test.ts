import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, test } from "node:test";
import type { PurgeEntry } from "#snapshot/entries.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { recordOp, rulesetOp } from "#edge/testing/entries.ts";
import { fetchOver, startSecureEdge } from "../../../test/support/secure-edge.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { ask, site } from "#edge/testing/site.ts";

const kept =
  (control = "max-age=60", more: Readonly<Record<string, string>> = {}) =>
  (_req: IncomingMessage, res: ServerResponse): void => {
    res.writeHead(200, { "Cache-Control": control, ...more }).end("body");
  };

test("the edge sends a cached response with its Age to the next client", async (t) => {
  const { asked, get, edge } = await site(
    t,
    kept("max-age=60", { Age: "7", "X-Own": "x", "Cache-Tag": "a,b", "svc-cache-status": "forged" }),
  );
  const first = await get("/a.css");
  assert.deepEqual([first.status, first.cache, first.body], [200, "MISS", "body"]);
  assert.ok(isAged(first.field("age"), 7));
  const second = await get("/a.css");
  assert.deepEqual(
    [second.status, second.cache, second.body, second.field("x-own"), second.field("content-length")],
    [200, "HIT", "body", "x", "4"],
  );
  assert.ok(isAged(second.field("age"), 7));
  assert.equal(second.field("cache-tag"), undefined);
  assert.equal(first.field("cache-tag"), undefined);
  assert.equal(asked.length, 1);
  assert.deepEqual(
    edge.requests.map(({ status, origin_status }) => [status, origin_status]),
    [
      [200, 200],
      [200, null],
    ],
  );
});

test("the edge answers HEAD from a cached GET response", async (t) => {
  const { asked, get } = await site(t, kept());
  assert.equal((await get("/a.css", "", "HEAD")).cache, "MISS");
  await get("/a.css");
  const head = await get("/a.css", "", "HEAD");
  assert.deepEqual([head.cache, head.body, head.field("content-length")], ["HIT", "", "4"]);
  assert.deepEqual(
    asked.map(({ method }) => method),
    ["HEAD", "GET"],
  );
});

test("the edge forwards a request for a type that is not cached by default unchanged", async (t) => {
  const { asked, get } = await site(t, kept());
  for (let i = 0; i < 2; i++) assert.equal((await get("/page", 'If-None-Match: "1"\r\n')).cache, "DYNAMIC");
  assert.equal(asked[1]?.headers["if-none-match"], '"1"');
  assert.equal((await get("/a.css", "Content-Length: 0\r\n", "POST")).cache, "DYNAMIC");
});

test("the edge fetches a private response from the origin each time", async (t) => {
  const { asked, get } = await site(t, kept("private"));
  for (let i = 0; i < 3; i++) assert.equal((await get("/a.css")).cache, "BYPASS");
  assert.equal(asked.length, 3);
});

test("the cache stores a variant for each meaning of the fields in Vary", async (t) => {
  const { get } = await site(t, (req, res) => {
    res
      .writeHead(200, { "Cache-Control": "max-age=60", Vary: "Accept-Language, Accept-Encoding" })
      .end(String(req.headers["accept-language"]));
  });
  const rows = [
    ["Accept-Language: de\r\nAccept-Encoding: gzip, br\r\n", "MISS", "de"],
    ["Accept-Language: en\r\nAccept-Encoding: gzip, br\r\n", "MISS", "en"],
    ["Accept-Language: de\r\nAccept-Encoding: br,gzip\r\n", "HIT", "de"],
    ["Accept-Encoding: br,gzip\r\n", "MISS", "undefined"],
    ["Accept-Language: en\r\nAccept-Encoding: gzip, br\r\n", "HIT", "en"],
  ] as const;
  for (const [fields, cache, body] of rows) {
    const reply = await get("/a.css", fields);
    assert.deepEqual([reply.cache, reply.body], [cache, body]);
  }
});

test("the edge answers conditional and range requests from the stored response", async (t) => {
  const modified = "Sun, 06 Nov 1994 08:49:37 GMT";
  const { asked, get } = await site(t, (_req, res) => {
    res
      .writeHead(200, { "Cache-Control": "max-age=60", ETag: '"1"', "Last-Modified": modified, "Content-Type": "text/css" })
      .end("0123456789");
  });
  // The stored response answers the first visitor's precondition, too.
  const first = await get("/a.css", 'If-None-Match: "1"\r\n');
  assert.deepEqual([first.status, first.body, first.cache], [200, "0123456789", "MISS"]);
  const rows = [
    ['If-None-Match: "1"\r\n', 304, "", undefined],
    [`If-Modified-Since: ${modified}\r\n`, 304, "", undefined],
    ["Range: bytes=2-4\r\n", 206, "234", "bytes 2-4/10"],
    ["Range: bytes=-3\r\n", 206, "789", "bytes 7-9/10"],
    ['Range: bytes=8-\r\nIf-Range: "1"\r\n', 206, "89", "bytes 8-9/10"],
    ['Range: bytes=8-\r\nIf-Range: "2"\r\n', 200, "0123456789", undefined],
    ["Range: bytes=0-1,4-5\r\n", 200, "0123456789", undefined],
    ["Range: bytes=10-\r\n", 416, "", "bytes */10"],
  ] as const;
  for (const [fields, status, body, range] of rows) {
    const reply = await get("/a.css", fields);
    assert.deepEqual([reply.status, reply.body, reply.field("content-range"), reply.cache], [status, body, range, "HIT"], fields);
  }
  const notModified = await get("/a.css", 'If-None-Match: "1"\r\n');
  assert.equal(notModified.field("etag"), '"1"');
  assert.equal(notModified.field("content-type"), undefined);
  assert.deepEqual(
    asked.map(({ headers }) => headers["if-none-match"]),
    [undefined],
  );
});

test("a request with If-Match bypasses the cache unchanged", async (t) => {
  const { asked, get } = await site(t, kept());
  assert.equal((await get("/a.css", 'If-Match: "1"\r\n')).cache, "BYPASS");
  assert.equal(asked[0]?.headers["if-match"], '"1"');
});

/** At least so many seconds old; a busy machine may add some. */
const isAged = (field: unknown, seconds: number): boolean => Number(field) >= seconds && Number(field) < seconds + 60;
/** Stale from the first moment on. */
const OLD = { Age: "100" };

test("a stale response is revalidated with its ETag, and a 304 freshens it", async (t) => {
  const { asked, get } = await site(t, (req, res) => {
    const unchanged = req.headers["if-none-match"] === '"1"';
    if (unchanged) res.writeHead(304, { "Cache-Control": "max-age=60", ETag: '"1"', "X-New": "yes", "Set-Cookie": "a=b" }).end();
    else res.writeHead(200, { "Cache-Control": "max-age=60", ETag: '"1"', ...OLD }).end("body");
  });
  const rows = [await get("/a.css"), await get("/a.css"), await get("/a.css")];
  assert.deepEqual(
    rows.map(({ status, cache, body }) => [status, cache, body]),
    [
      [200, "MISS", "body"],
      [200, "REVALIDATED", "body"],
      [200, "HIT", "body"],
    ],
  );
  assert.deepEqual([rows[2]?.field("x-new"), rows[2]?.field("set-cookie")], ["yes", undefined]);
  assert.ok(isAged(rows[2]?.field("age"), 0));
  assert.equal(asked.length, 2);
});

test("a 200 from the origin replaces a stale response", async (t) => {
  let count = 0;
  const { get } = await site(t, (_req, res) => {
    count++;
    res.writeHead(200, { "Cache-Control": "max-age=60", ETag: `"${count}"`, ...(count === 1 ? OLD : {}) }).end(String(count));
  });
  assert.deepEqual([(await get("/a.css")).body, (await get("/a.css")).body, (await get("/a.css")).cache], ["1", "2", "HIT"]);
});

test("the edge revalidates a no-cache response each time, and the origin does not send its body again", async (t) => {
  const { get } = await site(t, (req, res) => {
    if (req.headers["if-none-match"] === undefined) res.writeHead(200, { "Cache-Control": "no-cache", ETag: '"1"' }).end("body");
    else res.writeHead(304).end();
  });
  assert.deepEqual(
    [(await get("/a.css")).cache, (await get("/a.css")).cache, (await get("/a.css")).cache],
    ["MISS", "REVALIDATED", "REVALIDATED"],
  );
});

test("RFC 5861 stale-while-revalidate: the edge sends the stale response at once and fetches a new one in the background", async (t) => {
  let count = 0;
  const { asked, get } = await site(t, (_req, res) => {
    count++;
    res.writeHead(200, { "Cache-Control": "max-age=60, stale-while-revalidate=600", ...(count === 1 ? OLD : {}) }).end(String(count));
  });
  await get("/a.css");
  const second = await get("/a.css");
  assert.deepEqual([second.cache, second.body], ["UPDATING", "1"]);
  await eventually(() => asked.length === 2);
  let third = await get("/a.css");
  while (third.cache === "UPDATING") third = await get("/a.css");
  assert.deepEqual([third.cache, third.body], ["HIT", "2"]);
});

for (const how of ["500", "nothing"] as const) {
  test(`RFC 5861 stale-if-error: the edge sends the stale response if the origin answers ${how}`, async (t) => {
    let fails = false;
    const { get } = await site(t, (req, res) => {
      if (!fails)
        res
          .writeHead(200, { "Cache-Control": `max-age=60${req.url === "/a.css" ? ", stale-if-error=600" : ""}`, ETag: '"1"', ...OLD })
          .end("body");
      else if (how === "500") res.writeHead(500, { "Cache-Control": "max-age=60" }).end("broken");
      else req.socket.destroy();
    });
    await get("/a.css");
    await get("/b.css");
    fails = true;
    const spared = await get("/a.css");
    assert.deepEqual([spared.status, spared.cache, spared.body], [200, "STALE", "body"]);
    assert.equal((await get("/b.css")).status, how === "500" ? 500 : 520);
    fails = false;
    assert.equal((await get("/b.css")).cache, "EXPIRED");
  });
}

test("RFC 9111 4.4: a successful unsafe request invalidates its target, and Location and Content-Location of the same site", async (t) => {
  const { get } = await site(t, (req, res) => {
    if (req.method === "GET") return kept()(req, res);
    res
      .writeHead(req.url === "/refused.css" ? 403 : 204, {
        Location: "/other.css",
        "Content-Location": "http://elsewhere.example/third.css",
      })
      .end();
  });
  const paths = ["/a.css", "/other.css", "/third.css", "/refused.css"];
  for (const path of paths) await get(path);
  await get("/refused.css", "", "DELETE");
  assert.equal((await get("/refused.css")).cache, "HIT");
  await get("/a.css", "", "PUT");
  assert.deepEqual(
    [(await get("/a.css")).cache, (await get("/other.css")).cache, (await get("/third.css")).cache],
    ["MISS", "MISS", "HIT"],
  );
});

test("the zone's settings set the cache level, the order of parameters, development mode and the time for browsers", async (t) => {
  const origin = await httpOrigin((req, res) =>
    res.writeHead(200, { "Cache-Control": 'max-age=60, must-revalidate, ext="a, max-age=1"', "X-Url": req.url }).end("body"),
  );
  const edge = await startEdge(siteOps(origin.port));
  t.after(() => Promise.all([edge.close(), origin.close()]));
  const set = (settings: object): void => {
    const zone = edge.replica.snapshot.get("zone", "zone")!;
    edge.replica.apply([{ kind: "zone", id: "zone", value: { ...zone, edge: settings } }]);
  };
  const get = (path: string) => ask(edge.http, path, "", "GET");
  set({ browser_cache_ttl: 0 });
  assert.equal((await get("/a.css?b=2&a=1")).field("cache-control"), 'max-age=60, must-revalidate, ext="a, max-age=1"');
  assert.equal((await get("/a.css?a=1&b=2")).cache, "MISS");
  set({ browser_cache_ttl: 3600, sort_query_string_for_cache: true });
  const sorted = await get("/a.css?b=2&a=1");
  // The origin gets the query of the key; otherwise the order of one visitor would apply to all.
  assert.deepEqual(
    [sorted.cache, sorted.field("x-url"), sorted.field("cache-control")],
    ["HIT", "/a.css?a=1&b=2", 'must-revalidate, ext="a, max-age=1", max-age=3600'],
  );
  set({ cache_level: "simplified" });
  const simplified = await get("/a.css?x=<script>");
  assert.deepEqual([simplified.cache, simplified.field("x-url")], ["MISS", "/a.css"]);
  assert.equal((await get("/a.css?y")).cache, "HIT");
  set({ cache_level: "basic" });
  assert.deepEqual([(await get("/a.css?y")).cache, (await get("/a.css")).cache], ["BYPASS", "HIT"]);
  set({ development_mode_until_ms: Date.now() + 60_000 });
  assert.equal((await get("/a.css")).cache, "BYPASS");
  set({ development_mode_until_ms: Date.now() - 1 });
  assert.equal((await get("/a.css")).cache, "HIT");
});

describe("a request header that is not in the cache key does not change the response that other clients get", () => {
  /** A first request to which the origin responds differently. */
  const rows: readonly (readonly [name: string, fields: string, method?: string, path?: string])[] = [
    ["X-Forwarded-Host", "X-Forwarded-Host: evil.example\r\n"],
    ["X-Forwarded-Scheme", "X-Forwarded-Scheme: nothttps\r\n"],
    ["x_forwarded_host", "x_forwarded_host: evil.example\r\n"],
    ["X-Original-URL", "X-Original-URL: /other\r\n"],
    ["X-Rewrite-URL", "X-Rewrite-URL: /other\r\n"],
    ["Forwarded", "Forwarded: host=evil.example\r\n"],
    ["X-HTTP-Method-Override", "X-HTTP-Method-Override: POST\r\n"],
    ["Origin", "Origin: https://evil.example\r\n"],
    ["a port in Host", "", "GET", "http://www.example.com:1337/a.css"],
    ["a body on GET", "Content-Length: 4\r\n\r\nevil", "GET"],
    ["a long head", `X-Long: ${"x".repeat(9_000)}\r\n`],
    ["a case of the path", "", "GET", "/A.css"],
    ["an encoded path", "", "GET", "/%61.css"],
    ["another path", "", "GET", "/x/..;/a.css"],
  ];
  for (const [name, fields, method = "GET", path = "/a.css"] of rows) {
    test(name, async (t) => {
      const { edge } = await site(t, (req, res) => {
        const plain =
          req.url === "/a.css" && req.headers.host === "www.example.com" && Object.keys(req.headers).every((key) => USUAL.has(key));
        if (name === "a long head" && req.headers["x-long"]) res.writeHead(400, { "Cache-Control": "max-age=60" }).end("evil");
        else res.writeHead(200, { "Cache-Control": "max-age=60" }).end(plain ? "good" : "evil");
      });
      const host = path.startsWith("http") ? "www.example.com:1337" : "www.example.com";
      // If the fields include a body, they end the head themselves.
      const poison = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${fields}${fields.includes("\r\n\r\n") ? "" : "\r\n"}`;
      // Some of these never reach an origin.
      assert.match(await exchangeRaw(edge.http, poison), /evil|good/);
      const victim = await ask(edge.http, "/a.css", "", "GET");
      assert.deepEqual([victim.body, victim.status], ["good", 200]);
    });
  }
});

const USUAL = new Set([
  "host",
  "connection",
  "x-forwarded-for",
  "x-forwarded-proto",
  "svc-connecting-ip",
  "svc-ray",
  "svc-visitor",
  "cdn-loop",
]);

test("the edge caches neither a HEAD request with a method override nor a response to another method than GET", async (t) => {
  const { get } = await site(t, (req, res) => res.writeHead(200, { "Cache-Control": "max-age=60" }).end(req.method));
  for (const method of ["HEAD", "POST", "PATCH", "OPTIONS", "get"]) await get("/a.css", "", method);
  assert.deepEqual([(await get("/a.css")).cache, (await get("/a.css")).body], ["MISS", "GET"]);
});

test("a purge removes the responses that it names, also ones that the edge requested before it", async (t) => {
  const held: ServerResponse[] = [];
  const { edge, get, asked } = await site(t, (req, res) => {
    if (req.url === "/held.css") held.push(res);
    else kept("max-age=60", { "Cache-Tag": req.url === "/a.css" ? "One,two" : "three" })(req, res);
  });
  const purge = (count: number, recent: PurgeEntry["recent"]): void =>
    edge.replica.apply([{ kind: "purge", id: "zone", value: { count, recent } }]);
  const statuses = async () => [(await get("/a.css")).cache, (await get("/b.css")).cache];
  await statuses();
  purge(1, [{ by: "tags", values: ["one"] }]);
  assert.deepEqual(await statuses(), ["MISS", "HIT"]);
  purge(2, [{ by: "files", values: ["http://www.example.com/b.css"] }]);
  assert.deepEqual(await statuses(), ["HIT", "MISS"]);
  const waiting = get("/held.css");
  await eventually(() => held.length === 1);
  purge(3, []);
  const after = get("/held.css");
  await eventually(() => held.length === 2);
  for (const res of held) res.writeHead(200, { "Cache-Control": "max-age=60" }).end("body");
  assert.deepEqual([(await waiting).cache, (await after).cache], ["MISS", "MISS"]);
  assert.deepEqual(await statuses(), ["MISS", "MISS"]);
  assert.equal((await get("/held.css")).cache, "HIT");
  assert.equal(asked.filter(({ url }) => url === "/held.css").length, 2);
});

test("an invalidation in one thread reaches the other threads", async (t) => {
  const origin = await httpOrigin((req, res) => (req.method === "GET" ? kept()(req, res) : res.writeHead(204).end()));
  const [one, other] = [await startEdge(siteOps(origin.port)), await startEdge(siteOps(origin.port))];
  t.after(() => Promise.all([one.close(), other.close(), origin.close()]));
  await ask(other.http, "/a.css", "", "GET");
  assert.equal((await ask(other.http, "/a.css", "", "GET")).cache, "HIT");
  await ask(one.http, "/a.css", "", "PUT");
  for (let i = 0; (await ask(other.http, "/a.css", "", "HEAD")).cache === "HIT"; i++) assert.ok(i < 100);
});

test("the edge does not cache a GET response if a PUT to the same URL ends before it arrives", async (t) => {
  const held: ServerResponse[] = [];
  const { get } = await site(t, (req, res) => {
    if (req.method !== "GET") res.writeHead(204).end();
    else if (held.push(res) > 1) kept()(req, res);
  });
  const before = get("/a.css");
  await eventually(() => held.length === 1);
  await get("/a.css", "", "PUT");
  held[0]!.writeHead(200, { "Cache-Control": "max-age=60" }).end("old");
  assert.equal((await before).body, "old");
  assert.deepEqual([(await get("/a.css")).body, (await get("/a.css")).cache], ["body", "HIT"]);
});

test("SPEC 8: the detector scans and counts a response from the cache like any other", async (t) => {
  const execute = { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } };
  const { edge, get } = await site(
    t,
    (_req, res) => res.writeHead(200, { "Cache-Control": "max-age=60", "Content-Type": "text/html" }).end("4111 1111 1111 1111"),
    [rulesetOp("sdd", "zone", "zone", "http_response_firewall_managed", [execute])],
  );
  assert.deepEqual([(await get("/a.css")).cache, (await get("/a.css")).cache], ["MISS", "HIT"]);
  await get("/a.css", "", "HEAD");
  assert.deepEqual(
    edge.scanned.map(({ body, ended, subject }) => [body, ended, subject.content_type]),
    [
      ["4111 1111 1111 1111", true, "text/html"],
      ["4111 1111 1111 1111", true, "text/html"],
    ],
  );
  assert.equal(edge.requests.length, 3);
});

test("HTTP/2 clients and HTTP/1.1 clients share cached responses", async (t) => {
  const origin = await httpOrigin(kept("max-age=60", { ETag: '"1"', "Cache-Tag": "one" }));
  const edge = await startSecureEdge(origin.port);
  t.after(() => Promise.all([edge.close(), origin.close()]));
  const session = edge.session();
  const first = await fetchOver(session, { ":path": "/a.css" });
  const second = await fetchOver(session, { ":path": "/a.css" });
  assert.deepEqual(
    [first, second].map(({ headers, body }) => [headers["svc-cache-status"], body, headers["cache-tag"]]),
    [
      ["MISS", "body", undefined],
      ["HIT", "body", undefined],
    ],
  );
  const third = await fetchOver(session, { ":path": "/a.css", "if-none-match": '"1"' });
  assert.deepEqual([third.status, third.body], [304, ""]);
  assert.ok(isAged(third.headers["age"], 0));
});

test("the edge stops serving cached responses of a name as soon as the name is not proxied", async (t) => {
  const { edge, get } = await site(t, kept());
  await get("/a.css");
  assert.equal((await get("/a.css")).cache, "HIT");
  edge.replica.apply([recordOp("www", "zone", "www.example.com", "A", "127.0.0.1", false)]);
  assert.equal((await get("/a.css")).status, 530);
  edge.replica.apply([recordOp("www", "zone", "www.example.com", "A", "127.0.0.1", true)]);
  assert.equal((await get("/a.css")).cache, "HIT");
});
