import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../../test/support/growth.ts";
import { withBrowserTtl } from "./browser-ttl.ts";

const field = (value: string) => [{ name: "Cache-Control", key: "cache-control", value }];
const exactly = (value: string): string =>
  withBrowserTtl(200, field(value), { mode: "exactly", seconds: 5 })
    .map((changed) => changed.value)
    .join();

const CASES: readonly (readonly [given: string, told: string])[] = [
  ["public, max-age=60", "public, max-age=5"],
  ['must-revalidate, ext="a, max-age=1", public', 'ext="a, max-age=1", public, max-age=5'],
  // An unclosed quoted string stays unchanged, after the TTL.
  [String.raw`max-age=60, x="\"\"\"`, String.raw`max-age=5, x="\"\"\"`],
  ['public, x="a, max-age=60', 'public, max-age=5, x="a, max-age=60'],
];

for (const [given, told] of CASES) test(`browsers are told ${told} instead of ${given}`, () => assert.equal(exactly(given), told));

test("parsing Cache-Control with an unterminated quoted string takes linear time", () => {
  for (const piece of [String.raw`\"`, '"', ",", " ", "\\"])
    assertGrowsLinearly(piece, (length) => {
      const value = `max-age=60, x="${piece.repeat(length / piece.length)}`;
      return () => exactly(value);
    });
});
