import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { isSameDestination, restoredDestination, redactedDestination } from "./destination-text.ts";

const word = fc.string({ unit: fc.constantFrom("a", "B", "1", "-", "_", "%20", "."), minLength: 1, maxLength: 8 });
const secret = fc.string({ unit: fc.constantFrom("s", "E", "9", "%2F", "="), minLength: 5, maxLength: 12 }).map((text) => `S3CRET${text}`);
const address = fc.constantFrom("https://logs.example/ai", "s3://bucket/ai/{DATE}", "http://127.0.0.1:9000");
const names = fc.uniqueArray(word, { maxLength: 4 });

test("the redacted destination has no secret, names the same place, and restores the original when sent back", () => {
  fc.assert(
    fc.property(address, names, fc.array(secret, { minLength: 4, maxLength: 4 }), (at, parameters, secrets) => {
      const pairs = parameters.map((name, i) => `${name}=${secrets[i]}`);
      const text = pairs.length === 0 ? at : `${at}?${pairs.join("&")}`;
      const shown = redactedDestination(text);
      assert.doesNotMatch(shown, /S3CRET/);
      assert.ok(isSameDestination(shown, text));
      assert.equal(restoredDestination(shown, text), text);
      const elsewhere = shown.replace(at, `${at}/other`);
      if (pairs.length > 0) assert.throws(() => restoredDestination(elsewhere, text), /no stored value of/);
    }),
  );
});
