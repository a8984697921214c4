import assert from "node:assert/strict";
import type { Control } from "#control/control.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { DnsRecordQuery, DnsRecordWrite } from "#model/dns/dns-record.ts";
import type { RecordEntry } from "#snapshot/entries.ts";
import type { Store } from "#store/database/store.ts";
import { type ControlFixture, controlOver } from "../../../../test/support/control.ts";
import { failing } from "../../../../test/support/failing.ts";
import { storeTest } from "../../../../test/support/store.ts";

interface Zoned extends ControlFixture {
  readonly zone: PlannedZoneRef;
  readonly records: Control["dnsRecords"];
  create(write: DnsRecordWrite): ReturnType<Control["dnsRecords"]["create"]>;
}

interface Options extends Pick<NonNullable<Parameters<typeof controlOver>[1]>, "records" | "recordsPerZoneMax"> {
  readonly plan?: string;
  readonly zone?: string;
}

async function zoned(store: Store, options: Options = {}): Promise<Zoned> {
  const { plan = "free", zone: zoneName = "example.test", ...rest } = options;
  const fixture = await controlOver(store, rest);
  const { control, account_id, call } = fixture;
  const { id, name } = await control.zones.create(call(), { name: zoneName, account: { id: account_id } });
  const zone = { id, name, account_id, plan };
  return { ...fixture, zone, records: control.dnsRecords, create: (write) => control.dnsRecords.create(call(), zone, write) };
}

const serialOf = async (store: Store): Promise<number> =>
  (await store.read.selectFrom("zones").select(["serial", "record_count"]).executeTakeFirstOrThrow()).serial;

