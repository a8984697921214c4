import assert from "node:assert/strict";
import { test } from "node:test";
import { spelledSeparator } from "./separators.ts";

const at = (text: string): ReturnType<typeof spelledSeparator> => spelledSeparator(Buffer.from(`12${text}`, "latin1"), 2);

test("separators are recognized by their encoding, in either case and whatever follows", () => {
  for (const [text, kind] of [
    ["&nbsp;", "space"],
    ["&#160;", "space"],
    ["%20", "space"],
    ["%C2%A0", "space"],
    ["\\u202F", "space"],
    ["&#X2011;", "dash"],
    ["&ndash;", "dash"],
    ["\\u2212", "dash"],
    ["%2D", "dash"],
  ] as const) {
    for (const spelled of [text, text.toLowerCase(), text.toUpperCase()]) {
      assert.deepEqual(at(spelled), { kind, width: text.length }, spelled);
      assert.deepEqual(at(`${spelled}34`), { kind, width: text.length }, spelled);
    }
    // Neither a part of one, nor one that a byte is changed in, is any.
    for (let end = 1; end < text.length; end++) assert.equal(at(text.slice(0, end)), null, text.slice(0, end));
    for (let place = 1; place < text.length; place++) assert.equal(at(`${text.slice(0, place)}~${text.slice(place + 1)}`), null);
  }
});

test("bytes beyond ASCII and other entities are not separators", () => {
  for (const text of ["&\xe9;", "%\xff", "\\u\xb2", "&amp;", "%41", "\\u0041", "&#", ""]) assert.equal(at(text), null, text);
});
