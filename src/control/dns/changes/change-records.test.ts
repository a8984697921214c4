import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { DnsRecord, DnsRecordBatch, DnsRecordWrite } from "#model/dns/dns-record.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { storeTest } from "../../../../test/support/store.ts";

const refused = (code: number, source?: string) => (error: unknown) =>
  error instanceof PlatformError && error.code === code && (source === undefined || error.source === source);

async function zoned(store: Store, options: { readonly plan?: string; readonly recordsPerZoneMax?: number } = {}) {
  const fixture = await controlOver(store, options.recordsPerZoneMax === undefined ? {} : { recordsPerZoneMax: options.recordsPerZoneMax });
  const { control, account_id, call } = fixture;
  const { id, name } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone: PlannedZoneRef = { id, name, account_id, plan: options.plan ?? "pro" };
  const batch = (body: DnsRecordBatch) => control.dnsRecords.batch(call(), zone, body);
  const create = (write: DnsRecordWrite): Promise<DnsRecord> => control.dnsRecords.create(call(), zone, write);
  const all = async (): Promise<string[]> => {
    const { items, more = [] } = await control.dnsRecords.list(zone, {}, { page: 1, per_page: 10_000 });
    const records = [...items];
    for await (const part of more) records.push(...part);
    return records.map(({ name: owner, type, content }) => `${owner.replace(/\.?example\.test$/, "")} ${type} ${content}`);
  };
  return { ...fixture, zone, batch, create, all };
}

storeTest("a batch deletes, patches, puts and posts in this order, as one revision, serial and version", async ({ store }) => {
  const { batch, create, all, control, zone } = await zoned(store);
  const gone = await create({ type: "A", name: "gone", content: "192.0.2.1" });
  const patched = await create({ type: "A", name: "patched", content: "192.0.2.2", comment: "kept" });
  const put = await create({ type: "A", name: "put", content: "192.0.2.3", comment: "lost" });
  const before = await store.revision();
  const done = await batch({
    posts: [
      { type: "CNAME", name: "gone", content: "elsewhere.test" },
      { type: "A", name: "new", content: "192.0.2.9" },
    ],
    puts: [{ id: put.id, type: "AAAA", name: "put", content: "2001:db8::3" }],
    patches: [
      { id: patched.id, content: "192.0.2.22" },
      { id: patched.id, ttl: 120 },
    ],
    deletes: [{ id: gone.id }],
  });
  assert.deepEqual(
    done.deletes.map(({ id }) => id),
    [gone.id],
  );
  assert.deepEqual(
    done.patches.map(({ id, content, ttl, comment }) => [id, content, ttl, comment]),
    [
      [patched.id, "192.0.2.22", 1, "kept"],
      [patched.id, "192.0.2.22", 120, "kept"],
    ],
  );
  assert.deepEqual(
    done.puts.map(({ id, type, comment }) => [id, type, comment]),
    [[put.id, "AAAA", null]],
  );
  assert.deepEqual(
    done.posts.map(({ name, type }) => [name, type]),
    [
      ["gone.example.test", "CNAME"],
      ["new.example.test", "A"],
    ],
  );
  assert.deepEqual((await all()).sort(), ["gone CNAME elsewhere.test", "new A 192.0.2.9", "patched A 192.0.2.22", "put AAAA 2001:db8::3"]);
  assert.equal(await store.revision(), before + 1, "planes get one delta");
  const [{ changes } = { changes: [] }] = (await store.changesSince(before, 10)) ?? [];
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ["record", "record", "record", "record", "record", "serial"],
  );
  const [version] = (await control.dnsVersions.list(zone, { page: 1, per_page: 1 })).items;
  assert.deepEqual([version?.kind, version?.created, version?.updated, version?.deleted], ["batch", 2, 2, 1]);
  assert.equal((await store.read.selectFrom("zones").select("record_count").executeTakeFirstOrThrow()).record_count, 4);
});

storeTest("a small change waits for one of the large ones that wait with it, not for all of them", async ({ store }) => {
  const { batch, create } = await zoned(store, { recordsPerZoneMax: 10_000 });
  const ended: string[] = [];
  const large = Array.from({ length: 12 }, async (_, at) => {
    const posts = Array.from({ length: 120 }, (_, i) => ({ type: "A" as const, name: `h${i}.of${at}`, content: "192.0.2.1" }));
    await batch({ posts });
    ended.push("large");
  });
  // All have been prepared, and wait for the database.
  while (ended.length === 0) await setImmediate();
  await create({ type: "A", name: "small", content: "192.0.2.1" });
  ended.push("small");
  await Promise.all(large);
  // It may have begun behind one that was running.
  assert.ok(ended.indexOf("small") <= 4, ended.join());
});

