import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { keyOf, type NameKey, parentKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { createZoneNodes, type NameChange, type ZoneNodes } from "./zone-nodes.ts";
import type { RRsets, StoredRecord } from "./rrset.ts";
import type { ZoneIterator } from "./zone-iterator.ts";

// One below the other, so that names come, go and exist because of others.
const NAMES = ["a.z", "b.a.z", "c.b.a.z", "d.z", "f.e.d.z"].map((name) => keyOf(parseAbsoluteName(name)));
const ALL = [...NAMES, ...["z", "e.d.z"].map((name) => keyOf(parseAbsoluteName(name)))];

const recordOf = (type: string, value: number): StoredRecord => ({
  name: "",
  type,
  ttl: 60 + value,
  content: "",
  rdata: Buffer.of(value).toString("base64"),
  proxied: false,
});

const plain = (sets: RRsets): string =>
  JSON.stringify(
    Array.from(sets.values(), ({ type, rdatas }) => `${type} ${rdatas.map((rdata) => Buffer.from(rdata).toString("hex")).sort()}`).sort(),
  );

type Step =
  | { readonly do: "put" | "remove" | "stage" | "batch"; readonly name: number; readonly value: number }
  | { readonly do: "release" | "forget" | "turn" | "walk" | "read" };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constantFrom("put" as const, "remove" as const, "batch" as const, "stage" as const, "stage" as const),
        name: fc.nat(4),
        value: fc.nat(3),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom("release" as const, "turn" as const, "turn" as const, "walk" as const, "read" as const, "forget" as const),
      }),
    },
  ),
  { maxLength: 60 },
);

/** Simple model of a zone: each name's records by their place. */
type Model = Map<string, { readonly key: NameKey; readonly record: StoredRecord }>;

const setsIn = (model: Model, key: NameKey): string => {
  const byType = new Map<number, Set<string>>();
  for (const one of model.values()) {
    if (one.key !== key) continue;
    const type = one.record.type === "NS" ? 2 : 1;
    byType.set(type, (byType.get(type) ?? new Set()).add(Buffer.from(one.record.rdata, "base64").toString("hex")));
  }
  return JSON.stringify(Array.from(byType, ([type, values]) => `${type} ${[...values].sort()}`).sort());
};
const isIn = (model: Model, key: NameKey): boolean => model.values().some((one) => isBelow(one.key, key));
const isBelow = (key: NameKey | undefined, other: NameKey): boolean =>
  key !== undefined && (key === other || isBelow(parentKey(key), other));
const contents = (model: Model): Map<NameKey, string> =>
  new Map(ALL.flatMap((key) => (setsIn(model, key) === "[]" ? [] : [[key, setsIn(model, key)] as const])));

test("property: large changes become visible at once on release, and each iteration shows one moment", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const nodes = createZoneNodes(1);
      const seen: Model = new Map();
      let staged: { id: string; changes: Map<string, { key: NameKey; record: StoredRecord } | null> } | null = null;
      let number = 0;
      const walks: { walk: ZoneIterator; expected: Map<NameKey, string>; read: Map<NameKey, string> }[] = [];
      const readOne = ({ walk, read }: (typeof walks)[number]): boolean => {
        const found = walk.next();
        if (!found) return false;
        assert.ok(!read.has(found[0]), "a name came twice");
        read.set(found[0], plain(found[1]));
        return true;
      };
      const told: { names: NameChange[]; before: Map<NameKey, string>; after: Map<NameKey, string>; done: boolean }[] = [];
      const put = (place: string, key: NameKey, record: StoredRecord | null): void => {
        const before = seen.get(place);
        if (before) nodes.remove(before.key, before.record);
        seen.delete(place);
        if (record) {
          nodes.add(key, record);
          seen.set(place, { key, record });
        }
        nodes.settle();
      };
      for (const step of all) {
        if (step.do === "put" || step.do === "remove" || step.do === "stage" || step.do === "batch") {
          const key = NAMES[step.name]!;
          const place = `${step.name}/${step.value % 2}`;
          const record = recordOf(step.value === 3 ? "NS" : "A", step.value);
          // As in control: what a large change has written is its own until its release.
          if (step.do === "batch") {
            // A delta that is staged and released before anything else, below what others have staged.
            if (staged?.changes.has(place)) continue;
            const id = `next ${number++}`;
            nodes.stage(id, key, seen.get(place)?.record, record, true);
            nodes.settle();
            nodes.release(id);
            seen.set(place, { key, record });
          } else if (step.do !== "stage") {
            if (!staged?.changes.has(place)) put(place, key, step.do === "put" ? record : null);
          } else {
            staged ??= { id: String(number++), changes: new Map() };
            if (staged.changes.has(place)) continue;
            const before = seen.get(place);
            const goes = before !== undefined && step.value > 1;
            if (goes) nodes.stage(staged.id, key, before.record, undefined);
            else nodes.stage(staged.id, key, before?.record, record);
            staged.changes.set(place, goes ? null : { key, record });
            nodes.settle();
          }
        } else if (step.do === "release" && staged) {
          const before = contents(seen);
          for (const [place, one] of staged.changes) {
            if (one) seen.set(place, one);
            else seen.delete(place);
          }
          const telling = { names: [] as NameChange[], before, after: contents(seen), done: false };
          told.push(telling);
          nodes.release(staged.id, (names, isLast) => {
            telling.names.push(...names);
            telling.done = isLast;
          });
          staged = null;
        } else if (step.do === "forget" && staged) {
          nodes.forget(staged.id);
          staged = null;
        } else if (step.do === "turn") await new Promise(setImmediate);
        else if (step.do === "walk") walks.push({ walk: nodes.walk(), expected: contents(seen), read: new Map() });
        else for (const walk of walks) readOne(walk);
        assertHolds(nodes, seen);
      }
      for (const walk of walks) {
        while (readOne(walk));
        assert.deepEqual([...walk.read].sort(), [...walk.expected].sort());
      }
      if (staged) nodes.forget(staged.id);
      for (let i = 0; i < 100; i++) await new Promise(setImmediate);
      assertHolds(nodes, seen);
      assert.equal(nodes.size, ALL.filter((key) => isIn(seen, key)).length + Number(seen.size > 0), "no place is left over");
      assert.equal(nodes.borders, NAMES.filter((key) => setsIn(seen, key).includes("2 ")).length);
      for (const { names, before, after, done } of told) {
        assert.ok(done);
        assert.equal(new Set(names.map(({ key }) => key)).size, names.length, "a name was told twice");
        for (const change of names) {
          assert.equal(plain(change.before), before.get(change.key) ?? "[]");
          assert.equal(plain(change.after), after.get(change.key) ?? "[]");
        }
        for (const key of ALL) if (before.get(key) !== after.get(key)) assert.ok(names.some((change) => change.key === key));
      }
    }),
    { numRuns: 600 },
  );
});

