import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { ChunkList } from "./chunks.ts";

test("pushed chunks are returned in order, wherever they lie in memory", () => {
  const piece = fc.record({ memory: fc.nat(2), skip: fc.boolean(), length: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const memories = [Buffer.allocUnsafeSlow(600), Buffer.allocUnsafeSlow(600), Buffer.allocUnsafeSlow(600)];
      for (const [i, memory] of memories.entries()) for (let at = 0; at < memory.length; at++) memory[at] = (at * 3 + i) & 0xff;
      const used = [0, 0, 0];
      const kept = new ChunkList();
      const all: Buffer[] = [];
      for (const { memory, skip, length } of pieces) {
        const start = (used[memory] ?? 0) + (skip ? 1 : 0);
        used[memory] = start + length;
        const bytes = (memories[memory] as Buffer).subarray(start, start + length);
        all.push(bytes);
        kept.push(bytes);
      }
      const expected = Buffer.concat(all);
      assert.deepEqual(kept.joined(), expected);
      assert.deepEqual(Buffer.concat(kept.all()), expected);
      assert.equal(kept.length, expected.length);
      assert.equal(kept.count, kept.all().length);
      assert.ok(kept.count <= pieces.length);
      kept.clear();
      assert.equal(kept.count + kept.length + kept.joined().length, 0);
    }),
  );
});

test("adjacent chunks are stored as one", () => {
  const memory = Buffer.from("one two three");
  const kept = new ChunkList();
  for (const [from, to] of [
    [0, 4],
    [4, 8],
    [8, 13],
  ] as const)
    kept.push(memory.subarray(from, to));
  assert.equal(kept.count, 1);
  assert.equal(String(kept.joined()), "one two three");
});