storeTest("a record has exactly the fields of SPEC 2.2", async ({ store }) => {
  const { create, records, zone } = await zoned(store);
  const record = await create({ type: "A", name: "www", content: "192.0.2.1", proxied: true, ttl: 600 });
  assert.match(record.created_on, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  const { id, created_on, modified_on, ...rest } = record;
  assert.equal(created_on, modified_on);
  assert.deepEqual(rest, {
    name: "www.example.test",
    type: "A",
    content: "192.0.2.1",
    proxiable: true,
    proxied: true,
    ttl: 1,
    settings: {},
    meta: { auto_added: false, managed_by_apps: false, managed_by_svc_tunnel: false, source: "primary" },
    comment: null,
    tags: [],
  });
  assert.deepEqual(await records.get(zone, id), record);
  const srv = await create({ type: "SRV", name: "_sip._tcp", data: { priority: 1, weight: 2, port: 3, target: "sip.example.test" } });
  assert.deepEqual([srv.priority, srv.data, srv.proxiable], [1, { priority: 1, weight: 2, port: 3, target: "sip.example.test" }, false]);
});

storeTest("each write raises the serial by one and sends the record and the serial to the planes", async ({ store }) => {
  const { control, call, zone, records, create } = await zoned(store);
  const before = await serialOf(store);
  const record = await create({ type: "A", name: "www", content: "192.0.2.1" });
  await records.edit(call(), zone, record.id, { content: "192.0.2.2", ttl: 60 });
  const deletion = call();
  assert.deepEqual(await records.delete(deletion, zone, record.id), { id: record.id });
  assert.equal(await serialOf(store), before + 3);
  const deltas = (await store.changesSince((deletion.rev ?? 0) - 3, 10)) ?? [];
  assert.deepEqual(
    deltas.map(({ changes }) => changes.map(({ kind, value }) => [kind, value])),
    [
      [
        [
          "record",
          { zone_id: zone.id, name: "www.example.test", type: "A", ttl: 300, content: "192.0.2.1", rdata: "wAACAQ==", proxied: false },
        ],
        ["serial", { serial: before + 1 }],
      ],
      [
        [
          "record",
          { zone_id: zone.id, name: "www.example.test", type: "A", ttl: 60, content: "192.0.2.2", rdata: "wAACAg==", proxied: false },
        ],
        ["serial", { serial: before + 2 }],
      ],
      [
        ["record", null],
        ["serial", { serial: before + 3 }],
      ],
    ],
  );
  await assert.rejects(records.get(zone, record.id), failing(81044));
  await assert.rejects(records.edit(call(), zone, record.id, {}), failing(81044));
  await assert.rejects(records.delete(call(), zone, record.id), failing(81044));
  const other = await control.zones.create(call(), { name: "other.test", account: { id: zone.account_id } });
  const kept = await create({ type: "A", name: "kept", content: "192.0.2.1" });
  await assert.rejects(records.get({ ...zone, id: other.id }, kept.id), failing(81044), "a record is found through its own zone only");
});

storeTest("the planes get the settings of a record, with the write and in a full snapshot", async ({ store }) => {
  const { create, records, zone, call } = await zoned(store);
  const alias = await create({
    type: "CNAME",
    name: "www",
    content: "elsewhere.example",
    settings: { flatten_cname: true, ipv4_only: false },
  });
  assert.deepEqual(alias.settings, { flatten_cname: true });
  const entries = async () =>
    (await rebuildSnapshot(store)).ops.filter(({ kind }) => kind === "record").map(({ value }) => value as RecordEntry);
  const [written] = (await store.changesSince((await store.revision()) - 1, 10)) ?? [];
  assert.deepEqual((written?.changes[0]?.value as RecordEntry | undefined)?.settings, { flatten_cname: true });
  assert.deepEqual((await entries())[0]?.settings, { flatten_cname: true });
  await records.edit(call(), zone, alias.id, { settings: { flatten_cname: false } });
  assert.equal("settings" in ((await entries())[0] as RecordEntry), false);
});

storeTest("conflicts, duplicates and records above the quota are refused and change nothing", async ({ store }) => {
  const { create, records, zone, call } = await zoned(store, { recordsPerZoneMax: 3 });
  await create({ type: "A", name: "www", content: "192.0.2.1" });
  const alias = await create({ type: "CNAME", name: "alias", content: "www" });
  const before = { rev: await store.revision(), serial: await serialOf(store) };
  await assert.rejects(create({ type: "A", name: "WWW.example.test.", content: "192.0.2.1" }), failing(81058));
  await assert.rejects(create({ type: "CNAME", name: "www", content: "elsewhere.test" }), failing(81053));
  await assert.rejects(create({ type: "A", name: "alias", content: "192.0.2.1" }), failing(81054));
  await assert.rejects(records.edit(call(), zone, alias.id, { name: "www", content: "elsewhere.test" }), failing(81053));
  assert.deepEqual({ rev: await store.revision(), serial: await serialOf(store) }, before);
  await create({ type: "A", name: "third", content: "192.0.2.1" });
  await assert.rejects(create({ type: "A", name: "fourth", content: "192.0.2.1" }), failing(81045));
  await records.delete(call(), zone, alias.id);
  await create({ type: "A", name: "fourth", content: "192.0.2.1" });
});

storeTest("PATCH changes the given fields, and PUT replaces the record", async ({ store }) => {
  const { create, records, zone, call } = await zoned(store, { plan: "pro" });
  const { id } = await create({ type: "A", name: "www", content: "192.0.2.1", ttl: 120, comment: "first", tags: ["owner:me"] });
  const patched = await records.edit(call(), zone, id, { content: "192.0.2.9", comment: "second" });
  assert.deepEqual(
    [patched.name, patched.content, patched.ttl, patched.comment, patched.tags],
    ["www.example.test", "192.0.2.9", 120, "second", ["owner:me"]],
  );
  assert.ok(patched.comment_modified_on !== undefined && patched.comment_modified_on > (patched.tags_modified_on ?? ""));
  const replaced = await records.overwrite(call(), zone, id, { type: "CNAME", name: "www", content: "target.test" });
  assert.deepEqual(
    [replaced.id, replaced.type, replaced.content, replaced.ttl, replaced.comment, replaced.tags],
    [id, "CNAME", "target.test", 1, null, []],
  );
  await assert.rejects(records.overwrite(call(), zone, id, { content: "target.test" }), failing(9020));

  const srv = await create({ type: "SRV", name: "_sip._tcp", data: { priority: 1, weight: 2, port: 3, target: "a.test" } });
  assert.deepEqual((await records.edit(call(), zone, srv.id, { data: { priority: 4, weight: 2, port: 3, target: "b.test" } })).data, {
    priority: 4,
    weight: 2,
    port: 3,
    target: "b.test",
  });
  assert.equal((await records.edit(call(), zone, srv.id, { name: "_sips._tcp" })).name, "_sips._tcp.example.test");
  const mx = await create({ type: "MX", name: "@", content: "mail.test", priority: 10 });
  assert.deepEqual((await records.edit(call(), zone, mx.id, { content: "mx.test" })).priority, 10);
});

storeTest("every filter of SPEC 4.2 narrows the list", async ({ store }) => {
  const { create, records, zone } = await zoned(store, { plan: "pro" });
  const rows: readonly DnsRecordWrite[] = [
    { type: "A", name: "a", content: "192.0.2.1", proxied: true, comment: "Web server" },
    { type: "A", name: "ab", content: "192.0.2.2", ttl: 600, tags: ["team:Blue", "prod"] },
    { type: "TXT", name: "b", content: "Hello  World 100%", tags: ["team:green"] },
    { type: "MX", name: "@", content: "mail.test.", priority: 5, comment: "mail_in" },
  ];
  for (const row of rows) await create(row);
  const found = async (query: DnsRecordQuery): Promise<string> => {
    const { items, total_count } = await records.list(zone, query, { page: 1, per_page: 100 });
    assert.equal(items.length, total_count);
    return items.map(({ name }) => name.replace(/\.?example\.test$/, "") || "@").join(" ");
  };
  const expected: readonly (readonly [query: DnsRecordQuery, names: string])[] = [
    [{}, "a ab b @"],
    [{ name: "A.example.test." }, "a"],
    [{ "name.exact": "a.example.test" }, "a"],
    [{ "name.contains": "b.ex" }, "ab b"],
    [{ "name.startswith": "a" }, "a ab"],
    [{ "name.endswith": "b.example.test" }, "ab b"],
    [{ "name.contains": "_" }, ""],
    [{ name: ["a.example.test", "b.example.test"] }, "a b"],
    [{ "name.contains": ["a", "b.ex"] }, "ab b"],
    [{ type: ["A", "MX"] }, "a ab @"],
    [{ name: ["a.example.test", "b.example.test"], match: "any" }, "a b"],
    [{ content: '"hello world 100%"' }, "b"],
    [{ content: "hello world 100%" }, "b"],
    [{ "content.contains": "0%" }, "b"],
    [{ "content.startswith": "192.0.2." }, "a ab"],
    [{ "content.endswith": ".2" }, "ab"],
    [{ content: "mail.test" }, "@"],
    [{ content: ["192.0.2.1", "192.0.2.2"], match: "any" }, "a ab"],
    [{ type: "txt" }, "b"],
    [{ proxied: true }, "a"],
    [{ proxied: false }, "ab b @"],
    [{ type: "A", proxied: false }, "ab"],
    [{ type: "TXT", proxied: true, match: "any" }, "a b"],
    [{ comment: "web server" }, "a"],
    [{ "comment.contains": "_" }, "@"],
    [{ "comment.present": "" }, "a @"],
    [{ "comment.absent": "" }, "ab b"],
    [{ tag: "team:blue" }, "ab"],
    [{ "tag.present": "team" }, "ab b"],
    [{ "tag.absent": "prod" }, "a b @"],
    [{ "tag.startswith": "team:gr" }, "b"],
    [{ "tag.endswith": "team:e" }, "ab"],
    [{ "tag.contains": "team:re" }, "b"],
    [{ tag: ["prod", "team:green"] }, ""],
    [{ tag: ["prod", "team:green"], tag_match: "any" }, "ab b"],
    [{ search: "mail" }, "@"],
    [{ search: "hello 100%" }, "b"],
    [{ search: "blue" }, "ab"],
    [{ order: "type", direction: "desc" }, "b @ ab a"],
    [{ order: "ttl", direction: "desc", type: "A" }, "ab a"],
    [{ order: "content" }, "a ab b @"],
  ];
  for (const [query, names] of expected) assert.equal(await found(query), names, JSON.stringify(query));
});

storeTest("a page past the end is empty, and its totals are unchanged", async ({ store }) => {
  const { create, records, zone } = await zoned(store);
  for (let i = 0; i < 5; i++) await create({ type: "A", name: `h${i}`, content: `192.0.2.${i}` });
  for (const query of [{}, { type: "A" }]) {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => records.list(zone, query, { page, per_page: 2 })));
    assert.deepEqual(
      pages.map(({ items, total_count }) => [items.length, total_count]),
      [
        [2, 5],
        [2, 5],
        [1, 5],
        [0, 5],
      ],
    );
  }
});

