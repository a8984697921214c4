import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/support/property.ts";
import { normalise } from "./normalise.ts";

const percentOnce = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

test("escapes of URLs are resolved three times, although a round without parts of another escape is the last one", () => {
  const pieces = ["%", "25", "2", "5", "41", "%25", "%2525", "%41", "%34", "%3", "%20", "x", "g", "%2", "%67"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      const expected = percentOnce(percentOnce(percentOnce(text)));
      fc.pre(!/[\x80-\xff]/.test(expected));
      assert.equal(normalise(text).lines, expected.toLowerCase(), text);
    }),
    { numRuns: 2000 },
  );
});

test("references of HTML are resolved twice, also where the first round makes a part of the second", () => {
  assert.equal(normalise("&amp;lt;").text, "<");
  assert.equal(normalise("&amp;amp;lt;").text, "&lt;");
  assert.equal(normalise("&&#97;mp;").text, "&");
  assert.equal(normalise("&&#35;60;").text, "<");
  assert.equal(normalise("&lt;&lt;").text, "<<");
  assert.equal(normalise("&lt;&amp;gt;").text, "<>");
});
