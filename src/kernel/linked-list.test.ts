import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { type Linked, LinkedList } from "./linked-list.ts";

interface Item extends Linked<Item> {
  readonly name: number;
}

const namesOf = ({ first }: LinkedList<Item>): number[] => {
  const names: number[] = [];
  for (let item = first; item !== null; item = item.after) names.push(item.name);
  return names;
};

test("property: LinkedList has the content of a Set, in the same order", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(6)), { maxLength: 100 }), (steps) => {
      const items = Array.from({ length: 7 }, (_, name): Item => ({ name, before: null, after: null }));
      const [order, set] = [new LinkedList<Item>(), new Set<number>()];
      for (const [isAdded, name] of steps) {
        if (isAdded && !set.has(name)) {
          order.add(items[name]!);
          set.add(name);
        } else if (!isAdded) {
          order.remove(items[name]!);
          set.delete(name);
        }
        assert.deepEqual(namesOf(order), [...set]);
        assert.equal(order.size, set.size);
      }
    }),
  );
});
