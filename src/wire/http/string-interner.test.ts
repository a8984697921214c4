import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createStringInterner } from "./string-interner.ts";

test("property: an interned text equals its bytes in the buffer, whatever was read before", () => {
  // Few bytes, so that most of them meet in one place, and lengths around that of what is kept.
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 8, max: 3 }),
    fc.uint8Array({ minLength: 60, maxLength: 70, min: 0xfe }),
    fc.uint8Array({ maxLength: 20 }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.nat(5)), { maxLength: 60 }), (pieces) => {
      const read = createStringInterner();
      for (const [bytes, before] of pieces) {
        const buffer = Buffer.concat([Buffer.alloc(before, 1), bytes, Buffer.from("after")]);
        assert.equal(read(buffer, before, before + bytes.length), Buffer.from(bytes).toString("latin1"));
      }
    }),
  );
});
