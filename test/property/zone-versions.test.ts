import assert from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { fc } from "../support/property.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { DnsRecord, DnsRecordBatch, DnsRecordWrite } from "#model/dns/dns-record.ts";
import type { DnsVersion } from "#model/dns/dns-version.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../support/control.ts";
import { storeTest } from "../support/store.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { VERSIONS_MAX } from "#control/dns/changes/version-log.ts";

const refused = (code: number, text: RegExp) => (error: unknown) =>
  error instanceof PlatformError && error.code === code && text.test(error.message);

const EVERYTHING = { page: 1, per_page: 10_000 } as const;
const A = { type: "A", name: "www", content: "192.0.2.1" } as const;

async function world(store: Store) {
  const fixture = await controlOver(store);
  const { control, account_id, call } = fixture;
  const { id, name } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone: PlannedZoneRef = { id, name, account_id, plan: "pro" };
  const create = (write: DnsRecordWrite, reason?: string): Promise<DnsRecord> =>
    control.dnsRecords.create({ ...call(), ...(reason === undefined ? {} : { reason }) }, zone, write);
  /** Everything there is to say of the records but when they were last written. */
  const records = async (): Promise<Record<string, object>> =>
    Object.fromEntries(
      (await control.dnsRecords.list(zone, {}, EVERYTHING)).items.map((record) => [record.id, { ...record, modified_on: "" }]),
    );
  const history = async (): Promise<readonly DnsVersion[]> => (await control.dnsVersions.list(zone, EVERYTHING)).items;
  const newest = async (): Promise<number> => (await history())[0]?.version ?? 0;
  const undo = (kind: "revert" | "restore", version: number) => control.dnsVersions[kind](call(), zone, version);
  return { ...fixture, zone, versions: control.dnsVersions, create, records, history, newest, undo };
}

storeTest("each write creates a version with its serial, time, author, reason and changes", async ({ store }) => {
  const { control, zone, call, create, versions, history } = await world(store);
  const record = await create(A, "launch");
  await control.dnsRecords.edit(call(), zone, record.id, { content: "192.0.2.2" });
  await control.dnsRecords.delete(call(), zone, record.id);
  const all = await history();
  const { serial } = await store.read.selectFrom("zones").select("serial").executeTakeFirstOrThrow();
  assert.deepEqual(
    all.map((version) => ({ ...version, created_on: "" })),
    (
      [
        [0, "delete", null, [0, 0, 1]],
        [1, "edit", null, [0, 1, 0]],
        [2, "create", "launch", [1, 0, 0]],
      ] as const
    ).map(([before, kind, reason, [created, updated, deleted]]) => ({
      version: serial - before,
      kind,
      created_on: "",
      actor: { type: "system", id: "test", name: "test" },
      reason,
      refers_to: null,
      created,
      updated,
      deleted,
    })),
  );
  assert.equal(all[2]?.created_on !== undefined && all[2].created_on >= record.created_on, true);
  const edit = await versions.get(zone, serial - 1);
  assert.deepEqual(
    edit.changes.map(({ action, id, before, after }) => [action, id, before?.content, after?.content]),
    [["update", record.id, "192.0.2.1", "192.0.2.2"]],
  );
  assert.deepEqual((await versions.get(zone, serial - 2)).changes, [{ action: "create", id: record.id, before: null, after: record }]);
});

storeTest("a diff shows the changes between any two versions, in either direction", async ({ store }) => {
  const { control, zone, call, create, versions, newest } = await world(store);
  const first = await create(A);
  const from = await newest();
  await control.dnsRecords.edit(call(), zone, first.id, { content: "192.0.2.2" });
  await control.dnsRecords.edit(call(), zone, first.id, { content: "192.0.2.3" });
  const passing = await create({ ...A, name: "passing" });
  await create({ ...A, name: "new" });
  await control.dnsRecords.delete(call(), zone, passing.id);
  const to = await newest();
  const diff = async (query: { from?: number; to?: number }): Promise<unknown[]> =>
    (await versions.diff(zone, query, EVERYTHING)).items.map(({ action, before, after }) => [
      action,
      (after ?? before)?.name,
      before?.content ?? null,
      after?.content ?? null,
    ]);
  assert.deepEqual(await diff({ from, to }), [
    ["create", "new.example.test", null, "192.0.2.1"],
    ["update", "www.example.test", "192.0.2.1", "192.0.2.3"],
  ]);
  assert.deepEqual(await diff({ from }), await diff({ from, to }));
  assert.deepEqual(await diff({ from: to, to: from }), [
    ["delete", "new.example.test", "192.0.2.1", null],
    ["update", "www.example.test", "192.0.2.3", "192.0.2.1"],
  ]);
  assert.deepEqual(await diff({ to: from }), [["create", "www.example.test", null, "192.0.2.1"]], "the version's own change");
  assert.deepEqual(await diff({ from: to, to }), []);
  const page = await versions.diff(zone, { from, to }, { page: 2, per_page: 1 });
  assert.deepEqual([page.items.length, page.items[0]?.after?.name, page.total_count], [1, "www.example.test", 2]);
  for (const query of [{ from: to + 1 }, { to: to + 1 }, { from, to: to + 1 }])
    await assert.rejects(diff(query), refused(81202, /no such/));
});

