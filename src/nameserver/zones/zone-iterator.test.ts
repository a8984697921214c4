import assert from "node:assert/strict";
import { test } from "node:test";
import { countedWork } from "../../../test/support/counted-work.ts";
import { fc } from "../../../test/support/property.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { keyOf, type NameKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { createZoneNodes, type ZoneNodes } from "./zone-nodes.ts";
import type { RRsets, StoredRecord } from "./rrset.ts";
import { createZoneIterators, NAMES_PASSED_AT_ONCE, type WalkedNode, type ZoneIterator, ZoneIteratorError } from "./zone-iterator.ts";

type Step = { readonly do: "put" | "remove"; readonly name: number; readonly value: number } | { readonly do: "settle" | "read" | "start" };

// Few names, one below the other, so that names come, go and come back, and nodes without records exist.
const NAMES = ["a.z", "b.a.z", "c.b.a.z", "d.z", "*.d.z", "e.d.z"].map((name) => keyOf(parseAbsoluteName(name)));

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("put" as const, "remove" as const), name: fc.nat(5), value: fc.nat(3) }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("settle" as const, "read" as const, "read" as const, "start" as const) }) },
  ),
  // Short ones begin a walk over nothing.
  { minLength: 20, maxLength: 60 },
);

const recordOf = (ttl: number, value: number): StoredRecord => ({
  name: "",
  type: "A",
  ttl,
  content: "",
  rdata: Buffer.of(value).toString("base64"),
  proxied: false,
});

const plain = (sets: RRsets): string =>
  JSON.stringify(
    Array.from(sets.values(), ({ type, ttl, rdatas }) => [type, ttl, rdatas.map((rdata) => Buffer.from(rdata).toString("hex"))]),
  );

/** Everything that is at the names now. */
const contents = (nodes: ZoneNodes): Map<NameKey, string> =>
  new Map(
    NAMES.flatMap((name) => {
      const { sets } = nodes.get(name) ?? { sets: new Map() };
      return sets.size === 0 ? [] : [[name, plain(sets)] as const];
    }),
  );

interface Reader {
  readonly walk: ZoneIterator;
  readonly expected: Map<NameKey, string>;
  readonly read: Map<NameKey, string>;
}

const readOne = ({ walk, read }: Reader): boolean => {
  const found = walk.next();
  if (!found) return false;
  assert.ok(!read.has(found[0]), "a name came twice");
  read.set(found[0], plain(found[1]));
  return true;
};

test("property: an iteration returns the content at its start, whatever changes meanwhile", () => {
  fc.assert(
    fc.property(steps, fc.constantFrom(undefined, 0), (all, splitSize) => {
      const nodes = createZoneNodes(undefined, splitSize);
      // A map that is split already: one that splits while a walk reads it breaks the walk.
      const first = recordOf(60, 1);
      nodes.add(NAMES[0]!, first);
      nodes.remove(NAMES[0]!, first);
      nodes.settle();
      const present = new Map<string, StoredRecord>();
      const replace = (name: number, place: number, record: StoredRecord | undefined): void => {
        const id = `${name}/${place}`;
        const before = present.get(id);
        if (before) nodes.remove(NAMES[name]!, before);
        if (record) present.set(id, record);
        else present.delete(id);
        if (record) nodes.add(NAMES[name]!, record);
      };
      const readers: Reader[] = [];
      let settled = true;
      for (const step of all) {
        if (step.do === "put") {
          replace(step.name, step.value % 2, recordOf(60 + step.value, step.value));
          settled = false;
        } else if (step.do === "remove") {
          replace(step.name, step.value % 2, undefined);
          settled = false;
        } else if (step.do === "settle" || !settled) {
          nodes.settle();
          settled = true;
        } else if (step.do === "start") readers.push({ walk: nodes.walk(), expected: contents(nodes), read: new Map() });
        else for (const reader of readers) readOne(reader);
      }
      nodes.settle();
      for (const reader of readers) {
        while (readOne(reader));
        assert.deepEqual([...reader.read].sort(), [...reader.expected].sort());
        assert.equal(reader.walk.next(), undefined);
      }
    }),
    { numRuns: 2000 },
  );
});

