import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { EventStreamReader, EventTooLargeError, type StreamEvent } from "./event-stream.ts";

function read(chunks: readonly Buffer[], eventBytesMax = 1024): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const reader = new EventStreamReader((event) => events.push(event), { eventBytesMax });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return events;
}

const text = (value: string): readonly Buffer[] => [Buffer.from(value)];

/** The text cut at these places. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : (ends[i - 1] as number), end));
}

describe("event stream", () => {
  const cases: readonly (readonly [string, string, readonly StreamEvent[]])[] = [
    ["data of one line", "data: a\n\n", [{ event: "", data: "a" }]],
    ["data of several lines", "data: a\ndata:\ndata:b\n\n", [{ event: "", data: "a\n\nb" }]],
    ["names, comments and fields that nobody needs", ": hi\nevent: x\nid: 7\nretry: 1\ndata: a\n\n", [{ event: "x", data: "a" }]],
    ["ends of lines of all kinds", "data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"].map((data) => ({ event: "", data }))],
    ["a byte order mark", "\uFEFFdata: a\n\n", [{ event: "", data: "a" }]],
    ["an event without data is none", "event: x\n\ndata: a\n\n", [{ event: "", data: "a" }]],
    ["a last event that lacks its empty line", "data: a\n\ndata: b", ["a", "b"].map((data) => ({ event: "", data }))],
    ["only the first space belongs to the field", "data:  a\n\n", [{ event: "", data: " a" }]],
  ];
  for (const [name, stream, events] of cases) test(name, () => assert.deepEqual(read(text(stream)), events));

  test("property: the events do not depend on the chunks of the stream", () => {
    const line = fc.constantFrom("data: ä€😀", "data", "data:{}", "event: done", ": ping", "id: 1", "", "");
    const end = fc.constantFrom("\n", "\r\n", "\r");
    const stream = fc.array(fc.tuple(line, end), { maxLength: 30 }).map((lines) => Buffer.from(lines.flat().join("")));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(500), { maxLength: 12 }), (bytes, places) => {
        assert.deepEqual(read(cut(bytes, places)), read([bytes]));
      }),
      { numRuns: 500 },
    );
  });

  test("buffered data has a limit, for one long line and for many short ones", () => {
    assert.throws(() => read(text(`data: ${"x".repeat(2000)}`)), EventTooLargeError);
    assert.throws(() => read(text("data: xxxxxxx\n".repeat(200))), EventTooLargeError);
    assert.throws(() => read(Array.from({ length: 2000 }, () => Buffer.from("x"))), EventTooLargeError);
    assert.equal(read(text("data: xxxxxxx\n\n".repeat(2000))).length, 2000);
  });
});

test("parsing a chunk takes linear time, with any line endings", () => {
  for (const piece of ["\r", "\n", "\r\n", "\n\r", "data: a\r", "data\n", ":", "data: "])
    assertGrowsLinearly(
      piece,
      (length) => {
        const chunk = Buffer.from(piece.repeat(length / piece.length));
        return () => read([chunk], 1e9);
      },
      128 * 1024,
    );
});
