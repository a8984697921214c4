import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createSensitiveNames, SECRET_WORDS } from "./sensitive-names.ts";

const hasWord = createSensitiveNames();

const WORDS = [
  ...["api", "access", "private"].flatMap((name) => [`${name}key`, `${name}_key`, `${name}-key`]),
  ...["access", "auth", "refresh", "id", "session"].flatMap((name) => [`${name}token`, `${name}_token`, `${name}-token`]),
  ...["secret", "passwd", "password", "passphrase", "authorization", "credential", "bearer ", "bearer\n", "private key-----"],
];

const filler = fc.string({ unit: fc.constantFrom(..."abcdeiknorstyABEKST _-\n.ü0"), maxLength: 80 });
const inAnyCase = fc
  .tuple(fc.constantFrom(...WORDS), fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }))
  .map(([word, upper]) => Array.from(word, (character, i) => (upper[i] === true ? character.toUpperCase() : character)).join(""));

test("every secret word is found in any case and at any position", () => {
  for (const word of WORDS) assert.ok(SECRET_WORDS.test(word) && hasWord(Buffer.from(word)), word);
  fc.assert(
    fc.property(filler, inAnyCase, filler, (before, word, after) => {
      assert.ok(hasWord(Buffer.from(before + word + after, "latin1")));
    }),
    { numRuns: 500 },
  );
});

test("hasWord finds a word exactly where the regular expression does", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(filler, fc.constantFrom("tokens", "key", "auth_", "_token", "completion_tokens", "pass")), { maxLength: 6 }),
      (parts) => {
        const bytes = Buffer.from(parts.join(""), "latin1");
        assert.equal(hasWord(bytes), SECRET_WORDS.test(bytes.toString("latin1")));
      },
    ),
    { numRuns: 500 },
  );
});

test("a long text is searched to its end, also across chunk boundaries", () => {
  for (const length of [131_060, 131_066, 131_070, 131_072, 131_080, 262_138, 400_000]) {
    const text = Buffer.alloc(length + 20, "x");
    assert.ok(!hasWord(text));
    text.write("Client-Secret", length - 7);
    assert.ok(hasWord(text), String(length));
  }
});