storeTest("usage shows the number of records and the plan's limit", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { recordsPerZoneMax: 9, recordsPerFreeZoneMax: 2 });
  const { id, name } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const free = { id, name, account_id, plan: "free" };
  const create = (host: string, zone: PlannedZoneRef) =>
    control.dnsRecords.create(call(), zone, { type: "A", name: host, content: "192.0.2.1" });
  assert.deepEqual(await control.dnsRecords.usage(free), { record_quota: 2, record_usage: 0 });
  await create("a", free);
  await create("b", free);
  await assert.rejects(create("c", free), failing(81045));
  const paid = { ...free, plan: "pro" };
  const { id: third } = await create("c", paid);
  assert.deepEqual(await control.dnsRecords.usage(paid), { record_quota: 9, record_usage: 3 });
  await control.dnsRecords.delete(call(), paid, third);
  assert.deepEqual(await control.dnsRecords.usage(paid), { record_quota: 9, record_usage: 2 });
});

storeTest("TXT as sent: quotes do not make another record, and a repeated challenge changes nothing", async ({ store }) => {
  const { create, records, zone, call } = await zoned(store, { records: { txtContent: "as_sent" } });
  const challenge = { type: "TXT", name: "_acme-challenge", content: "LHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM", ttl: 120 };
  const made = await create(challenge);
  assert.equal(made.content, challenge.content);
  const before = await serialOf(store);
  for (const content of [
    challenge.content,
    `"${challenge.content}"`,
    `"${challenge.content.slice(0, 9)}" "${challenge.content.slice(9)}"`,
  ]) {
    await assert.rejects(create({ ...challenge, content }), failing(81058));
    const { items } = await records.list(zone, { type: "TXT", "content.exact": content }, { page: 1, per_page: 10 });
    assert.deepEqual(
      items.map(({ id }) => id),
      [made.id],
    );
  }
  assert.equal(await serialOf(store), before);
  // A second value of the same name, as a wildcard beside its domain needs, is another record.
  await create({ ...challenge, content: challenge.content.toLowerCase() });
  assert.equal((await records.edit(call(), zone, made.id, { ttl: 300 })).content, challenge.content);
  assert.equal((await records.edit(call(), zone, made.id, { content: '"quoted now"' })).content, '"quoted now"');
});

