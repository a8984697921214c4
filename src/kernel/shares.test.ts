import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { createShares } from "./shares.ts";

test("one owner gets at most half, the next one half of the rest, and an owner without a place gets the last one", () => {
  const shares = createShares({ total: 16, share: 0.5 });
  const taken = (owner: string): number => {
    let count = 0;
    while (shares.take(owner, 1)) count++;
    return count;
  };
  assert.deepEqual(["a", "b", "c", "d"].map(taken), [8, 4, 2, 1]);
  assert.deepEqual(shares.full(), ["a", "b", "c", "d"]);
  assert.deepEqual(["e", "f"].map(taken), [1, 0]);
  shares.release("a", 8);
  assert.deepEqual(shares.full(), []);
  assert.deepEqual([taken("b"), taken("a")], [2, 3]);
});

test("property: owners never take more than the total, and an owner without a place gets the last one", () => {
  const step = fc.record({ owner: fc.constantFrom("a", "b", "c"), amount: fc.integer({ min: 1, max: 9 }), isTaking: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const shares = createShares({ total: 24, share: 0.5 });
      const held = new Map<string, number>();
      for (const { owner, amount, isTaking } of steps) {
        const mine = held.get(owner) ?? 0;
        if (!isTaking) {
          const back = Math.min(mine, amount);
          if (back > 0) shares.release(owner, back);
          held.set(owner, mine - back);
        } else if (shares.take(owner, amount)) held.set(owner, mine + amount);
        const out = [...held.values()].reduce((sum, each) => sum + each, 0);
        assert.ok(out <= 24);
        const free = 24 - out;
        assert.equal(shares.take("new", 1), free > 0);
        if (free > 0) shares.release("new", 1);
      }
    }),
  );
});
