import assert from "node:assert/strict";
import { test } from "node:test";
import { countedWork } from "../../../test/support/counted-work.ts";
import { fc } from "../../../test/support/property.ts";
import type { RecordEntry } from "#snapshot/entries.ts";
import { createZoneNames } from "./zone-names.ts";

const ORIGIN = "z.test";
const NAMES = ["z.test", "a.z.test", "b.a.z.test", "c.b.a.z.test", "*.a.z.test", "*.z.test", "d.z.test", "e.d.z.test"];
const ASKED = [...NAMES, "x.z.test", "x.a.z.test", "x.b.a.z.test", "y.x.d.z.test"];

const record = (name: string, type: string): RecordEntry => ({
  zone_id: "z",
  name,
  type,
  ttl: 60,
  content: "192.0.2.1",
  rdata: "",
  proxied: true,
});

/** The expected answer by RFC 4592, computed slowly: a name exists if it or a name below it has a record. */
function expected(records: readonly RecordEntry[], name: string): readonly RecordEntry[] {
  const exists = (at: string): boolean => at === ORIGIN || records.some((one) => one.name === at || one.name.endsWith(`.${at}`));
  const at = (owner: string): readonly RecordEntry[] =>
    records.filter((one) => one.name === owner && ["A", "AAAA", "CNAME"].includes(one.type));
  if (exists(name)) return at(name);
  let encloser = name;
  do encloser = encloser.slice(encloser.indexOf(".") + 1);
  while (!exists(encloser));
  return at(`*.${encloser}`);
}

test("property: after any changes, names and wildcards have the address records of RFC 4592", () => {
  const step = fc.record({ name: fc.constantFrom(...NAMES), type: fc.constantFrom("A", "AAAA", "TXT"), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const names = createZoneNames(ORIGIN);
      const present: RecordEntry[] = [];
      for (const { name, type, remove } of steps) {
        const at = remove ? present.findIndex((one) => one.name === name) : -1;
        if (at === -1) {
          const added = record(name, type);
          present.push(added);
          names.add(added);
        } else names.remove(present.splice(at, 1)[0]!);
        for (const asked of ASKED) assert.deepEqual(new Set(names.addressRecords(asked)), new Set(expected(present, asked)), asked);
      }
    }),
    { numRuns: 500 },
  );
});

test("property: a staged change becomes visible at once when it is released, whatever else changes", async () => {
  const step = fc.record({
    do: fc.constantFrom(
      "add" as const,
      "remove" as const,
      "stage" as const,
      "stage" as const,
      "unstage" as const,
      "batch" as const,
      "release" as const,
      "turn" as const,
    ),
    name: fc.constantFrom(...NAMES),
    type: fc.constantFrom("A", "TXT"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
      const names = createZoneNames(ORIGIN, 1);
      const present = new Set<RecordEntry>();
      let staged: { readonly id: string; readonly comes: Set<RecordEntry>; readonly goes: Set<RecordEntry> } | null = null;
      let number = 0;
      for (const { do: what, name, type } of steps) {
        // As in control: only a large change itself may touch its records before its release.
        const one = [...present].find((other) => other.name === name && staged?.goes.has(other) !== true);
        if (what === "add") {
          const added = record(name, type);
          present.add(added);
          names.add(added);
        } else if (what === "remove" && one) {
          present.delete(one);
          names.remove(one);
        } else if (what === "batch") {
          // A delta that is staged and released before anything else, below other staged changes.
          const id = `next ${number++}`;
          const comes = record(name, type);
          names.stage(id, one, comes, true);
          names.release(id);
          if (one) present.delete(one);
          present.add(comes);
        } else if (what === "stage" || what === "unstage") {
          staged ??= { id: String(number++), comes: new Set(), goes: new Set() };
          const comes = what === "stage" ? record(name, type) : null;
          if (comes) staged.comes.add(comes);
          else if (one) staged.goes.add(one);
          names.stage(staged.id, comes ? undefined : one, comes);
        } else if (what === "release" && staged) {
          names.release(staged.id);
          for (const gone of staged.goes) present.delete(gone);
          for (const come of staged.comes) present.add(come);
          staged = null;
        } else if (what === "turn") await new Promise(setImmediate);
        for (const asked of ASKED) assert.deepEqual(new Set(names.addressRecords(asked)), new Set(expected([...present], asked)), asked);
      }
    }),
    { numRuns: 500 },
  );
});

test("the cost of a change depends on the names that it adds and removes, and not on the levels above them", () => {
  const deep = `${Array.from({ length: 100 }, () => "a").join(".")}.${ORIGIN}`;
  const names = createZoneNames(ORIGIN);
  const records = Array.from({ length: 100 }, (_, i) => record(`n${i}.${deep}`, "A"));
  const [first, second, ...others] = records;
  names.add(first!);
  names.add(second!);
  for (const one of others) assert.ok(countedWork(() => names.add(one)) <= 20);
  for (const one of others) assert.ok(countedWork(() => names.remove(one)) <= 20);
  assert.equal(names.stage("large", undefined, others[0]!), 1 + 1, "itself and the name above, which has one more");
  assert.ok(countedWork(() => names.add(others[1]!)) <= 30, "also beside a large change");
  names.release("large");
  assert.ok(countedWork(() => names.add(others[2]!)) <= 30, "also while it is folded");
  names.remove(first!);
  names.remove(second!);
  for (const one of others.slice(1, 3)) names.remove(one);
  assert.deepEqual(names.addressRecords(others[0]!.name), [others[0]]);
});

test("a name can gain and lose sixty thousand addresses", () => {
  const names = createZoneNames(ORIGIN);
  const records = Array.from({ length: 60_000 }, () => record("a.z.test", "A"));
  for (const one of records) names.add(one);
  assert.equal(names.addressRecords("a.z.test").length, 60_000);
  for (const one of records) names.remove(one);
  assert.deepEqual(names.addressRecords("a.z.test"), []);
});
