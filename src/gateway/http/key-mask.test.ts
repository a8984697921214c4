import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createKeyMask } from "./key-mask.ts";

const KEY = "sk-Ab/9+z=é_'(x)&<k>?";
const FORMS = [
  KEY,
  JSON.stringify(KEY),
  JSON.stringify(KEY).replaceAll("/", "\\/"),
  encodeURIComponent(KEY),
  new URLSearchParams({ key: KEY }).toString(),
  encodeURIComponent(KEY).replaceAll(/%../g, (escape) => escape.toLowerCase()),
  ...["", "a", "ab", "abc", "Bearer ", "user:"].flatMap((before) => {
    const text = Buffer.from(`${before}${KEY} and more`);
    return [text.toString("base64"), text.toString("base64url")];
  }),
];

const maskOf = (...keys: string[]) => createKeyMask(keys) ?? assert.fail("no mask");

function through(text: string | Buffer, cuts: readonly number[], key = KEY): Buffer {
  const bytes = Buffer.from(text);
  const body = maskOf(key).body();
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  const parts = ends.map((end, i) => body.push(bytes.subarray(ends[i - 1] ?? 0, end)));
  return Buffer.concat([...parts, body.end()]);
}

/** Decodes the base64 in the text, as a reader of it would. */
const read = (text: string): string =>
  text + text.replaceAll(/[A-Za-z0-9+/_=-]{8,}/g, (part) => Buffer.from(part, "base64").toString("latin1"));

describe("the key mask", () => {
  test("property: every form of a key is masked, however it is cut, and all other bytes pass unchanged", () => {
    const chunks = fc.array(fc.oneof(fc.constantFrom(...FORMS), fc.string(), fc.constantFrom(KEY.slice(0, 4), KEY.slice(3))), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(chunks, fc.array(fc.nat(2_000), { maxLength: 12 }), (texts, cuts) => {
        const text = texts.join(" ");
        const shown = through(text, cuts);
        const whole = through(text, []);
        assert.deepEqual(shown, whole, "cuts make no difference");
        assert.equal(shown.length, Buffer.byteLength(text));
        for (const form of [KEY, encodeURIComponent(KEY)]) assert.ok(!read(shown.toString()).includes(form), shown.toString());
        Buffer.from(text).forEach((byte, i) => assert.ok(shown[i] === byte || shown[i] === 0x2a));
      }),
      { numRuns: 300 },
    );
  });

  test("a base64 key leaves only the bits at its ends", () => {
    for (const form of FORMS.slice(-12)) {
      const shown = through(form, []).toString();
      assert.match(shown, /\*{24}/, shown);
      assert.doesNotMatch(Buffer.from(shown, "base64").toString("latin1"), /Ab\/9|sk-A|<k>/);
    }
  });

  test("text without a key is returned as the same buffer, and is held only while it may begin a key", () => {
    const body = maskOf("sk-0123456789").body();
    const event = Buffer.from('data: {"a":"It is this"}\n\n');
    assert.equal(body.push(event), event);
    assert.equal(body.push(Buffer.from("task")).toString(), "ta");
    assert.equal(body.push(Buffer.from("s ")).toString(), "sks ");
    assert.equal(body.push(Buffer.from("a sk-0123"), true).toString(), "a sk-0123", "a message that is over waits for nothing");
  });

  test("at the end of a body a short beginning of a key is shown, and a long one is masked", () => {
    assert.equal(through("a sk-", [], "sk-0123456789").toString(), "a sk-");
    assert.equal(through("a sk-012345678", [], "sk-0123456789").toString(), `a ${"*".repeat(12)}`);
  });

  test("header fields are masked, stay the same object without secrets, and short words are not keys", () => {
    const mask = maskOf("short", "sk-0123456789");
    const headers = { a: "short", b: ["x", "y"] };
    assert.equal(mask.fields(headers), headers);
    assert.deepEqual(mask.fields({ a: "Bearer sk-0123456789", b: ["sk-0123456789"] }), {
      a: `Bearer ${"*".repeat(13)}`,
      b: ["*".repeat(13)],
    });
    assert.equal(createKeyMask(["short"]), undefined);
  });
});
