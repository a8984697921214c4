import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { latin1 } from "./bytes.ts";
import { BODY_MALFORMED, BODY_TOO_LARGE, NEED_MORE } from "./chunked.ts";
import { BodyReader, BY_LENGTH, CHUNKED, type Framing, responseFraming, NO_BODY, UNTIL_CLOSE } from "./framing.ts";
import { Head } from "./parsed-head.ts";
import { chunkStart, lastChunk } from "./write.ts";

/** Feeds the wire cut at the given sizes, which repeat; says what came out and how it ended. */
function feed(wire: Buffer, sizes: readonly number[], framing: Framing = CHUNKED, length = 0) {
  const reader = new BodyReader();
  reader.begin(framing, length);
  let payload = "";
  const sink = { onBody: (buffer: Buffer, start: number, end: number) => void (payload += latin1(buffer, start, end)) };
  let at = 0;
  for (let i = 0; at < wire.length; i++) {
    const end = Math.min(wire.length, at + sizes[i % sizes.length]!);
    const read = reader.read(wire, at, end, sink);
    if (read !== NEED_MORE) return { result: read < 0 ? read : ("end" as const), consumed: read, payload, trailers: reader.trailers };
    at = end;
  }
  return { result: NEED_MORE, consumed: at, payload, trailers: reader.trailers };
}

const whole = (text: string) => feed(Buffer.from(text, "latin1"), [text.length]);

const REFUSED: readonly (readonly [why: string, wire: string, result: number])[] = [
  ["no size", "\r\n", BODY_MALFORMED],
  ["a size that is no number", "g\r\n", BODY_MALFORMED],
  ["a signed size", "+1\r\na\r\n", BODY_MALFORMED],
  ["a size with 0x", "0x1\r\na\r\n", BODY_MALFORMED],
  ["a space before the size", " 1\r\na\r\n", BODY_MALFORMED],
  ["a space after the size", "1 \r\na\r\n", BODY_MALFORMED],
  ["a size that ends in LF", "1\na\r\n", BODY_MALFORMED],
  ["a size that ends in CR", "1\ra\r\n", BODY_MALFORMED],
  ["an extension with LF", "1;a\nb\r\na\r\n", BODY_MALFORMED],
  ["an extension with CR", "1;a\rb\r\na\r\n", BODY_MALFORMED],
  ["an extension with NUL", "1;\0\r\na\r\n", BODY_MALFORMED],
  ["data longer than its size", "1\r\nab\r\n", BODY_MALFORMED],
  ["data that ends in LF", "1\r\na\n0\r\n\r\n", BODY_MALFORMED],
  ["a size too large", "1000000000000\r\n", BODY_TOO_LARGE],
  ["endless zeros", "0000000000000", BODY_TOO_LARGE],
  ["a long extension", `1;${"a".repeat(1025)}`, BODY_TOO_LARGE],
  ["many extensions", `1;${"a".repeat(1000)}\r\nx\r\n`.repeat(17), BODY_TOO_LARGE],
  ["Content-Length as a trailer", "0\r\nContent-Length: 5\r\n\r\n", BODY_MALFORMED],
  ["Transfer-Encoding as a trailer", "0\r\nTransfer-Encoding: chunked\r\n\r\n", BODY_MALFORMED],
  ["Host as a trailer", "0\r\nhost: a\r\n\r\n", BODY_MALFORMED],
  ["a folded trailer", "0\r\nA: b\r\n c\r\n\r\n", BODY_MALFORMED],
  ["a trailer that ends in LF", "0\r\nA: b\n\r\n", BODY_MALFORMED],
  ["a trailer without a colon", "0\r\nA\r\n\r\n", BODY_MALFORMED],
  ["LF as the last line", "0\r\n\n", BODY_MALFORMED],
  ["too many trailer bytes", `0\r\n${"A: b\r\n".repeat(2000)}\r\n`, BODY_TOO_LARGE],
];
for (const [why, wire, result] of REFUSED) {
  test(`the reader refuses ${why}, whole and byte by byte`, () => {
    assert.equal(whole(wire).result, result);
    assert.equal(feed(Buffer.from(wire, "latin1"), [1]).result, result);
  });
}

