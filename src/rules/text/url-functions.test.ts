import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { decodePercent, decodeUrl } from "./url-functions.ts";

test("two hexadecimal digits after a percent sign give a byte, and all else stays unchanged", () => {
  const text = fc.string({ unit: fc.constantFrom("%", "4", "1", "a", "F", "g", "/", "@", "`", ":", "\xff", "+"), maxLength: 20 });
  fc.assert(
    fc.property(text, (given) => {
      const wanted = given.replace(/%([0-9A-Fa-f]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
      assert.equal(decodePercent(given), wanted);
    }),
    { numRuns: 2000 },
  );
});

test("recursive decoding runs until nothing changes, and %u sequences are decoded by code point", () => {
  assert.equal(decodeUrl("%252541+b", { recursive: false, unicode: false }), "%2541 b");
  assert.equal(decodeUrl("%252541+b", { recursive: true, unicode: false }), "A b");
  assert.equal(decodeUrl("%u2601%41", { recursive: false, unicode: true }), "\xe2\x98\x81A");
});
