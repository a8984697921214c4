import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { exchangeRaw, siteOps, startEdge } from "#edge/testing/edge.ts";
import { site } from "#edge/testing/site.ts";

const TEXT = "x".repeat(2000);

test("fields that no-cache or private names go to the first client only", async (t) => {
  for (const control of ['max-age=60, no-cache="set-cookie"', 'max-age=60, private="Set-Cookie, X-Who"'])
    for (const isChunked of [false, true]) {
      const { asked, get } = await site(t, (_req, res) => {
        res.writeHead(200, { "Cache-Control": control, "Set-Cookie": "id=1", ...(isChunked ? {} : { "Content-Length": 4 }) });
        res.end("body");
      });
      const [first, second] = [await get("/a.css"), await get("/a.css")];
      assert.deepEqual([first.cache, first.field("set-cookie"), first.body], ["MISS", "id=1", "body"], control);
      assert.deepEqual([second.cache, second.field("set-cookie"), second.body], ["HIT", undefined, "body"], control);
      assert.equal(asked.length, 1);
    }
});

test("a Set-Cookie field that no-cache names in a 304 goes to the client of that request only", async (t) => {
  const { get } = await site(t, (req, res) => {
    const fields = {
      "Cache-Control": 'max-age=0, no-cache="set-cookie"',
      ETag: '"1"',
      "Set-Cookie": `n=${req.headers["if-none-match"] ?? ""}`,
    };
    res
      .writeHead(req.headers["if-none-match"] === undefined ? 200 : 304, fields)
      .end(req.headers["if-none-match"] === undefined ? "body" : undefined);
  });
  assert.equal((await get("/a.css")).field("set-cookie"), "n=");
  const again = await get("/a.css");
  assert.deepEqual([again.cache, again.field("set-cookie"), again.body], ["REVALIDATED", 'n="1"', "body"]);
});

test("interim responses reach the client while the response fills the cache", async (t) => {
  const { edge } = await site(t, (_req, res) => {
    res.writeProcessing();
    res.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => res.writeHead(200, { "Cache-Control": "max-age=60" }).end("body"));
  });
  const text = await exchangeRaw(edge.http, "GET /a.css HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
  assert.match(
    text,
    /^HTTP\/1\.1 102 .*\r\n\r\nHTTP\/1\.1 103 [^]*link: <\/style\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 [^]*svc-cache-status: MISS/i,
  );
  assert.match(
    await exchangeRaw(edge.http, "GET /a.css HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n"),
    /^HTTP\/1\.1 200 /,
  );
});

test("304 and 206 responses have the Vary field of the 200, and a 304 has the ETag of the variant that its client gets", async (t) => {
  const { get } = await site(t, (_req, res) => {
    res
      .writeHead(200, { "Cache-Control": "max-age=60", ETag: '"r1"', "Content-Type": "text/css", "Content-Length": TEXT.length })
      .end(TEXT);
  });
  await get("/a.css");
  for (const codings of ["", "Accept-Encoding: identity\r\n", "Accept-Encoding: gzip\r\n", "Accept-Encoding: br;q=0\r\n"]) {
    const whole = await get("/a.css", codings);
    assert.equal(whole.field("etag"), codings.includes("gzip") ? 'W/"r1"' : '"r1"');
    for (const tag of ['"r1"', 'W/"r1"', "*"]) {
      const unchanged = await get("/a.css", `${codings}If-None-Match: ${tag}\r\n`);
      assert.deepEqual(
        [unchanged.status, unchanged.field("etag"), unchanged.field("vary")],
        [304, whole.field("etag"), "Accept-Encoding"],
        `${codings} ${tag}`,
      );
    }
    const part = await get("/a.css", `${codings}Range: bytes=0-9\r\n`);
    assert.deepEqual([part.status, part.field("vary"), part.field("etag"), part.body], [206, "Accept-Encoding", '"r1"', TEXT.slice(0, 10)]);
  }
});

test("a response that is never compressed has no Vary field, complete or partial", async (t) => {
  const { get } = await site(t, (req, res) => {
    const body = req.url?.startsWith("/short") === true ? "short" : TEXT;
    const type = req.url?.endsWith(".png") === true ? "image/png" : "text/css";
    res.writeHead(200, { "Cache-Control": "max-age=60", ETag: '"r1"', "Content-Type": type, "Content-Length": body.length }).end(body);
  });
  for (const path of ["/a.png", "/short.css"]) {
    const replies = [await get(path), await get(path, 'If-None-Match: "r1"\r\n'), await get(path, "Range: bytes=0-2\r\n")];
    assert.deepEqual(
      replies.map((reply) => [reply.status, reply.field("vary")]),
      [200, 304, 206].map((status) => [status, undefined]),
    );
  }
});

