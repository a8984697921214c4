import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { SharedSet } from "./shared-set.ts";

interface Item {
  readonly key: string;
}

const items = Array.from({ length: 6_000 }, (_, i): Item => ({ key: `${i >> 1}` }));
const keyOf = ({ key }: Item): string => key;

test("copies of a set change separately, whatever their size, and each has what a plain set would have", () => {
  const step = fc.record({
    set: fc.nat(3),
    what: fc.constantFrom("add", "delete", "copy"),
    from: fc.nat(items.length - 1),
    count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 3_000 })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const sets = [{ ours: new SharedSet<Item>(keyOf), plain: new Set<Item>() }];
      for (const { set, what, from, count } of steps) {
        const { ours, plain } = sets[set % sets.length]!;
        if (what === "copy") sets[Math.min(from % 4, sets.length)] = { ours: ours.copy(), plain: new Set(plain) };
        else
          for (const item of items.slice(from, from + count)) {
            if (what === "add") {
              ours.add(item);
              plain.add(item);
            } else assert.equal(ours.delete(item), plain.delete(item));
          }
        for (const one of sets) {
          assert.equal(one.ours.size, one.plain.size);
          assert.deepEqual(new Set(one.ours), one.plain);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("a change of a copy copies a small part of a large set, once", () => {
  const large = Array.from({ length: 60_000 }, (_, i): Item => ({ key: `${i}` }));
  const set = new SharedSet<Item>(keyOf);
  for (const item of large) set.add(item);
  assert.equal(set.copied, 0);
  const copy = set.copy();
  let most = 0;
  for (const item of large) {
    const before = copy.copied;
    copy.delete(item);
    most = Math.max(most, copy.copied - before);
  }
  assert.ok(most < 600, `${most} items for one change`);
  assert.equal(copy.copied, large.length);
  assert.deepEqual([set.size, copy.size, set.copied], [large.length, 0, 0]);
});