storeTest("existing records keep their form after the operator changes the setting", async ({ store }) => {
  const { records, zone, call, control, account_id } = await zoned(store, { records: { txtContent: "as_sent", names: "rfc1123" } });
  const text = await records.create(call(), zone, { type: "TXT", name: "t", content: "abc" });
  const host = await records.create(call(), zone, { type: "A", name: "3cx", content: "192.0.2.3", comment: "phone" });
  const strict = await controlOver(store);
  assert.deepEqual([strict.account_id, control === strict.control], [account_id, false]);
  const { dnsRecords: later, dnsVersions } = strict.control;
  assert.equal((await later.edit(call(), zone, text.id, { ttl: 300 })).content, "abc");
  assert.equal((await later.edit(call(), zone, host.id, { comment: null })).name, "3cx.example.test");
  assert.equal((await later.overwrite(call(), zone, host.id, { type: "A", name: "3CX", content: "192.0.2.4" })).content, "192.0.2.4");
  assert.equal(
    (await later.overwrite(call(), zone, host.id, { type: "A", name: "3cx.example.test.", content: "192.0.2.5", ttl: 60 })).ttl,
    60,
  );
  // The zone has the name, so another record of it is nothing new; another name is.
  await later.create(call(), zone, { type: "AAAA", name: "3cx", content: "2001:db8::3" });
  await assert.rejects(later.create(call(), zone, { type: "A", name: "4cx", content: "192.0.2.4" }), failing(9000));
  await assert.rejects(later.edit(call(), zone, host.id, { name: "5cx" }), failing(9000));
  // A record that is gone can be brought back as it was.
  await later.delete(call(), zone, text.id);
  const { items } = await dnsVersions.list(zone, { page: 1, per_page: 1 });
  await dnsVersions.revert(call(), zone, items[0]?.version ?? 0);
  assert.equal((await later.get(zone, text.id)).content, "abc");
});

storeTest("reverse zones allow numeric names", async ({ store }) => {
  const { create } = await zoned(store, { zone: "2.0.192.in-addr.arpa" });
  for (const name of ["1", "130", "255"])
    assert.equal(
      (await create({ type: "CNAME", name, content: `${name}.0-127.2.0.192.in-addr.arpa` })).name,
      `${name}.2.0.192.in-addr.arpa`,
    );
  await create({ type: "NS", name: "0/25", content: "ns.customer.example" });
  await create({ type: "CNAME", name: "7", content: "7.0/25.2.0.192.in-addr.arpa." });
});