function assertHolds(nodes: ZoneNodes, model: Model): void {
  for (const key of ALL) {
    const node = nodes.get(key);
    assert.equal(node !== undefined, isIn(model, key));
    assert.equal(plain(node?.sets ?? new Map()), setsIn(model, key));
    if (setsIn(model, key).includes("2 ")) assert.ok(nodes.borders > 0);
  }
}

test("releasing a change takes one step of constant size, and so does each tick after it", async () => {
  for (const size of [1_000, 10_000]) {
    const nodes = createZoneNodes(100);
    const keyOfHost = (i: number): NameKey => keyOf(parseAbsoluteName(`h${i}.example`));
    for (let i = 0; i < size; i++) nodes.stage("one", keyOfHost(i), undefined, recordOf("A", i % 200));
    nodes.settle();
    const turns: number[] = [];
    let done = false;
    nodes.release("one", (names, isLast) => {
      turns.push(names.length);
      done = isLast;
    });
    assert.ok(nodes.get(keyOfHost(size - 1)), "all of it is there at once");
    assert.equal(turns.length, 1);
    while (!done) await new Promise(setImmediate);
    assert.ok(turns.length > size / 100);
    assert.ok(Math.max(...turns) <= 100);
  }
});

test("a name can gain and lose sixty thousand records", () => {
  // With a copy for each record it would be two thousand million steps: half a minute of a thread.
  const nodes = createZoneNodes();
  const key = NAMES[0]!;
  const records = Array.from({ length: 60_000 }, (_, i) => ({
    ...recordOf("A", 1),
    rdata: Buffer.from([0, i >> 16, i >> 8, i]).toString("base64"),
  }));
  for (const record of records) nodes.add(key, record);
  nodes.settle();
  assert.equal(nodes.get(key)?.sets.get(1)?.rdatas.length, 60_000);
  for (const record of records) nodes.remove(key, record);
  nodes.settle();
  assert.ok(nodes.isEmpty);
});

test("a large change of a name with sixty thousand records copies some of them for each record that it changes", () => {
  const nodes = createZoneNodes();
  const key = NAMES[0]!;
  const records = Array.from({ length: 60_000 }, (_, i) => ({
    ...recordOf("A", 1),
    rdata: Buffer.from([0, i >> 16, i >> 8, i]).toString("base64"),
  }));
  for (const record of records) nodes.add(key, record);
  nodes.settle();
  const [last, ...others] = records.toReversed();
  const units = others.map((record) => nodes.stage("big", key, record, undefined));
  assert.ok(Math.max(...units) < 600, `${Math.max(...units)} for one record`);
  assert.ok(units.reduce((sum, some) => sum + some, 0) > 1.9 * records.length, "copied records count");
  assert.equal(nodes.get(key)?.sets.get(1)?.rdatas.length, 60_000);
  nodes.release("big");
  assert.deepEqual(
    nodes
      .get(key)
      ?.sets.get(1)
      ?.rdatas.map((rdata) => Buffer.from(rdata).toString("base64")),
    [last!.rdata],
  );
});

test("a delegation to two servers that one delta adds is a zone cut until the next delta removes it", () => {
  const nodes = createZoneNodes();
  const [key] = NAMES as [NameKey];
  const servers = [recordOf("NS", 1), recordOf("NS", 2)];
  for (const server of servers) nodes.add(key, server);
  nodes.settle();
  assert.equal(nodes.borders, 1);
  for (const server of servers) nodes.remove(key, server);
  nodes.settle();
  assert.equal(nodes.borders, 0);
});
