import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { copyBytes } from "./copy-bytes.ts";

test("property: copying a range of bytes changes no others, in shared and in other memory", () => {
  const memory = fc.constantFrom(
    (bytes: number) => new ArrayBuffer(bytes),
    (bytes: number) => new SharedArrayBuffer(bytes),
  );
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(300),
      fc.nat(300),
      fc.nat(40),
      memory,
      memory,
      (bytes, one, other, at, ofFrom, ofTo) => {
        const [start, end] = [Math.min(one, other, bytes.length), Math.min(Math.max(one, other), bytes.length)];
        const from = new Uint8Array(ofFrom(bytes.length));
        from.set(bytes);
        const to = new Uint8Array(ofTo(at + end - start + 1)).fill(7);
        copyBytes(from, start, end, to, at);
        assert.deepEqual([...to], [...Array<number>(at).fill(7), ...bytes.subarray(start, end), 7]);
      },
    ),
  );
});
