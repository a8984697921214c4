import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { get as httpGet, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from "node:zlib";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import type { Op } from "#snapshot/entries.ts";
import { httpOrigin, rawClient, siteOps, startEdge } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import { fetchOver, startSecureEdge } from "../../../test/support/secure-edge.ts";

type Answer = (req: IncomingMessage, res: ServerResponse) => void;

const TEXT = "A line of text that comes again and again.\n".repeat(100);
const LONG = Array.from({ length: 40_000 }, (_, i) => `${i}: some words of line ${i % 97}\n`).join("");
const ALL = "gzip, br, zstd";

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The uncompressed body. */
  readonly text: string;
}

const OPEN: Readonly<Record<string, (body: Buffer) => Buffer>> = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };

function ask(port: number, path: string, fields: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const req = httpGet({ port, host: "127.0.0.1", path, method, agent: false, headers: { host: "www.example.com", ...fields } }, (res) => {
      const pieces: Buffer[] = [];
      res.on("data", (piece: Buffer) => pieces.push(piece));
      res.on("error", reject);
      res.on("end", () => {
        const body = Buffer.concat(pieces);
        const open = OPEN[res.headers["content-encoding"] ?? ""];
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          body,
          text: String(open === undefined || body.length === 0 ? body : open(body)),
        });
      });
    });
    req.on("error", reject);
  });
}

async function site(t: { after(end: () => unknown): void }, answer: Answer, ops: readonly Op[] = []) {
  const origin = await httpOrigin(answer);
  const edge = await startEdge([...siteOps(origin.port), ...ops]);
  t.after(async () => {
    await edge.close();
    origin.close();
    assert.deepEqual(edge.errors, []);
  });
  const get = (path: string, encodings?: string, more: Readonly<Record<string, string>> = {}, method = "GET") =>
    ask(edge.http, path, { ...(encodings === undefined ? {} : { "accept-encoding": encodings }), ...more }, method);
  return { edge, get };
}

const says =
  (headers: Readonly<Record<string, string>> = {}, body: string | Buffer = TEXT, status = 200): Answer =>
  (_req, res) =>
    void res
      .writeHead(status, { "Content-Type": "text/html; charset=utf-8", "Content-Length": String(Buffer.byteLength(body)), ...headers })
      .end(body);

const compress = (expression: string, ...names: readonly string[]) => ({
  action: "compress_response",
  expression,
  action_parameters: { algorithms: names.map((name) => ({ name })) },
});
const rules = (...list: Parameters<typeof rulesetOp>[4]) => [rulesetOp("compress", "zone", "zone", "http_response_compression", list)];

test("the edge compresses text in the coding that the client prefers, and adds Vary", async (t) => {
  const { get } = await site(t, says());
  for (const [encodings, coding] of [
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["br", "br"],
    ["zstd", "zstd"],
    [ALL, "zstd"],
    ["gzip, br", "br"],
    ["gzip;q=1.0, br;q=0.5, zstd;q=0", "gzip"],
    ["*", "zstd"],
    ["*;q=0.5, zstd;q=0", "br"],
    ["gzip;q=0.5, identity", undefined],
    ["gzip;q=0", undefined],
    ["gzip;q=nonsense", undefined],
    ["identity", undefined],
    ["deflate", undefined],
    ["", undefined],
    [undefined, undefined],
  ] as const) {
    const { headers, text, body } = await get("/", encodings);
    assert.equal(headers["content-encoding"], coding, encodings);
    assert.equal(text, TEXT);
    assert.equal(headers.vary, "Accept-Encoding");
    if (coding !== undefined) assert.ok(body.length < TEXT.length / 4 && headers["content-length"] === undefined);
    else assert.equal(headers["content-length"], String(TEXT.length));
  }
});