storeTest("the first error ends a batch, names its change, and nothing is applied", async ({ store }) => {
  const { batch, create, all } = await zoned(store, { recordsPerZoneMax: 3 });
  const a = await create({ type: "A", name: "a", content: "192.0.2.1" });
  const alias = await create({ type: "CNAME", name: "alias", content: "target.test" });
  const before = { rev: await store.revision(), records: await all() };
  const good = { type: "A", name: "good", content: "192.0.2.5" };
  const absent = "0".repeat(32);
  const rows: readonly (readonly [DnsRecordBatch, code: number, source: string])[] = [
    [{ deletes: [{ id: a.id }, { id: absent }] }, 81044, "/deletes/1/id"],
    [{ deletes: [{ id: a.id }, { id: a.id }] }, 81044, "/deletes/1/id"],
    [{ deletes: [{ id: a.id }], patches: [{ id: a.id, ttl: 60 }] }, 81044, "/patches/0"],
    [{ patches: [{ id: a.id, ttl: 5 }], posts: [good] }, 9021, "/patches/0/ttl"],
    [{ puts: [{ id: a.id, type: "A", name: "a" }] }, 9005, "/puts/0/content"],
    [{ puts: [{ id: a.id, name: "a", content: "192.0.2.1" }] }, 9020, "/puts/0/type"],
    [{ posts: [good, { type: "A", name: "b", content: "no" }, { type: "nonsense" }] }, 9005, "/posts/1/content"],
    [{ posts: [{ type: "A", name: "b", content: "no" }] }, 9005, "/posts/0/content"],
    [{ posts: [good, good] }, 81058, "/posts/1"],
    [{ posts: [good, { ...good, type: "CNAME", content: "x.test" }] }, 81053, "/posts/1"],
    [{ posts: [{ type: "A", name: "alias", content: "192.0.2.1" }], deletes: [{ id: a.id }] }, 81054, "/posts/0"],
    [{ patches: [{ id: alias.id, name: "a" }] }, 81053, "/patches/0"],
    [{ posts: [good, { type: "A", name: "more", content: "192.0.2.6" }, { type: "nonsense" }] }, 81045, "/posts/1"],
  ];
  for (const [body, code, source] of rows) await assert.rejects(batch(body), refused(code, source), JSON.stringify(body));
  assert.deepEqual({ rev: await store.revision(), records: await all() }, before);
  // A change that a later one would allow is checked in its turn.
  await batch({
    deletes: [{ id: alias.id }],
    patches: [{ id: a.id, name: "alias" }],
    posts: [{ type: "A", name: "a", content: "192.0.2.1" }],
  });
  assert.deepEqual((await all()).sort(), ["a A 192.0.2.1", "alias A 192.0.2.1"]);
});

storeTest("an empty batch changes nothing and creates no version", async ({ store }) => {
  const { batch, create, control, zone } = await zoned(store);
  await create({ type: "A", name: "a", content: "192.0.2.1" });
  const before = await store.revision();
  assert.deepEqual(await batch({ deletes: null, posts: [] }), { deletes: [], patches: [], puts: [], posts: [] });
  assert.equal(await store.revision(), before);
  assert.equal((await control.dnsVersions.list(zone, { page: 1, per_page: 10 })).total_count, 1);
});

storeTest("a batch of 3,500 changes is one version, and the plan limits its size", async ({ store }) => {
  const { batch, all, control, call, zone } = await zoned(store);
  const posts = Array.from({ length: 3500 }, (_, i) => ({ type: "A", name: `h${i}`, content: `10.0.${i >> 8}.${i & 255}` }));
  const made = (await batch({ posts })).posts;
  assert.deepEqual(
    made.map(({ name }) => name),
    posts.map(({ name }) => `${name}.example.test`),
  );
  assert.equal((await all()).length, 3500);
  await assert.rejects(batch({ posts, deletes: made.slice(0, 1) }), refused(81201));
  await assert.rejects(control.dnsRecords.batch(call(), { ...zone, plan: "free" }, { posts: posts.slice(0, 201) }), refused(81201));
  const [version] = (await control.dnsVersions.list(zone, { page: 1, per_page: 1 })).items;
  assert.equal(version?.created, 3500);
  const second = await control.dnsVersions.changes(zone, version?.version ?? 0, { page: 2, per_page: 300 });
  assert.deepEqual(
    second.items.map(({ id }) => id),
    made.slice(300, 600).map(({ id }) => id),
  );
  await control.dnsVersions.revert(call(), zone, version?.version ?? 0);
  assert.equal((await all()).length, 0);
});

storeTest("a batch changes only records of its own zone", async ({ store }) => {
  const { batch, create, control, call, account_id } = await zoned(store);
  const record = await create({ type: "A", name: "a", content: "192.0.2.1" });
  const { id, name } = await control.zones.create(call(), { name: "other.test", account: { id: account_id } });
  const other = { id, name, account_id, plan: "pro" };
  for (const body of [{ deletes: [{ id: record.id }] }, { patches: [{ id: record.id, ttl: 60 }] }] satisfies DnsRecordBatch[])
    await assert.rejects(control.dnsRecords.batch(call(), other, body), refused(81044));
  assert.equal((await batch({ patches: [{ id: record.id, ttl: 60 }] })).patches[0]?.ttl, 60);
});
