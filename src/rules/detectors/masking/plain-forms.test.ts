import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { createUndoubtedMasker } from "./text-masker.ts";
import { plainForms } from "./plain-forms.ts";

const mask = createUndoubtedMasker();
const utf8 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
const eachChar = (spell: (point: number) => string) => (text: string) =>
  utf8(Array.from(Buffer.from(text, "latin1").toString("utf8"), (char) => spell(char.codePointAt(0) ?? 0)).join(""));
const eachByte = (spell: (byte: number) => string) => (text: string) => Array.from(text, (char) => spell(char.charCodeAt(0))).join("");
const hex = (value: number, length: number): string => value.toString(16).padStart(length, "0");

/** Ways to write a text; each is understood again by some program that reads it. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  "percent where a client must": eachByte((byte) =>
    /\w/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${hex(byte, 2)}`,
  ),
  "percent everywhere, in capitals": eachByte((byte) => `%${hex(byte, 2).toUpperCase()}`),
  form: (text) => text.replaceAll("+", "%2B").replaceAll(" ", "+"),
  "escapes of scripts": eachChar((point) => (point > 0xffff ? String.fromCodePoint(point) : `\\u${hex(point, 4)}`)),
  "percent and u": eachChar((point) => (point > 0xffff ? String.fromCodePoint(point) : `%u${hex(point, 4)}`)),
  "numbers of HTML": eachChar((point) => `&#${point};`),
  "hexadecimal numbers of HTML": eachChar((point) => `&#x${hex(point, 2)};`),
};
/** The digit 0 of full width, in bold, of Arabic, Persian, Devanagari, Thai, and of a script beyond the first plane. */
const ZEROS = [0x30, 0xff10, 0x1d7ce, 0x660, 0x6f0, 0x966, 0xe50, 0x11066];
const CARDS = ["4716461583322103", "4929 7226 5379 7141", "4929-7226-5379-7141", "375556917985515"];
const KEYS = ["AKIA4QYHJT3NWBKLD2PX", "GB82WEST12345698765432"];
const layers = fc.array(fc.constantFrom(...Object.keys(ENCODINGS)), { minLength: 0, maxLength: 3 });
/** A text with thousands of numbers, which all these escapes are, is masked whole. */
const fewLayers = fc.array(fc.constantFrom(...Object.keys(ENCODINGS)), { minLength: 0, maxLength: 2 });
const encoded = (text: string, names: readonly string[]): string => names.reduce((inner, name) => ENCODINGS[name]!(inner), text);

test("a card or key is masked in any layers of encodings, and in the digits of any script", () => {
  fc.assert(
    fc.property(fc.constantFrom(...CARDS), fc.constantFrom(...ZEROS), layers, (card, zero, names) => {
      const digits = utf8(card.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit))));
      const text = encoded(digits, ["percent where a client must", ...names]).replaceAll("&", "%26");
      assert.deepEqual(mask([`page=2&card=${text}&q=shoes`], "&"), ["page=2&card=[masked]&q=shoes"]);
    }),
    { numRuns: 100 },
  );
  fc.assert(
    fc.property(fc.constantFrom(...KEYS), layers, (key, names) => {
      const text = encoded(key, names).replaceAll("&", "%26");
      assert.deepEqual(mask([`page=2&key=${text}&q=shoes`], "&"), ["page=2&key=[masked]&q=shoes"]);
    }),
    { numRuns: 100 },
  );
});

test("a card or key in base64 is masked, alone, within JSON or behind other text, and percent-encoded", () => {
  const secrets = [...CARDS.map((card) => card.replaceAll(/\D/g, "")), ...KEYS];
  const around = fc.constantFrom("@", '{"a":1,"k":"@"}', "https://x.example/?a=b&key=@&c=d~>", "user:@");
  fc.assert(
    fc.property(fc.constantFrom(...secrets), around, fc.constantFrom("base64", "base64url"), layers, (secret, frame, alphabet, names) => {
      const text = encoded(encodeURIComponent(Buffer.from(frame.replace("@", secret)).toString(alphabet as "base64")), names);
      assert.deepEqual(mask([`page=2&state=${text.replaceAll("&", "%26")}&q=shoes`], "&"), ["page=2&state=[masked]&q=shoes"]);
    }),
    { numRuns: 200 },
  );
  const plain = "id=Zm9vYmFyYmF6cXV4Zm9vYmFy&hash=8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
  assert.deepEqual(mask([plain], "&"), [plain]);
});

test("a card or key in hexadecimal is masked, alone or in other text, and percent-encoded", () => {
  const secrets = [...CARDS.map((card) => card.replaceAll(/\D/g, "")), ...KEYS];
  const frames = fc.constantFrom("@", '{"k":"@"}', "key=@&c=d");
  const written = fc.constantFrom(
    (text: string) => Buffer.from(text).toString("hex"),
    (text: string) => `a${Buffer.from(text).toString("hex").toUpperCase()}`,
  );
  fc.assert(
    fc.property(fc.constantFrom(...secrets), frames, written, layers, (secret, frame, write, names) => {
      const text = encoded(encodeURIComponent(write(frame.replace("@", secret))), names).replaceAll("&", "%26");
      assert.deepEqual(mask([`page=2&state=${text}&q=shoes`], "&"), ["page=2&state=[masked]&q=shoes"]);
    }),
    { numRuns: 200 },
  );
  const plain = "a=8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4&id=550e8400e29b41d4a716446655440000";
  assert.deepEqual(mask([plain], "&"), [plain]);
});

test("a text that is not a card stays unchanged in any encoding", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("4716461583322104", "AB123456C", "Straße", "2024-06-01 10:30", "१२३", "100% wool"),
      fewLayers,
      (text, names) => {
        const query = `q=${encoded(encodeURIComponent(text), names).replaceAll("&", "%26")}&page=2`;
        assert.deepEqual(mask([query], "&"), [query]);
      },
    ),
    { numRuns: 100 },
  );
});

test("every decimal digit of Unicode has its value", () => {
  for (let point = 0x80, seen = 0; point <= 0x10ffff; point++) {
    if (!/\p{Nd}/u.test(String.fromCodePoint(point))) continue;
    assert.deepEqual(plainForms(utf8(String.fromCodePoint(point))), [String(seen++ % 10)], point.toString(16));
  }
});

test("a plain text has no other form, and decoding stops after some layers", () => {
  assert.deepEqual(plainForms("page=2;q=shoes"), []);
  assert.deepEqual(plainForms("a=1&b=2"), []);
  assert.deepEqual(plainForms("100%"), []);
  assert.deepEqual(plainForms(`%${"25".repeat(8)}41`).length, 6);
  assert.deepEqual(plainForms("&#1114112;"), []);
});
