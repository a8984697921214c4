import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import type { Op, StagedRecord } from "#snapshot/entries.ts";
import { largeDelta } from "#snapshot/large-delta.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { createSnapshotState } from "#snapshot/state.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { formatName, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { certificateOp, recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../../../test/support/zone-keys.ts";
import { answer } from "#nameserver/answer/answer.ts";
import type { AnswerSet } from "#nameserver/answer/answer-rrset.ts";
import { NAMES_STAGED_AT_ONCE } from "#snapshot/staging-slices.ts";
import { type Zones, createZones } from "./zones.ts";

const KEY = zoneKey("k");
const NAMES = [
  "example.com",
  "a.example.com",
  "b.a.example.com",
  "x.y.a.example.com",
  "*.example.com",
  "sub.example.com",
  "w.sub.example.com",
  "example.net",
];
const EDGE = { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [] };

const remove = (op: Op): Op => ({ ...op, value: null });

/** Any change that control can commit, and some that it should not. */
const opArbitrary: fc.Arbitrary<Op> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("z1", "z2", "z3"),
      fc.constantFrom("example.com", "sub.example.com", "example.net"),
      fc.constantFrom("active" as const, "pending" as const),
      fc.boolean(),
    )
    .map(([id, name, status, paused]) => zoneOp(id, name, { status, paused })),
  fc.tuple(fc.constantFrom("z1", "z2", "z3"), fc.nat(9)).map(([id, serial]) => serialOp(id, serial)),
  fc
    .tuple(fc.constantFrom("z1", "z2"), fc.boolean())
    .map(([id, on]): Op => (on ? dnssecOp(id, [KEY]) : { kind: "dnssec", id, value: null })),
  fc
    .tuple(
      fc.constantFrom("z1", "z2", "z3"),
      fc.constantFrom(...NAMES),
      fc.constantFrom(["A", "192.0.2.1"], ["A", "192.0.2.2"], ["TXT", '"t"'], ["NS", "w.sub.example.com"], ["CNAME", "a.example.com"]),
      fc.boolean(),
      fc.integer({ min: 60, max: 63 }),
    )
    .map(([zone, name, [type = "", content = ""], proxied, ttl]) => recordOp(zone, name, type, content, { proxied, ttl })),
);
const changeArbitrary = fc.tuple(opArbitrary, fc.boolean()).map(([op, put]) => (put ? op : remove(op)));

/** All data of every name that a client can see. */
function answers(zones: Zones): unknown {
  const shown = (sets: readonly AnswerSet[]): unknown =>
    sets.map((set) => [
      Buffer.from(set.name).toString("latin1"),
      set.type,
      set.ttl,
      set.rdatas.map((rdata) => Buffer.from(rdata).toString("hex")).sort(),
    ]);
  return NAMES.flatMap((name) => ["", "q.", "q.q."].map((prefix) => prefix + name)).flatMap((name) =>
    [1, 2, 5, 6, 16].map((type) => {
      const found = answer(zones, EDGE, { name: parseAbsoluteName(name), type });
      return [name, type, found.rcode, found.authoritative, shown(found.answers), shown(found.authorities), shown(found.glue)];
    }),
  );
}

/** The deltas with the records of one of them staged first and released later, as a large import has them. */
function withImport(deltas: readonly (readonly Op[])[], at: number, later: number): readonly (readonly Op[])[] {
  const records = new Map<string, StagedRecord>();
  for (const { kind, id, value } of deltas[at] ?? []) {
    if (kind !== "record" || value?.zone_id !== "z1") continue;
    const { zone_id: _, ...record } = value;
    records.set(id, { id, ...record });
  }
  const staged: Op = { kind: "staged", id: "i/0", value: { import_id: "i", zone_id: "z1", records: [...records.values()] } };
  const release: Op = { kind: "release", id: "i", value: { zone_id: "z1", records: records.size } };
  return deltas.flatMap((ops, i) => [i === at ? [staged] : ops, ...(i === Math.min(at + later, deltas.length - 1) ? [[release]] : [])]);
}

const deltasArbitrary = fc
  .tuple(fc.array(fc.array(changeArbitrary, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 25 }), fc.nat(24), fc.nat(3))
  .map(([deltas, at, later]) => withImport(deltas, at % deltas.length, later));