test("the edge does not compress other types, short, partial, encoded or no-transform bodies", async (t) => {
  const bodies: Readonly<Record<string, Answer>> = {
    "/png": says({ "Content-Type": "image/png" }),
    "/events": says({ "Content-Type": "text/event-stream" }),
    "/short": says({}, "x".repeat(255)),
    "/zipped": says({ "Content-Encoding": "gzip" }, gzipSync(TEXT)),
    "/no-transform": says({ "Cache-Control": "public, no-transform" }),
    "/part": says({ "Content-Range": `bytes 0-${TEXT.length - 1}/9999` }, TEXT, 206),
    "/empty": (_req, res) => void res.writeHead(204, { "Content-Type": "text/html" }).end(),
    "/typeless": (_req, res) => void res.writeHead(200).end(TEXT),
  };
  const { get } = await site(t, (req, res) => bodies[req.url ?? ""]!(req, res));
  for (const path of Object.keys(bodies)) {
    const { headers } = await get(path, ALL);
    assert.deepEqual(
      [headers["content-encoding"], headers.vary],
      [path === "/zipped" ? "gzip" : undefined, path === "/part" ? "Accept-Encoding" : undefined],
      path,
    );
  }
});

test("a compressed response has a weak ETag and lacks Content-Length, Accept-Ranges and digests, also for HEAD", async (t) => {
  const { get } = await site(t, says({ ETag: '"1"', "Accept-Ranges": "bytes", "Content-Digest": "sha-256=:AAAA:", Vary: "Origin" }));
  for (const method of ["GET", "HEAD"]) {
    const { headers } = await get("/", "gzip", {}, method);
    assert.deepEqual(
      [
        headers.etag,
        headers["content-encoding"],
        headers["accept-ranges"],
        headers["content-digest"],
        headers["content-length"],
        headers.vary,
      ],
      ['W/"1"', "gzip", undefined, undefined, undefined, "Origin, Accept-Encoding"],
      method,
    );
  }
  const plain = await get("/");
  assert.deepEqual([plain.headers.etag, plain.headers["accept-ranges"]], ['"1"', "bytes"]);
});

test("a request with the weak ETag gets 304 with that ETag", async (t) => {
  const { get } = await site(t, says({ ETag: '"1"', "Cache-Control": "max-age=60", "Content-Type": "text/css" }));
  assert.equal((await get("/a.css", "gzip")).headers.etag, 'W/"1"');
  const again = await get("/a.css", "gzip", { "If-None-Match": 'W/"1"' });
  assert.deepEqual([again.status, again.headers.etag, again.headers["content-encoding"]], [304, 'W/"1"', undefined]);
  assert.equal((await get("/a.css", undefined, { "If-None-Match": '"1"' })).headers.etag, '"1"');
  // A part of the uncompressed body must not be joined with a compressed one.
  const part = await get("/a.css", "gzip", { Range: "bytes=0-9", "If-Range": 'W/"1"' });
  assert.deepEqual([part.status, part.text], [200, TEXT]);
});

test("the cache stores the uncompressed body, and each client gets the coding that it accepts", async (t) => {
  let asked = 0;
  const { get } = await site(t, (req, res) => {
    asked++;
    says({ "Cache-Control": "max-age=60", "Content-Type": "text/css" })(req, res);
  });
  for (const encodings of ["br", undefined, "gzip", "zstd", "br"]) {
    const { headers, text } = await get("/a.css", encodings);
    assert.deepEqual([headers["content-encoding"], text], [encodings, TEXT]);
  }
  assert.equal(asked, 1);
});