test("a change has the content before and after it", () => {
  const nodes = createZoneNodes();
  const key = NAMES[0]!;
  const changes = (): string[][] => {
    const seen: string[][] = [];
    nodes.settle((change) => seen.push([change.key, plain(change.before), plain(change.after)]));
    return seen;
  };
  const [first, second] = [recordOf(60, 1), recordOf(60, 2)];
  nodes.add(key, first);
  const one = '[[1,60,["01"]]]';
  assert.deepEqual(changes(), [[key, "[]", one]]);
  // Gone and back within one delta: still one change, from what was there.
  nodes.remove(key, first);
  nodes.add(key, second);
  assert.deepEqual(changes(), [[key, one, '[[1,60,["02"]]]']]);
  nodes.remove(key, second);
  assert.deepEqual(changes(), [[key, '[[1,60,["02"]]]', "[]"]]);
  assert.deepEqual(changes(), []);
});

test("an iteration fails if it has to copy too much, and a finished one holds no copies", () => {
  const sets: RRsets = new Map([[TYPE.A, { type: TYPE.A, ttl: 60, rdatas: [Uint8Array.of(1)], proxied: false }]]);
  const nodes = new LargeMap<WalkedNode>();
  for (const [order, key] of NAMES.entries()) nodes.set(key, { sets, order });
  const walks = createZoneIterators(nodes, 2);
  const walk = walks.start(NAMES.length);
  assert.equal(walk.next()?.[0], NAMES[0]);
  const over = walks.start(NAMES.length);
  over.close();
  const change = (i: number): void => walks.keep(NAMES[i]!);
  [0, 1, 2, 1].forEach(change);
  assert.equal(walk.next()?.[0], NAMES[1]);
  [3].forEach(change);
  assert.equal(walk.next()?.[0], NAMES[2]);
  [4, 5].forEach(change);
  assert.throws(() => walk.next(), ZoneIteratorError);
});

test("an iteration fails if the map splits during it", () => {
  const nodes = createZoneNodes(undefined, NAMES.length);
  nodes.add(NAMES[0]!, recordOf(60, 1));
  nodes.settle();
  const walk = nodes.walk();
  for (let i = 0; i < 100; i++) nodes.add(keyOf(parseAbsoluteName(`n${i}.z`)), recordOf(60, 1));
  nodes.settle();
  assert.throws(() => walk.next(), ZoneIteratorError);
});

test("an iteration skips a limited number of names without records at a time", () => {
  const sets: RRsets = new Map([[TYPE.A, { type: TYPE.A, ttl: 60, rdatas: [Uint8Array.of(1)], proxied: false }]]);
  const nodes = new LargeMap<WalkedNode>();
  const count = 20 * NAMES_PASSED_AT_ONCE;
  for (let order = 0; order < count; order++) nodes.set(`${order}`, { sets: order === count - 1 ? sets : new Map(), order });
  const walks = createZoneIterators(nodes);
  const whole = walks.start(count);
  // Names that were there when it began, and are gone before it comes to them.
  const changing = walks.start(count);
  for (let order = 0; order < count; order++) {
    walks.keep(`${order}`);
    nodes.delete(`${order}`);
    nodes.set(`${order}`, { sets, order: count + order });
  }
  for (const walk of [whole, changing]) {
    let most = 0;
    const found: unknown[] = [];
    for (let done = false; !done;) {
      const work = countedWork(() => {
        const next = walk.next();
        done = next === undefined;
        if (next) found.push(next[0]);
      });
      most = Math.max(most, work);
    }
    assert.deepEqual(found, [`${count - 1}`]);
    assert.ok(most <= 6 * NAMES_PASSED_AT_ONCE, `${most} steps in one turn`);
  }
});