test("304 and 206 responses of the origin that are not cached get a Vary field as well", async (t) => {
  const { get } = await site(t, (req, res) => {
    const fields = { ETag: '"r1"', "Content-Type": "text/html" };
    if (req.headers["if-none-match"] !== undefined) res.writeHead(304, { ETag: '"r1"' }).end();
    else if (req.headers.range !== undefined) res.writeHead(206, { ...fields, "Content-Range": "bytes 0-2/2000" }).end("xxx");
    else res.writeHead(200, fields).end(TEXT);
  });
  const compressed = await get("/page", 'Accept-Encoding: gzip\r\nIf-None-Match: W/"r1"\r\n');
  assert.deepEqual([compressed.status, compressed.field("etag"), compressed.field("vary")], [304, 'W/"r1"', "Accept-Encoding"]);
  const plain = await get("/page", 'If-None-Match: W/"r1"\r\n');
  assert.deepEqual([plain.status, plain.field("etag"), plain.field("vary")], [304, '"r1"', "Accept-Encoding"]);
  assert.equal((await get("/page", "Range: bytes=0-2\r\n")).field("vary"), "Accept-Encoding");
});

test("clients that write the same codings differently share one response, and the origin gets one normalized Accept-Encoding", async (t) => {
  const { asked, get } = await site(t, (_req, res) => {
    res.writeHead(200, { "Cache-Control": "max-age=60", Vary: "Accept-Encoding" }).end("body");
  });
  const spellings: Readonly<Record<string, readonly string[]>> = {
    "gzip, br": ["gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0", "GZIP,BR", "br, x-gzip, compress"],
    gzip: ["gzip", "gzip;q=0.5, deflate", "deflate, gzip;q=1.0, br;q=0"],
    "gzip, br, zstd": ["*", "gzip, deflate, br, zstd"],
    identity: ["identity", "deflate", "gzip;q=0", "identity, gzip;q=0.5"],
  };
  for (const [form, texts] of Object.entries(spellings)) {
    const before = asked.length;
    for (const text of texts) await get("/a.css", `Accept-Encoding: ${text}\r\n`);
    assert.deepEqual(
      asked.slice(before).map(({ headers }) => headers["accept-encoding"]),
      [form],
    );
  }
  await get("/a.css");
  assert.equal(asked.at(-1)?.headers["accept-encoding"], undefined);
  await get("/page", "Accept-Encoding: gzip;q=0.5, deflate\r\n");
  assert.equal(asked.at(-1)?.headers["accept-encoding"], "gzip;q=0.5, deflate");
});

test("the edge forwards TE: trailers to origins, and no other member of TE", async (t) => {
  const lines = await originLines(t, "/page", "TE: gzip;q=0.5, Trailers\r\n");
  assert.deepEqual(
    lines.filter((line) => /^(te|connection):/i.test(line)),
    ["TE: trailers", "Connection: TE"],
  );
  for (const fields of ["TE: gzip\r\n", "", "TE: trailersx\r\n"])
    assert.deepEqual(
      (await originLines(t, "/page", fields)).filter((line) => /^(te|connection):/i.test(line)),
      [],
    );
  assert.deepEqual(
    (await originLines(t, "/a.css", "TE: trailers\r\n")).filter((line) => /^te:/i.test(line)),
    [],
  );
});

/** The head lines that an origin receives. */
async function originLines(t: TestContext, path: string, fields: string): Promise<readonly string[]> {
  let head = "";
  const sockets = new Set<Socket>();
  const origin = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      head += bytes.toString("latin1");
      if (head.endsWith("\r\n\r\n")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => origin.once("listening", resolve));
  const edge = await startEdge(siteOps((origin.address() as AddressInfo).port));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    origin.close();
  });
  await exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\n${fields}Connection: close\r\n\r\n`);
  await edge.close();
  return head.split("\r\n");
}

test("a request whose response cannot be shared does not keep the response of other requests out of the cache", async (t) => {
  for (const fields of ["Authorization: Basic YQ==", "X-Origin-Status: 400", "X-Origin-Status: 302", "X-Origin-Status: 204"]) {
    const { get, asked } = await site(t, (req, res) => {
      const status = Number(req.headers["x-origin-status"] ?? 200);
      res.writeHead(status, { "Content-Type": "text/css" }).end(status === 204 ? undefined : "body");
    });
    await get("/a.css", `${fields}\r\n`);
    await get("/a.css", `${fields}\r\n`);
    assert.deepEqual([(await get("/a.css")).body, (await get("/a.css")).cache, asked.length], ["body", "HIT", 3], fields);
  }
});

test("a purge also applies to a request after a response that could not be shared", async (t) => {
  let hold: (() => void) | null = null;
  const { get, edge } = await site(t, (req, res) => {
    if (req.headers["x-origin-status"] !== undefined) return void res.writeHead(400).end();
    if (hold !== null) return void res.writeHead(200).end("new");
    hold = () => res.writeHead(200).end("old");
  });
  await get("/a.css", "X-Origin-Status: 400\r\n");
  const old = get("/a.css");
  while (hold === null) await new Promise(setImmediate);
  edge.replica.apply([{ kind: "purge", id: "zone", value: { count: 1, recent: [{ by: "hosts", values: ["www.example.com"] }] } }]);
  (hold as () => void)();
  assert.equal((await old).body, "old");
  assert.equal((await get("/a.css")).body, "new");
});