test("the cache stores the compressed form of a body, and removes it with the body", async (t) => {
  let said = TEXT;
  const { edge, get } = await site(t, (req, res) =>
    says({ "Cache-Control": "max-age=60", "Content-Type": "text/css" }, req.url === "/long.css" ? LONG : said)(req, res),
  );
  const again = () => edge.metrics.samples().find(({ name }) => name === "selvedge_edge_compression_cache_hits_total")?.value;
  const texts = async (path: string, encodings: string) => (await get(path, encodings)).text;
  await get("/a.css");
  for (const encodings of ["gzip", "br", "gzip", "br"]) assert.equal(await texts("/a.css", encodings), TEXT);
  assert.equal(again(), 2);
  // Too long to keep: compressed for each request, as it arrives.
  await get("/long.css");
  for (let n = 0; n < 2; n++) assert.equal((await texts("/long.css", "gzip")) === LONG, true);
  assert.equal(again(), 2);
  said = TEXT.toUpperCase();
  edge.replica.apply([
    { kind: "purge", id: "zone", value: { count: 1, recent: [{ by: "files", values: ["http://www.example.com/a.css"] }] } },
  ]);
  for (let n = 0; n < 3; n++) assert.equal(await texts("/a.css", "gzip"), said);
  assert.equal((await get("/a.css", "gzip", {}, "HEAD")).headers["content-encoding"], "gzip");
  assert.equal((await get("/a.css", "gzip", { Range: "bytes=0-3" })).text, said.slice(0, 4));
});

test("compression rules set the order of algorithms, other types, or none, and the last matching rule wins", async (t) => {
  const { get } = await site(
    t,
    (req, res) => says({ "Content-Type": /image/.test(req.url ?? "") ? "image/png" : "text/html" })(req, res),
    rules(
      compress('http.request.uri.path eq "/gzip"', "gzip", "brotli"),
      compress('http.response.content_type.media_type eq "image/png"', "brotli"),
      compress('http.request.uri.path eq "/none"', "none"),
      compress('http.request.uri.path eq "/auto/image"', "auto"),
      compress('http.request.uri.path eq "/default/image"', "zstd", "default"),
      compress('http.request.uri.path eq "/last"', "gzip"),
      compress('http.request.uri.path eq "/last"', "zstd"),
    ),
  );
  for (const [path, encodings, coding] of [
    ["/gzip", ALL, "gzip"],
    ["/gzip", "br", "br"],
    ["/gzip", "zstd", undefined],
    ["/image", ALL, "br"],
    ["/none", ALL, undefined],
    ["/auto/image", "gzip", "gzip"],
    ["/default/image", "gzip", undefined],
    ["/default/image", "zstd", "zstd"],
    ["/last", ALL, "zstd"],
    ["/", ALL, "zstd"],
  ] as const) {
    const { headers, text } = await get(path, encodings);
    assert.deepEqual([headers["content-encoding"], text], [coding, TEXT], `${path} ${encodings}`);
  }
  assert.equal((await get("/none", ALL)).headers.vary, undefined);
});

test("SPEC 9, 2024-08-15: a rule that names only brotli uses it also in a zone that has brotli off", async (t) => {
  const ops = [
    zoneOp("zone", "example.com", { edge: { brotli: false } }),
    ...rules(compress('http.request.uri.path eq "/rule"', "brotli"), compress('http.request.uri.path eq "/auto"', "auto")),
  ];
  const { get } = await site(t, says(), ops);
  for (const [path, encodings, coding] of [
    ["/", "gzip, br", "gzip"],
    ["/", ALL, "zstd"],
    ["/", "br", undefined],
    ["/auto", "gzip, br", "gzip"],
    ["/rule", "gzip, br", "br"],
  ] as const)
    assert.equal((await get(path, encodings)).headers["content-encoding"], coding, `${path} ${encodings}`);
});

test("compression follows the header fields that header rules wrote", async (t) => {
  const header = (name: string, value: string) => ({ headers: { [name]: { operation: "set", value } } });
  const { get } = await site(t, says({ "Content-Type": "image/png" }), [
    rulesetOp("fields", "zone", "zone", "http_response_headers_transform", [
      { action: "rewrite", expression: "true", action_parameters: header("Content-Type", "text/css") },
      { action: "rewrite", expression: 'http.request.uri.path eq "/no"', action_parameters: header("Cache-Control", "no-transform") },
    ]),
  ]);
  assert.equal((await get("/", "gzip")).headers["content-encoding"], "gzip");
  assert.equal((await get("/no", "gzip")).headers["content-encoding"], undefined);
});