test("property: applying deltas gives the same zones as rebuilding from the snapshot", () => {
  fc.assert(
    fc.property(deltasArbitrary, (deltas) => {
      const replica = createMemoryReplica();
      const incremental = createZones();
      incremental.rebuild(replica.snapshot);
      replica.onApplied((ops) => {
        if (ops !== null) incremental.apply(ops);
      });
      for (const ops of deltas) replica.apply(ops);
      const rebuilt = createZones();
      rebuilt.rebuild(replica.snapshot);
      assert.deepEqual(answers(incremental), answers(rebuilt));
      assert.equal(incremental.zoneCount, rebuilt.zoneCount);
    }),
    { numRuns: 300 },
  );
});

test("property: a delta that is staged and released in slices gives the same zones as one applied at once, also beside an import", async () => {
  await fc.assert(
    fc.asyncProperty(deltasArbitrary, fc.infiniteStream(fc.boolean()), async (deltas, waits) => {
      const state = createSnapshotState();
      const zones = createZones();
      zones.rebuild(state);
      const apply = async (rev: number, ops: readonly Op[]): Promise<void> => {
        const { rest } = zones.apply(state.apply(rev, ops));
        if (waits.next().value) while (rest?.()) await new Promise(setImmediate);
      };
      for (const [i, delta] of deltas.entries()) {
        const ops = structuredClone(delta);
        const large = largeDelta(`delta-${i}`, ops, state, 0);
        if (large) await apply(i, large.staged);
        await apply(i + 1, large?.shown ?? ops);
      }
      const rebuilt = createZones();
      rebuilt.rebuild(state);
      assert.deepEqual(answers(zones), answers(rebuilt));
      for (let i = 0; i < 20; i++) await new Promise(setImmediate);
      assert.deepEqual(answers(zones), answers(rebuilt));
    }),
    { numRuns: 300 },
  );
});

test("each slice changes a limited number of names, for names of any depth, in an import, a batch or a removal", async () => {
  const deep = (i: number): string => `${Array.from({ length: 50 }, (_, level) => `l${(i + level) % 36}`).join(".")}.${i}.example.com`;
  const records = Array.from({ length: 100 }, (_, i) => recordOp("z1", deep(i), "A", "192.0.2.1"));
  const slices: number[] = [];
  const state = createSnapshotState();
  const zones = createZones([], (names) => slices.push(names));
  const apply = async (rev: number, ops: readonly Op[]): Promise<void> => {
    const { rest } = zones.apply(state.apply(rev, ops));
    while (rest?.()) await new Promise(setImmediate);
  };
  await apply(1, [zoneOp("z1", "example.com"), serialOp("z1", 1)]);
  const isThere = (): boolean => answer(zones, EDGE, { name: parseAbsoluteName(deep(99)), type: 1 }).rcode === 0;
  for (const [rev, ops] of [records, records.map(remove), records, [remove(zoneOp("z1", "example.com"))], records.map(remove)].entries()) {
    slices.length = 0;
    const large = largeDelta(`delta-${rev}`, ops, state);
    assert.equal(large !== undefined, ops.length > 1);
    if (large) await apply(rev, large.staged);
    await apply(rev + 1, large?.shown ?? ops);
    // 5,100 names, each of which a slice has to come to.
    if (large) assert.ok(slices.filter((names) => names >= NAMES_STAGED_AT_ONCE).length >= 16, `${slices}`);
    assert.ok(Math.max(...slices) <= NAMES_STAGED_AT_ONCE + 127, `${slices}`);
    if (rev < 3) assert.equal(isThere(), rev !== 1);
  }
});

test("one tick changes few names, also while one large change is merged and another one is staged", async () => {
  const changed: number[] = [];
  let tick = 0;
  const count = (names: number): void => {
    changed[tick] = (changed[tick] ?? 0) + names;
  };
  const observer = { wants: () => true, changed: () => undefined, named: (_id: string, names: readonly unknown[]) => count(names.length) };
  const state = createSnapshotState();
  const zones = createZones([observer], count);
  const staged = (id: string): Op => {
    const records = Array.from({ length: 1_000 }, (_, i) => {
      const { value, id: recordId } = recordOp("z1", `${id}${i}.a.example.com`, "A", "192.0.2.1") as Extract<Op, { kind: "record" }>;
      return { ...value!, id: recordId };
    });
    return { kind: "staged", id: `${id}/0`, value: { import_id: id, zone_id: "z1", records } };
  };
  const nextTick = async (): Promise<void> => {
    await new Promise(setImmediate);
    tick += 1;
  };
  const apply = async (rev: number, ops: readonly Op[]): Promise<void> => {
    const { rest } = zones.apply(state.apply(rev, ops));
    for (await nextTick(); rest?.();) await nextTick();
  };
  await apply(1, [zoneOp("z1", "example.com"), serialOp("z1", 1)]);
  await apply(2, [staged("one")]);
  await apply(3, [{ kind: "release", id: "one", value: { zone_id: "z1", records: 1_000 } }]);
  await apply(4, [staged("two")]);
  while (state.isFolding()) await nextTick();
  const total = changed.reduce((sum, names) => sum + (names ?? 0), 0);
  assert.ok(total >= 3_000, `${total} names`);
  assert.ok(Math.max(...changed.filter((names) => names !== undefined)) <= 128, `${changed}`);
});

