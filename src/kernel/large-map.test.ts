import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { LargeMap } from "./large-map.ts";

const SPLIT_SIZE = 8;
const sorted = <V>(entries: Iterable<readonly [string, V]>): readonly (readonly [string, V])[] =>
  [...entries].sort(([a], [b]) => (a < b ? -1 : 1));

test("property: LargeMap has the content of a Map, split or not", () => {
  const key = fc.integer({ min: 0, max: 30 }).map((n) => `key ${n}`);
  const step = fc.oneof(
    fc.record({ kind: fc.constant("set" as const), key, value: fc.nat() }),
    fc.record({ kind: fc.constant("delete" as const), key, value: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const large = new LargeMap<number>(undefined, SPLIT_SIZE);
      const plain = new Map<string, number>();
      for (const { kind, key: at, value } of steps) {
        if (kind === "set") {
          large.set(at, value);
          plain.set(at, value);
        } else assert.equal(large.delete(at), plain.delete(at));
        assert.deepEqual([large.size, large.get(at), large.has(at)], [plain.size, plain.get(at), plain.has(at)]);
      }
      assert.deepEqual(sorted(large), sorted(plain));
      assert.deepEqual([...large.keys()].sort(), [...plain.keys()].sort());
      assert.deepEqual([...large.values()].sort(), [...plain.values()].sort());
    }),
  );
});

test("an iterator continues across a split: deleted entries are left out, existing ones occur once", () => {
  let splits = 0;
  const map = new LargeMap<number>(() => void (splits += 1), SPLIT_SIZE);
  for (let i = 0; i < SPLIT_SIZE; i++) map.set(`old ${i}`, i);
  const entries = map.entries();
  assert.deepEqual(entries.next().value, ["old 0", 0]);
  for (let i = 0; i < 100; i++) map.set(`new ${i}`, i);
  map.delete("old 3");
  map.set("old 4", 44);
  assert.equal(splits, 1);
  const rest = [...entries].filter(([key]) => key.startsWith("old"));
  assert.deepEqual(
    rest,
    [1, 2, 4, 5, 6, 7].map((i) => [`old ${i}`, i === 4 ? 44 : i]),
  );
  assert.equal(map.size, SPLIT_SIZE + 99);
});

test("parts keep the order in which keys were added, and partOf finds the part of each key", () => {
  const map = new LargeMap<number>(undefined, SPLIT_SIZE);
  for (let i = 0; i < 5_000; i++) map.set(`h${i}.example`, i);
  assert.equal(map.parts.length, 256);
  assert.ok(Math.max(...map.parts.map(({ size }) => size)) < 100, "spread evenly");
  for (const [at, part] of map.parts.entries()) {
    const values = [...part.values()];
    assert.deepEqual(
      values,
      values.toSorted((a, b) => a - b),
    );
    for (const key of part.keys()) assert.equal(map.partOf(key), at);
  }
});

test("adding an entry moves at most some thousand others, and at most a thousand where a map splits", () => {
  const splits: number[] = [];
  const large: LargeMap<number> = new LargeMap(() => splits.push(large.size));
  for (let i = 0; i < 600_000; i++) large.set(`n${i}.example`, i);
  assert.ok(splits.length === 1 && splits.every((size) => size <= 1_100), `split at ${splits.join(", ")} entries`);
  // A Map moves all of its entries when it doubles.
  const longest = Math.max(...large.parts.map((part) => part.size));
  assert.ok(longest <= 5_000, `a part of ${longest} entries`);
});

test("a cleared map is empty and starts unsplit", () => {
  const large = new LargeMap<number>(undefined, 2);
  for (const key of ["a", "b", "c"]) large.set(key, 1);
  large.clear();
  assert.deepEqual([large.size, [...large], large.has("a"), large.parts.length], [0, [], false, 1]);
  large.set("a", 2);
  assert.deepEqual([...large], [["a", 2]]);
});