test("the edge joins all Accept-Encoding lines, and follows rules that rewrite them", async (t) => {
  const wish = (value: string) => ({ headers: { "accept-encoding": { operation: "set", value } } });
  const { edge, get } = await site(t, says(), [
    rulesetOp("wishes", "zone", "zone", "http_request_late_transform", [
      { action: "rewrite", expression: 'http.request.uri.path eq "/br"', action_parameters: wish("br") },
      { action: "rewrite", expression: 'http.request.uri.path eq "/none"', action_parameters: wish("identity") },
    ]),
  ]);
  const codingOf = async (path: string, encodings?: string): Promise<string | undefined> =>
    (await get(path, encodings)).headers["content-encoding"];
  assert.deepEqual([await codingOf("/br"), await codingOf("/br", "gzip"), await codingOf("/none", "gzip")], ["br", "br", undefined]);
  for (const [first, second, coding] of [
    ["gzip;q=0.5", "br", "br"],
    ["gzip", "br;q=0.5", "gzip"],
  ]) {
    const client = rawClient(edge.http);
    client.send(
      `GET / HTTP/1.1\r\nHost: www.example.com\r\nAccept-Encoding: ${first}\r\nAccept-Encoding: ${second}\r\nConnection: close\r\n\r\n`,
    );
    assert.match(await client.closed(), new RegExp(`Content-Encoding: ${coding}\r\n`));
  }
});

test("the edge does not compress a response with a strong ETag if a cache rule keeps strong ETags", async (t) => {
  const { get } = await site(t, says({ ETag: '"1"' }), [
    rulesetOp("cache", "zone", "zone", "http_request_cache_settings", [
      { action: "set_cache_settings", expression: "true", action_parameters: { respect_strong_etags: true } },
    ]),
  ]);
  const { headers } = await get("/", "gzip");
  assert.deepEqual([headers.etag, headers["content-encoding"]], ['"1"', undefined]);
});

test("sensitive data detection gets the uncompressed bytes", async (t) => {
  const { edge, get } = await site(t, says(), [
    rulesetOp("sdd", "zone", "zone", "http_response_firewall_managed", [
      { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID, version: "latest" } },
    ]),
  ]);
  assert.equal((await get("/", "gzip")).headers["content-encoding"], "gzip");
  assert.deepEqual(
    edge.scanned.map(({ body, ended, subject }) => [body, ended, subject.content_encoding]),
    [[TEXT, true, ""]],
  );
});

test("the edge compresses long bodies as a stream, with a length or in chunks, and sends them completely", async (t) => {
  const { get } = await site(t, (req, res) => {
    const headers = { "Content-Type": "text/plain", ...(req.url === "/length" ? { "Content-Length": String(LONG.length) } : {}) };
    res.writeHead(200, headers).end(LONG);
  });
  for (const coding of ["gzip", "br", "zstd"])
    for (const path of ["/length", "/chunks"]) {
      const { headers, text } = await get(path, coding);
      assert.deepEqual([headers["content-encoding"], text === LONG], [coding, true], `${path} ${coding}`);
    }
  const kept = await site(t, says({ "Cache-Control": "max-age=60", "Content-Type": "text/css" }, LONG));
  for (const coding of ["gzip", "br", "zstd", "zstd"]) assert.equal((await kept.get("/a.css", coding)).text === LONG, true);
});

