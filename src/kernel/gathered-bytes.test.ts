import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

test("property: appended bytes are returned in order, each time", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 9000 })), { maxLength: 40 }), (lengths) => {
      const gathered = new GatheredBytes();
      let all = Buffer.alloc(0);
      for (const [i, length] of lengths.entries()) {
        const piece = Buffer.alloc(length, i + 1);
        gathered.push(piece);
        all = Buffer.concat([all, piece]);
        if (i % 7 === 3) assert.ok(gathered.joined().equals(all));
      }
      assert.equal(gathered.length, all.length);
      assert.ok(Buffer.concat(gathered.list()).equals(all));
      assert.ok(gathered.take().equals(all));
      assert.deepEqual([gathered.length, gathered.take().length], [0, 0]);
    }),
    { numRuns: 300 },
  );
});

test("chunks of one byte use about their length in memory, and empty ones nothing", () => {
  const gathered = new GatheredBytes();
  for (let i = 0; i < 300_000; i++) {
    gathered.push(Buffer.of(i));
    gathered.push(Buffer.alloc(0));
  }
  const pieces = gathered.list();
  assert.ok(pieces.length < 80, `${pieces.length} pieces`);
  const memory = new Set(pieces.map(({ buffer }) => buffer));
  assert.ok([...memory].reduce((bytes, { byteLength }) => bytes + byteLength, 0) < 400_000);
});
