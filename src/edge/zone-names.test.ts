import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
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

/** The same by RFC 4592, slowly: a name exists where it or one below it has a record. */
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

test("whatever comes and goes, names and wildcards have the address records that RFC 4592 gives them", () => {
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