test("the edge flushes compressed chunks: a client can read a line before the origin writes the next one", async (t) => {
  const lines = Promise.withResolvers<ServerResponse>();
  const { edge } = await site(t, (_req, res) => {
    res.writeHead(200, { "Content-Type": "text/plain" }).write("first\n");
    lines.resolve(res);
  });
  const client = rawClient(edge.http);
  client.send("GET / HTTP/1.1\r\nHost: www.example.com\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n");
  const res = await lines.promise;
  // The header of gzip, the deflated line and the mark of a flush.
  await client.until(/\x00\x00\xff\xff\r\n$/);
  res.end("second\n");
  assert.match(await client.closed(), /\r\n0\r\n\r\n$/);
});

test("compression stops reading from the origin while the client does not read", async (t) => {
  let written = 0;
  const piece = randomBytes(65_536).toString("base64");
  const { edge } = await site(t, (_req, res) => {
    res.writeHead(200, { "Content-Type": "text/plain" });
    const more = (): void => {
      while (written < 64_000_000) {
        written += piece.length;
        if (!res.write(piece)) return void res.once("drain", more);
      }
      res.end();
    };
    more();
  });
  const client = rawClient(edge.http);
  client.socket.pause();
  client.send("GET / HTTP/1.1\r\nHost: www.example.com\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n");
  let before = -1;
  let stood = 0;
  await eventually(() => {
    stood = written > 0 && written === before ? stood + 1 : 0;
    before = written;
    return stood > 30;
  });
  assert.ok(written < 40_000_000, `${written}`);
  client.socket.destroy();
  await eventually(() => edge.metrics.samples().some(({ name, value }) => name === "selvedge_edge_compressing" && value === 0));
});

test("a compressed response is visibly incomplete if the origin breaks off", async (t) => {
  const { edge } = await site(t, (_req, res) => {
    res.writeHead(200, { "Content-Type": "text/plain", "Content-Length": "100000" }).write(TEXT);
    setTimeout(() => res.destroy(), 30);
  });
  const client = rawClient(edge.http);
  client.send("GET / HTTP/1.1\r\nHost: www.example.com\r\nAccept-Encoding: br\r\n\r\n");
  assert.doesNotMatch(await client.closed(), /\r\n0\r\n\r\n$/);
});

test("one connection serves compressed and uncompressed responses in turn", async (t) => {
  const { edge } = await site(t, (req, res) =>
    says({ "Content-Type": req.url === "/png" ? "image/png" : "text/plain" }, req.url === "/long" ? LONG : TEXT)(req, res),
  );
  const client = rawClient(edge.http);
  const request = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nAccept-Encoding: gzip\r\n${more}\r\n`;
  client.send(request("/long") + request("/png") + request("/") + request("/long", "Connection: close\r\n"));
  const text = await client.closed();
  assert.equal(text.match(/HTTP\/1\.1 200/g)?.length, 4);
  assert.equal(text.match(/Content-Encoding: gzip/g)?.length, 3);
  assert.match(text, /\r\n0\r\n\r\n$/);
  await eventually(() => edge.requests.length === 4);
});

test("the edge compresses responses over HTTP/2", async (t) => {
  const origin = await httpOrigin((req, res) =>
    says({ "Content-Type": "text/plain" }, req.url === "/long" ? LONG : TEXT, req.url === "/status/777" ? 777 : 200)(req, res),
  );
  const edge = await startSecureEdge(origin.port);
  t.after(async () => {
    await edge.close();
    origin.close();
    assert.deepEqual(edge.errors, []);
  });
  const session = edge.session();
  const strange = await fetchOver(session, { ":path": "/status/777", "accept-encoding": "gzip" });
  assert.deepEqual([strange.status, strange.headers["content-encoding"]], [520, undefined]);
  for (const coding of ["gzip", "br", "zstd"])
    for (const path of ["/", "/long"]) {
      const { headers, body } = await fetchOver(session, { ":path": path, "accept-encoding": coding });
      assert.deepEqual([headers["content-encoding"], headers["vary"], headers["content-length"]], [coding, "Accept-Encoding", undefined]);
      assert.equal(String(OPEN[coding]!(Buffer.from(body, "latin1"))), path === "/" ? TEXT : LONG);
    }
});
