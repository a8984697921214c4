import assert from "node:assert/strict";
import { test } from "node:test";
import { domainToASCII, domainToUnicode } from "node:url";
import { asciiName, shownName } from "../../dashboard/src/api/names.ts";
import { fc } from "../support/property.ts";

/** Letters that a name may consist of, from several scripts. */
const letter = fc.constantFrom(..."abcxyz0189-äöüßéñçøłşžабвгдежзиκλμνξأبتجحאבגדहिन्दी日本語中文한국어ไทย");
const label = fc.array(letter, { minLength: 1, maxLength: 24 }).map((letters) => letters.join(""));

test("the dashboard shows internationalised names as the URL standard decodes them", () => {
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), (labels) => {
      const ascii = domainToASCII(labels.join("."));
      fc.pre(ascii !== "" && !/^[\d.]+$/.test(ascii));
      assert.equal(shownName(ascii), domainToUnicode(ascii));
      assert.equal(asciiName(shownName(ascii)), ascii);
    }),
    { numRuns: 2000 },
  );
});

test("a name that encodes no other stays as it is", () => {
  for (const name of [
    "shop.example",
    "xn--.example",
    "xn--a.example",
    "xn--99999999999.example",
    "xn---.example",
    "*.shop.example",
    "_dmarc",
  ])
    assert.equal(shownName(name), name);
  assert.equal(asciiName("Shop.Example"), "shop.example");
  assert.equal(asciiName("münchen oder berlin"), "münchen oder berlin");
});