storeTest("an undo that cannot apply names the record and the reason, and changes nothing", async ({ store }) => {
  const { control, zone, call, create, records, newest, undo } = await world(store);
  const www = await create(A);
  const created = await newest();
  await control.dnsRecords.edit(call(), zone, www.id, { content: "192.0.2.2" });
  const edited = await newest();
  await control.dnsRecords.edit(call(), zone, www.id, { ttl: 600 });
  let before = await records();
  await assert.rejects(undo("revert", created), refused(81204, /www\.example\.test A .* was changed since/));
  await assert.rejects(undo("revert", edited), refused(81204, /was changed since/));
  assert.deepEqual(await records(), before);
  await control.dnsRecords.delete(call(), zone, www.id);
  const deleted = await newest();
  await assert.rejects(undo("revert", edited), refused(81204, /was deleted since/));
  await create({ type: "CNAME", name: "www", content: "elsewhere.test" });
  before = await records();
  const stays = { rev: await store.revision(), newest: await newest() };
  await assert.rejects(undo("revert", deleted), refused(81204, /www\.example\.test A cannot be restored\. A CNAME record/));
  assert.deepEqual([await records(), { rev: await store.revision(), newest: await newest() }], [before, stays]);
  await assert.rejects(undo("revert", 1), refused(81203, new RegExp(`oldest stored version is ${created}`)));
  await assert.rejects(undo("restore", stays.newest + 1), refused(81202, /no such/));
});

storeTest("an undo creates a version that names the undone one, and can be undone itself", async ({ store }) => {
  const { control, zone, call, create, records, history, newest, undo } = await world(store);
  const www = await create({ ...A, comment: "with a comment", tags: ["team:dns"], ttl: 600 });
  const before = await records();
  await control.dnsRecords.delete(call(), zone, www.id);
  const deleted = await newest();
  const undone = await undo("revert", deleted);
  assert.deepEqual([undone.kind, undone.refers_to, undone.created, undone.version], ["revert", deleted, 1, deleted + 1]);
  assert.deepEqual(await records(), before, "the record has its id, its times and everything else again");
  await undo("revert", undone.version);
  assert.deepEqual(await records(), {});
  const restored = await undo("restore", deleted - 1);
  assert.deepEqual([restored.kind, restored.refers_to], ["restore", deleted - 1]);
  assert.deepEqual(await records(), before);
  const count = (await history()).length;
  assert.deepEqual(await undo("restore", restored.version), restored, "nothing to do");
  assert.equal((await history()).length, count);
});

storeTest("undo swaps back records that swapped names", async ({ store }) => {
  const { control, zone, call, create, records, undo, newest } = await world(store);
  const one = await create({ type: "A", name: "one", content: "192.0.2.1" });
  const two = await create({ type: "CNAME", name: "two", content: "target.test" });
  const [before, version] = [await records(), await newest()];
  await control.dnsRecords.batch(call(), zone, {
    patches: [
      { id: one.id, name: "aside" },
      { id: two.id, name: "one" },
      { id: one.id, name: "two" },
    ],
  });
  await undo("revert", version + 1);
  assert.deepEqual(await records(), before);
  await undo("revert", version + 2);
  await undo("restore", version);
  assert.deepEqual(await records(), before);
});

