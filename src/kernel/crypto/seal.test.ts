import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createSealer } from "./seal.ts";

const sealer = createSealer(randomBytes(32));

test("a sealed value opens, and no two seals are equal", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "grapheme" }), fc.uint8Array({ maxLength: 300 })), fc.string(), (secret, context) => {
      const sealed = sealer.seal(secret, context);
      assert.match(sealed, /^sv1\.[A-Za-z0-9_-]+$/);
      assert.deepEqual(sealer.open(sealed, context), Buffer.from(secret as string));
      assert.notEqual(sealer.seal(secret, context), sealed);
    }),
  );
});

test("a sealed value opens only in its context and with its key", () => {
  const sealed = sealer.seal("secret", "certificate:1");
  assert.throws(() => sealer.open(sealed, "certificate:2"));
  assert.throws(() => createSealer(randomBytes(32)).open(sealed, "certificate:1"));
});

test("a changed value does not open", () => {
  const sealed = sealer.seal("secret", "c");
  const bytes = Buffer.from(sealed.slice(4), "base64url");
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes);
    changed[i] = (changed[i] ?? 0) ^ 1;
    assert.throws(() => sealer.open(`sv1.${changed.toString("base64url")}`, "c"), `byte ${i}`);
  }
  for (const text of ["", "secret", "sv1.", "sv1.AAAA", sealed.slice(0, 30), `sv2.${sealed.slice(4)}`]) {
    assert.throws(() => sealer.open(text, "c"), text);
  }
});

test("the key has 256 bits", () => {
  for (const length of [0, 16, 31, 33]) assert.throws(() => createSealer(new Uint8Array(length)), RangeError);
});
