import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { beginsDeflate } from "./deflate-head.ts";

const WORDS = ['{"u":"', "select ", "é 字 ", "' or 1=1--", "\r\n", "aaaaaaaaaaaa", "<script>", "&q=", "http://", "12"];
const PRINTABLE = /^[\t\r\n -~\x80-\xff]+$/;
/** The same numbers in each run. */
function numbers(): (below: number) => number {
  let state = 7;
  return (below) => (state = (state * 48_271) % 0x7fff_ffff) % below;
}

test("each text that zlib packs, at any level and by any strategy, begins as deflate", () => {
  const next = numbers();
  for (let i = 0; i < 4000; i++) {
    const text = Array.from({ length: 1 + next(40) }, () => WORDS[next(WORDS.length)]).join("");
    const packed = deflateRawSync(text, { level: next(10), strategy: next(5), memLevel: 1 + next(9) });
    assert.ok(beginsDeflate(packed), JSON.stringify(text));
  }
});

test("of other bytes few do, and all that unpack to a text", () => {
  const next = numbers();
  let count = 0;
  let unpacks = 0;
  for (let i = 0; i < 20_000; i++) {
    const bytes = Buffer.from(Array.from({ length: 12 + next(40) }, () => next(256)));
    const begins = beginsDeflate(bytes);
    count += begins ? 1 : 0;
    try {
      const isText = PRINTABLE.test(inflateRawSync(bytes, { maxOutputLength: 65_536 }).toString("latin1"));
      unpacks += isText ? 1 : 0;
      assert.ok(begins || !isText, bytes.toString("hex"));
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error)) throw error;
    }
  }
  assert.ok(unpacks > 10, `only ${unpacks} unpack`);
  assert.ok(count < 600, `${count} begin as deflate`);
});