storeTest("old versions are deleted, and a request for one says so", async ({ store }) => {
  const { control, zone, call, create, versions, history, newest } = await world(store);
  const { id } = await create(A);
  const first = await newest();
  for (let i = 0; i < VERSIONS_MAX + 100; i += 20) {
    const edits = Array.from({ length: 20 }, (_, j) =>
      control.dnsRecords.edit(call(), zone, id, { content: `192.0.2.${((i + j) % 249) + 1}` }),
    );
    await Promise.all(edits);
  }
  const kept = await versions.list(zone, { page: 1, per_page: 1 });
  assert.ok(kept.total_count >= VERSIONS_MAX && kept.total_count < VERSIONS_MAX + 100, String(kept.total_count));
  await assert.rejects(versions.diff(zone, { from: first }, EVERYTHING), refused(81203, /has been deleted.*oldest stored version is \d+/));
  await assert.rejects(versions.get(zone, first), refused(81203, /has been deleted/));
  const oldest = (await history()).at(-1)?.version ?? 0;
  assert.equal((await versions.diff(zone, { from: oldest }, EVERYTHING)).total_count, 1);
  await control.zones.delete(call(), zone.id);
  // Behind the zone, some a turn.
  await eventually(async () => (await store.read.selectFrom("dns_versions").select("version").execute()).length === 0);
});

/** Few names and values, so that writes meet. */
const write: fc.Arbitrary<DnsRecordWrite> = fc.record(
  {
    type: fc.constantFrom("A", "A", "AAAA", "CNAME", "TXT", "MX"),
    name: fc.constantFrom("@", "a", "b", "c"),
    content: fc.constantFrom("192.0.2.1", "192.0.2.2", "2001:db8::1", "target.test", '"text"'),
    priority: fc.constantFrom(10, 20),
    ttl: fc.constantFrom(1, 60, 600),
    proxied: fc.boolean(),
    comment: fc.constantFrom(null, "one", "two"),
    tags: fc.constantFrom([], ["x"], ["y:z"]),
  },
  { requiredKeys: ["type", "name", "content", "priority"] },
);
const patch = fc.oneof(
  write,
  fc.record({ content: fc.constantFrom("192.0.2.3", "other.test"), comment: fc.constantFrom(null, "three") }, { requiredKeys: [] }),
);
const pick = fc.nat(1000);
const step = fc.oneof(
  fc.record({ posts: fc.array(write, { minLength: 1, maxLength: 4 }) }),
  fc.record({ deletes: fc.uniqueArray(pick, { minLength: 1, maxLength: 2 }) }),
  fc.record({ patches: fc.array(fc.tuple(pick, patch), { minLength: 1, maxLength: 3 }) }),
  fc.record({ puts: fc.array(fc.tuple(pick, write), { minLength: 1, maxLength: 2 }) }),
  fc.record({
    deletes: fc.uniqueArray(pick, { maxLength: 1 }),
    posts: fc.array(write, { minLength: 1, maxLength: 3 }),
    patches: fc.array(fc.tuple(pick, patch), { maxLength: 1 }),
  }),
);
type Step = Partial<{ posts: DnsRecordWrite[]; deletes: number[]; patches: [number, DnsRecordWrite][]; puts: [number, DnsRecordWrite][] }>;

/** Positions become records that exist. */
function batchOf(plan: Step, ids: readonly string[]): DnsRecordBatch {
  const id = (n: number): string => ids[n % Math.max(1, ids.length)] ?? "0".repeat(32);
  return {
    posts: plan.posts ?? [],
    deletes: (plan.deletes ?? []).map((n) => ({ id: id(n) })),
    patches: (plan.patches ?? []).map(([n, body]) => ({ ...body, id: id(n) })),
    puts: (plan.puts ?? []).map(([n, body]) => ({ ...body, id: id(n) })),
  };
}

storeTest("property: undoing every version restores the zone exactly, and so does restoring any version", async ({ store, dialect }) => {
  const { control, zone, call, records, newest, undo } = await world(store);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), pick, async (plans, chosen) => {
      const states: { version: number; records: object }[] = [{ version: await newest(), records: await records() }];
      for (const plan of plans) {
        try {
          await control.dnsRecords.batch(call(), zone, batchOf(plan, Object.keys(await records()).sort()));
        } catch (error) {
          assert.ok(error instanceof PlatformError, String(error));
          assert.deepEqual(await records(), states.at(-1)?.records, "a refused batch leaves no trace");
          continue;
        }
        states.push({ version: await newest(), records: await records() });
      }
      for (let i = states.length - 1; i > 0; i--) {
        await undo("revert", states[i]?.version ?? 0);
        assert.deepEqual(await records(), states[i - 1]?.records);
      }
      const target = states[chosen % states.length];
      if (!target || target.version === 0) return;
      await undo("restore", target.version);
      assert.deepEqual(await records(), target.records);
    }),
    { numRuns: dialect === "sqlite" ? 60 : 10 },
  );
});