test("a change lists the affected zones, and whether a name changed zones", () => {
  const replica = createMemoryReplica();
  const zones = createZones();
  const changes: { zones: string[]; namespace: boolean }[] = [];
  replica.onApplied((ops) => {
    const change = zones.apply(ops ?? []);
    changes.push({ zones: [...change.zones], namespace: change.namespace });
  });
  const key = keyOf(parseAbsoluteName("example.com"));
  replica.apply([zoneOp("z1", "example.com"), serialOp("z1", 1)]);
  replica.apply([recordOp("z1", "a.example.com", "A", "192.0.2.1"), serialOp("z1", 2)]);
  replica.apply([zoneOp("z1", "example.com", { paused: true })]);
  replica.apply([remove(zoneOp("z1", "example.com"))]);
  assert.deepEqual(changes, [
    { zones: [key], namespace: true },
    { zones: [key], namespace: false },
    { zones: [key], namespace: false },
    { zones: [key], namespace: true },
  ]);
  const other = { account_id: "b".repeat(32), status: "pending", proof: "none" } as const;
  replica.apply([zoneOp("z1", "example.com"), serialOp("z1", 3)]);
  changes.length = 0;
  replica.apply([zoneOp("z2", "example.com", other), recordOp("z2", "a.example.com", "A", "192.0.2.66")]);
  replica.apply([certificateOp("z2", "a.example.com"), remove(zoneOp("z2", "example.com"))]);
  const nothing = { zones: [], namespace: false };
  assert.deepEqual(changes, [nothing, nothing], "no answer is forgotten for a claim");
  replica.apply([zoneOp("z3", "example.net", other)]);
  replica.apply([zoneOp("z3", "example.net", { ...other, status: "active" })]);
  replica.apply([zoneOp("z3", "example.net", { ...other, status: "active", proof: "delegation" })]);
  assert.deepEqual(
    changes.slice(2).map(({ namespace }) => namespace),
    [false, true, true],
    "aliases may lead to it from now on",
  );
});

test("the index leaves out and counts entries that it cannot read", () => {
  const good = recordOp("z1", "a.example.com", "A", "192.0.2.1");
  const bad = recordOp("z1", "b.example.com", "A", "192.0.2.1", { rdata: "AAA=" });
  const unknown = recordOp("z1", "c.example.com", "A", "192.0.2.1", { type: "NOPE" });
  const zones = createZones();
  const noZone = zoneOp("z2", "a..b");
  zones.rebuild(createMemoryReplica([zoneOp("z1", "example.com"), good, bad, unknown, noZone]).snapshot);
  assert.equal(zones.rejected, 3);
  const rcode = (name: string): number => answer(zones, EDGE, { name: parseAbsoluteName(name), type: 1 }).rcode;
  assert.deepEqual([rcode("a.example.com"), rcode("b.example.com"), rcode("c.example.com")], [0, 3, 3]);
});

test("SPEC 2.5: with multi_provider the apex lists the name servers of other providers beside the zone's own", () => {
  const zones = createZones();
  const zone = zoneOp("z", "example.com", { multi_provider: true });
  const other = recordOp("z", "example.com", "NS", "ns.other.example");
  const again = recordOp("z", "example.com", "NS", "NS1.example.com");
  const names = (): string[] | undefined =>
    zones
      .nearestZone(keyOf(parseAbsoluteName("example.com")), null)
      ?.apex.get(TYPE.NS)
      ?.rdatas.map((rdata) => formatName(rdata));
  const { snapshot } = createMemoryReplica([zone, other, again]);
  zones.rebuild(snapshot);
  assert.deepEqual(names()?.sort(), ["ns.other.example", "ns1.example.com", "ns2.provider.example"]);
  zones.apply([{ ...other, value: null, before: snapshot.get("record", other.id) } as never]);
  assert.deepEqual(names()?.length, 2);
  zones.apply([{ ...other, before: undefined } as never]);
  assert.deepEqual(names()?.length, 3);
  zones.apply([{ ...zoneOp("z", "example.com"), before: zone.value } as never]);
  assert.deepEqual(names(), ["ns1.example.com", "ns2.provider.example"]);
});
