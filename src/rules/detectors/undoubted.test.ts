import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { DETECTORS, UNDOUBTED_DETECTORS } from "#rules/detectors/catalog/table.ts";
import { createTextMasker, createUndoubtedMasker } from "#rules/detectors/masking/text-masker.ts";

const mask = createUndoubtedMasker();
const digits = (length: number): fc.Arbitrary<string> => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));
const word = fc.stringMatching(/^[a-z]{2,10}$/);
const capitals = (length: number): fc.Arbitrary<string> => fc.stringMatching(new RegExp(`^[A-Z]{${length}}$`));
const time = fc.date({ min: new Date("2000-01-01"), max: new Date("2040-01-01"), noInvalidDate: true });

/** Values in addresses of shops, newspapers and programs. */
const BENIGN: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "product number": fc.tuple(capitals(2), digits(6), capitals(1)).map((parts) => parts.join("")),
  "product with dashes": fc.tuple(capitals(3), digits(4), digits(3)).map((parts) => parts.join("-")),
  "identifier of a row": fc.integer({ min: 1, max: 2 ** 31 }).map(String),
  "article number (EAN)": digits(13).map((text) => `4${text.slice(1)}`),
  "order number": fc.integer({ min: 8, max: 14 }).chain(digits),
  "dated order": fc.tuple(time, digits(6)).map(([date, rest]) => `${date.toISOString().slice(0, 10).replaceAll("-", "")}-${rest}`),
  UUID: fc.uuid(),
  "hash in hexadecimal": fc.string().map((text) => hash("sha1", text, "hex")),
  "longer hash": fc.string().map((text) => hash("sha256", text, "hex")),
  "hash in base64": fc.string().map((text) => hash("sha256", text, "base64url")),
  "hashed file": fc.tuple(word, fc.string()).map(([name, text]) => `${name}.${hash("md5", text, "hex").slice(0, 8)}.js`),
  date: time.map((date) => date.toISOString().slice(0, 10)),
  "time in milliseconds": time.map((date) => String(date.getTime())),
  "time with a zone": time.map((date) => date.toISOString()),
  version: fc.tuple(fc.nat(99), fc.nat(99), fc.nat(9999)).map((parts) => parts.join(".")),
  words: fc.array(word, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("-")),
  coordinates: fc
    .tuple(fc.double({ min: -90, max: 90, noNaN: true }), fc.double({ min: -180, max: 180, noNaN: true }))
    .map(([a, b]) => `${a.toFixed(6)},${b.toFixed(6)}`),
};
const RUNS = 400;

test("by default a zone masks nothing that URLs commonly contain", () => {
  for (const [what, texts] of Object.entries(BENIGN)) {
    const samples = fc.sample(texts, RUNS);
    assert.deepEqual(
      mask(
        samples.map((text) => `/shop/${text}/view`),
        "/",
      ).filter((text) => text.includes("[masked]")),
      [],
      what,
    );
    assert.deepEqual(
      mask(
        samples.map((text) => `sort=name&id=${text}`),
        "&",
      ).filter((text) => text.includes("[masked]")),
      [],
      what,
    );
  }
  assert.deepEqual(mask(["/product/AB123456C", "/product/AB123457C"], "/"), ["/product/AB123456C", "/product/AB123457C"]);
  assert.deepEqual(
    createTextMasker()(["/product/AB123456C"], "/"),
    ["/product/[masked]"],
    "all detectors find a national insurance number there",
  );
});

test("by default a zone still masks cards, account numbers, keys and private keys", () => {
  for (const text of [
    "4716461583322103",
    "4929-7226-5379-7141",
    "375556917985515",
    "GB82WEST12345698765432",
    "AKIA4QYHJT3NWBKLD2PX",
    "AIzaGzxfRLaF7Sn4lo6s7mf2WQFsQnjGdkMMOPN",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJsb3JlbSI6Imlwc3VtIn0.ymiJSsMJXR6tMSr8G9usjQ15_8hKPDv_CArLhxw28MI",
    "-----BEGIN%20PRIVATE%20KEY-----%0AMIGHAgEAMBMGByqGSM49AgEG",
  ]) {
    assert.deepEqual(mask([`/shop/${text}/view`], "/"), ["/shop/[masked]/view"], text);
    assert.deepEqual(mask([`sort=name&id=${text}`], "&"), ["sort=name&id=[masked]"], text);
  }
  const own = UNDOUBTED_DETECTORS.filter(({ category }) => category === "secrets");
  assert.ok(own.length > 150, `${own.length} of ${DETECTORS.length} detectors find secrets that leave no doubt`);
});
