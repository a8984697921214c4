import assert from "node:assert/strict";
import { test } from "node:test";
import { isProvenLinear } from "./proven-linear.ts";
import { pump } from "./pump.ts";
import { PUMPED_BYTES } from "./pumped.ts";

/** Patterns whose time grows faster than the text. */
const SLOW: readonly RegExp[] = [
  / +$/,
  /[ \t]*,[ \t]*/g,
  /\/models(?:\/[^:]*)?$/,
  /\/models?\/[^/]*embed[^/]*(?:\/invoke|:predict)$/,
  /^([\x20-\x7e]+?):([\x20-\x7e]{6,})$/,
  /\{\s*(\d*)\s*(,?)\s*(\d*)\s*\}/y,
  /^(?:a+)+b/,
  /^(?:a|a)*b/,
  /^(?:(?:a?|b?)x)*$/,
  /^(?:a*)*b/,
  /(?<!a)b|c+d/,
  /[^",]*(?:"(?:[^"\\]|\\.)*"[^",]*)*/g,
];

const LINEAR: readonly RegExp[] = [
  /^[^"]*(?:"(?:[^"\\]|\\[^])*"[^"]*)*$/,
  /(?<![ \t])[ \t]+$/,
  /(?<!\\)\\*"/,
  /\b[a-z]+@/,
  /^a[^]*$/,
  /^[a-z]+(?:\.[a-z]+)*$/,
  /a{1,4}b{1,4}/,
  /[\s"]x/,
  /^\S+ \s*x/,
];

for (const pattern of SLOW)
  test(`${String(pattern)} is not proven linear`, () => assert.equal(isProvenLinear(pattern.source, pattern.flags), false));

for (const pattern of LINEAR)
  test(`${String(pattern)} is proven linear and runs fast`, () => {
    const { source, flags } = pattern;
    assert.equal(isProvenLinear(source, flags), true);
    assert.equal(pump({ source, flags, bytes: PUMPED_BYTES }), undefined);
  });

// Sets of JavaScript reach beyond bytes: two that share a character there are not apart.
for (const pattern of [/^\s*[^a-z]*$/, /^[^\u2028]*\u2029*$/, /^\S*[^a-z]*x/, /^[^\s]*\u3000*x/, /^(\d+)\1$/, /^[\p{L}]*x/u, /^é*[É-Ê]*x/i])
  test(`${String(pattern)} is left to the pump`, () => assert.equal(isProvenLinear(pattern.source, pattern.flags), false));

test("the pump finds slow patterns and the text that makes them slow", () => {
  for (const { source, flags } of [/ +$/, /\/models(?:\/[^:]*)?$/, /\/models?\/[^/]*embed[^/]*(?:\/invoke|:predict)$/]) {
    const slow = pump({ source, flags, bytes: PUMPED_BYTES });
    assert.ok(slow !== undefined && slow.piece !== "", source);
  }
  // Of a bounded text the same may be quick enough.
  assert.equal(pump({ source: " +$", flags: "", bytes: 255 }), undefined);
});

test("the pump finds exponential time in texts of every bound", () => {
  for (const source of ["^(?:a+)+b", "^(?:a|a)*b", "^(?:a*)*b", "^(?:(?:abc|ab|c)+)*d"])
    for (const bytes of [40, 100, 160]) assert.ok(pump({ source, flags: "", bytes }) !== undefined, `${source} in ${bytes}`);
  // The words of each repetition are long.
  assert.ok(
    pump({ source: String.raw`^(?:(?:abcdefghijklmnop(?:qrstuvwxyz)?|abcdefghijklmnopqrstuvwxyz)+)$`, flags: "", bytes: 1200 }) !==
      undefined,
  );
});
