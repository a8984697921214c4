import assert from "node:assert/strict";
import { test } from "node:test";
import { createSipHash } from "./siphash.ts";

const KEY = Uint8Array.from({ length: 16 }, (_, i) => i);
const MESSAGE = Uint8Array.from({ length: 64 }, (_, i) => i);

function hash(length: number, offset = 0): string {
  const bytes = new Uint8Array(offset + length + 5).fill(0xaa);
  bytes.set(MESSAGE.subarray(0, length), offset);
  const out = new Uint8Array(12);
  createSipHash(KEY)(bytes, offset, offset + length, out, 2);
  assert.deepEqual([out[0], out[1], out[10], out[11]], [0, 0, 0, 0]);
  return Buffer.from(out.subarray(2, 10)).toString("hex");
}

const VECTORS: readonly (readonly [length: number, hash: string])[] = [
  [0, "310e0edd47db6f72"],
  [1, "fd67dc93c539f874"],
  [7, "37d1018bf50002ab"],
  [8, "6224939a79f5f593"],
  // Appendix A of the paper prints this one as a129ca6149be45e5.
  [15, "e545be4961ca29a1"],
  [16, "db9bc2577fcc2a3f"],
  [20, "98eea21af25cd6be"],
  [32, "ce7cf2722f512771"],
  [63, "724506eb4c328a95"],
];

test("the hash matches the example of the paper and the vectors of the reference implementation", () => {
  for (const [length, expected] of VECTORS) {
    assert.equal(hash(length), expected, `${length} bytes`);
    assert.equal(hash(length, 3), expected, `${length} bytes elsewhere in memory`);
  }
});

test("a key of another length is refused", () => {
  for (const length of [0, 15, 17, 32]) assert.throws(() => createSipHash(new Uint8Array(length)), RangeError);
});
