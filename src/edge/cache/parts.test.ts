import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import { rawClient } from "#edge/testing/edge.ts";
import { eventually, settled } from "../../../test/support/eventually.ts";
import { site } from "#edge/testing/site.ts";

const BODY = "0123456789".repeat(10_000);
const PART = "Range: bytes=99990-99994\r\n";

/** An origin that serves ranges, with a length unless `tellsLength` is false. */
const serving =
  (fields: Readonly<Record<string, string>>, body = BODY, tellsLength = true) =>
  (req: IncomingMessage, res: ServerResponse): void => {
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? "") ?? [];
    const part = start === undefined ? body : body.slice(Number(start), Number(end) + 1);
    const range = start === undefined ? {} : { "Content-Range": `bytes ${start}-${end}/${body.length}` };
    res.writeHead(start === undefined ? 200 : 206, { ...fields, ...range, ...(tellsLength ? { "Content-Length": part.length } : {}) });
    res.end(part);
  };
const KEPT = { "Cache-Control": "max-age=60" };
const ranges = (asked: readonly { readonly headers: IncomingMessage["headers"] }[]) => asked.map(({ headers }) => headers.range);

for (const tellsLength of [true, false]) {
  test(`for a range of a response that is not cached, the edge fetches and caches the whole response, ${tellsLength ? "with" : "without"} a length`, async (t) => {
    const { asked, get } = await site(t, serving(KEPT, BODY, tellsLength));
    const first = await get("/a.css", PART);
    assert.deepEqual(
      [first.status, first.body, first.field("content-range"), first.cache],
      [206, "01234", "bytes 99990-99994/100000", "MISS"],
    );
    assert.equal((await get("/a.css", PART)).cache, "HIT");
    const whole = await get("/a.css");
    assert.deepEqual([whole.status, whole.body, whole.cache], [200, BODY, "HIT"]);
    assert.equal((await get("/a.css", "Range: bytes=100000-\r\n")).status, 416);
    assert.deepEqual(ranges(asked), [undefined]);
  });
}

test("concurrent range requests share one origin request, and a range of a stale response leads to one revalidation", async (t) => {
  const { asked, get } = await site(t, (req, res) => {
    if (req.headers["if-none-match"] === '"1"') res.writeHead(304).end();
    else void settled(100).then(() => serving({ "Cache-Control": "no-cache", ETag: '"1"' })(req, res));
  });
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, i) => get("/a.css", i % 2 === 0 ? `Range: bytes=${i}-${i + 1}\r\n` : "")),
  );
  for (const [i, reply] of replies.entries()) assert.equal(reply.body, i % 2 === 0 ? BODY.slice(i, i + 2) : BODY);
  assert.equal(asked.length, 1);
  const again = await get("/a.css", PART);
  assert.deepEqual([again.status, again.body, again.cache], [206, "01234", "REVALIDATED"]);
});

const LONG = "0123456789".repeat(100_000);
const ALONE: readonly (readonly [what: string, answer: ReturnType<typeof serving>])[] = [
  ["what must not be kept", serving({ "Cache-Control": "private" })],
  ["what is long", serving(KEPT, LONG)],
  ["what turns out long", serving(KEPT, LONG, false)],
  [
    "what ends with its connection",
    (req, res) => {
      res.shouldKeepAlive = false;
      res.useChunkedEncodingByDefault = false;
      serving(KEPT, BODY, false)(req, res);
    },
  ],
];
for (const [what, answer] of ALONE) {
  test(`the edge lets the origin serve ranges of ${what}, and requests the range directly the next time`, async (t) => {
    const { asked, get } = await site(t, answer);
    for (let i = 0; i < 3; i++) {
      const reply = await get("/a.css", PART);
      assert.deepEqual([reply.status, reply.body], [206, "01234"]);
    }
    assert.deepEqual(ranges(asked), [undefined, "bytes=99990-99994", "bytes=99990-99994", "bytes=99990-99994"]);
  });
}

test("the edge finishes a whole response for its client also if other clients want a range of it", async (t) => {
  const { asked, get } = await site(t, (req, res) => void settled(100).then(() => serving({ "Cache-Control": "private" })(req, res)));
  const [whole, part] = await Promise.all([get("/a.css"), get("/a.css", PART)]);
  assert.deepEqual([whole.status, whole.body, whole.cache], [200, BODY, "BYPASS"]);
  assert.deepEqual([part.status, part.body], [206, "01234"]);
  assert.deepEqual(ranges(asked).toSorted(), ["bytes=99990-99994", undefined]);
});

test("a range request gets the origin's error, or an error if the origin disconnects", async (t) => {
  const { edge, get } = await site(t, (req, res) => {
    if (req.url === "/500.css") res.writeHead(500).end("broken");
    else if (req.url === "/404.css") res.writeHead(404, { "Content-Length": "4" }).end("none");
    else if (req.url === "/reset.css") req.socket.destroy();
    else res.writeHead(200, { ...KEPT, "Content-Length": "1000" }).write("x".repeat(10), () => req.socket.destroy());
  });
  assert.deepEqual([(await get("/500.css", PART)).status, (await get("/404.css", PART)).status], [500, 404]);
  assert.equal((await get("/reset.css", PART)).status, 520);
  const client = rawClient(edge.http);
  client.send("GET /half.css HTTP/1.1\r\nHost: www.example.com\r\nRange: bytes=5-20\r\n\r\n");
  assert.match(await client.closed(), /^HTTP\/1\.1 206 [^]*\r\n\r\nx{5}$/);
});

test("the edge cancels the origin request when the last client disconnects", async (t) => {
  let closed = 0;
  const { edge, asked } = await site(t, (req) => void req.socket.on("close", () => closed++));
  const clients = [rawClient(edge.http), rawClient(edge.http)];
  for (const client of clients) client.send(`GET /a.css HTTP/1.1\r\nHost: www.example.com\r\n${PART}\r\n`);
  await eventually(() => asked.length === 1);
  for (const client of clients) client.socket.destroy();
  await eventually(() => closed === 1);
});