test("the reader returns payload and trailers, drops chunk extensions, and leaves the following bytes", () => {
  const wire = '3;ext="v"\r\nabc\r\n00a\r\n0123456789\r\n0;last\r\nA: b \r\nC:\r\n\r\nGET /';
  const { payload, consumed, trailers } = whole(wire);
  assert.equal(payload, "abc0123456789");
  assert.deepEqual(trailers, [
    { name: "A", value: "b" },
    { name: "C", value: "" },
  ]);
  assert.equal(wire.slice(consumed), "GET /");
});

const wireOf = fc
  .record({
    chunks: fc.array(fc.string({ minLength: 1, maxLength: 40, unit: "binary-ascii" }), { maxLength: 8 }),
    extension: fc.constantFrom("", ";a", ";a=b"),
    trailers: fc.array(fc.constantFrom({ name: "X-Sum", value: "1" }, { name: "Server-Timing", value: "a;dur=1" }), { maxLength: 3 }),
    rest: fc.string({ maxLength: 10, unit: "binary-ascii" }),
  })
  .map(({ chunks, extension, trailers, rest }) => ({
    wire:
      chunks.map((chunk) => `${chunkStart(chunk.length).replace("\r\n", `${extension}\r\n`)}${chunk}\r\n`).join("") +
      lastChunk(trailers) +
      rest,
    payload: chunks.join(""),
    trailers,
    rest,
  }));

test("property: in chunks of any size, payload, trailers and end are the same", () => {
  fc.assert(
    fc.property(
      wireOf,
      fc.array(fc.integer({ min: 1, max: 17 }), { minLength: 1, maxLength: 6 }),
      ({ wire, payload, trailers, rest }, sizes) => {
        const cut = feed(Buffer.from(wire, "latin1"), sizes);
        assert.equal(cut.result, "end");
        assert.equal(cut.payload, payload);
        assert.deepEqual(cut.trailers, trailers);
        assert.equal(wire.slice(cut.consumed), rest);
      },
    ),
  );
});

test("property: chunk sizes never change the result or the payload", () => {
  const piece = fc.oneof(
    fc.constantFrom("0", "1", "a", "\r\n", "\r", "\n", ";", "x", ":", " ", "\0", "A: b"),
    fc.string({ maxLength: 3, unit: "binary-ascii" }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const wire = Buffer.from(pieces.join(""), "latin1");
      if (wire.length === 0) return;
      const [a, b] = [feed(wire, [wire.length]), feed(wire, [1])];
      assert.equal(b.result, a.result);
      assert.equal(b.payload, a.payload);
    }),
    { numRuns: 2000 },
  );
});

test("a body with a length has exactly that length, and a body until close has all bytes", () => {
  const wire = Buffer.from("abcdefgh");
  assert.deepEqual([feed(wire, [3], BY_LENGTH, 5).payload, feed(wire, [3], BY_LENGTH, 5).consumed], ["abcde", 5]);
  assert.equal(feed(wire, [3], UNTIL_CLOSE).result, NEED_MORE);
  assert.equal(feed(wire, [3], UNTIL_CLOSE).payload, "abcdefgh");
});

test("responses that cannot have a body have none, whatever their header fields say", () => {
  const head = new Head();
  head.contentLength = 10;
  for (const [status, method, framing] of [
    [200, "HEAD", NO_BODY],
    [204, "GET", NO_BODY],
    [304, "GET", NO_BODY],
    [101, "GET", NO_BODY],
    [200, "GET", BY_LENGTH],
  ] as const) {
    head.status = status;
    assert.equal(responseFraming(head, method), framing);
  }
  head.contentLength = -1;
  head.status = 200;
  assert.equal(responseFraming(head, "GET"), UNTIL_CLOSE);
});
