import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { isoMicros, systemClock } from "#kernel/clock.ts";
import { putRenewal } from "#store/certificates/certificate-orders.ts";
import {
  activeHostnames,
  customHostname,
  dueHostnames,
  insertCustomHostname,
  insertHostnameCertificate,
} from "#store/hostnames/custom-hostnames.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { createRemovals } from "./removals.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

storeTest("a new zone is active and has name servers, a serial and an encrypted certificate", async ({ store }) => {
  const { control, sealer, account_id, call } = await controlOver(store);
  const created = call();
  const zone = await control.zones.create(created, { name: "Shop.Example.", account: { id: account_id } });
  assert.deepEqual(
    [zone.name, zone.status, zone.type, zone.paused, zone.plan.legacy_id, zone.account.id],
    ["shop.example", "active", "full", false, "free", account_id],
  );
  assert.equal(zone.name_servers.length, 2);
  assert.deepEqual(await control.zones.get(zone.id), zone);

  assert.ok(created.rev !== null);
  const [delta] = (await store.changesSince(created.rev - 1, 1)) ?? [];
  assert.deepEqual(
    delta?.changes.map(({ kind }) => kind),
    ["zone", "serial", "certificate"],
  );
  const certificate = delta?.changes[2];
  const value = certificate?.value as { hosts: string[]; chain: string; private_key: string };
  assert.deepEqual(value.hosts, ["shop.example", "*.shop.example"]);
  assert.equal(new X509Certificate(value.chain).checkHost("www.shop.example"), "*.shop.example");
  assert.match(sealer.open(value.private_key, `certificate:${certificate?.id}`).toString(), /BEGIN PRIVATE KEY/);
});

storeTest("a zone name is unique, and a refused write leaves nothing", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const account = { id: account_id };
  await control.zones.create(call(), { name: "one.example", account });
  const before = await store.revision();
  const both = await Promise.allSettled([
    control.zones.create(call(), { name: "two.example", account }),
    control.zones.create(call(), { name: "two.example", account }),
  ]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  await assert.rejects(control.zones.create(call(), { name: "one.example", account }), failing(1061));
  await assert.rejects(control.zones.create(call(), { name: "co.uk", account }), failing(1049));
  await assert.rejects(control.zones.create(call(), { name: "three.example", account, type: "internal" }), failing(1098));
  await assert.rejects(control.zones.create(call(), { name: "three.example" }), failing(10400));
  assert.equal(await store.revision(), before + 1);
});

storeTest("a zone is edited, and deleting it deletes everything in it", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const edited = await control.zones.edit(call(), id, {
    paused: true,
    plan: { id: "enterprise" },
    vanity_name_servers: ["NS1.one.example"],
  });
  assert.deepEqual([edited.paused, edited.plan.legacy_id, edited.vanity_name_servers], [true, "enterprise", ["ns1.one.example"]]);
  await assert.rejects(control.zones.edit(call(), id, { plan: { id: "gold" } }), failing(10400));
  await assert.rejects(control.zones.edit(call(), id, { vanity_name_servers: ["a b"] }), failing(10400));
  assert.deepEqual(await control.zones.checkActivation(call(), id), { id });

  const zone = { id, name: "one.example", account_id, plan: "enterprise" };
  const record = await control.dnsRecords.create(call(), zone, { type: "A", name: "www", content: "192.0.2.1" });
  const ruleset = await control.rulesets.create(
    call(),
    { level: "zone", account_id, zone_id: id, plan: null, actor: call().actor },
    { kind: "zone", phase: "http_request_firewall_custom" },
  );
  const deletion = call();
  assert.deepEqual(await control.zones.delete(deletion, id), { id });
  const [delta] = (await store.changesSince((deletion.rev ?? 0) - 1, 1)) ?? [];
  assert.deepEqual(
    delta?.changes.map(({ kind, value }) => [kind, value]),
    ["ruleset", "certificate", "serial", "zone"].map((kind) => [kind, null]),
  );
  assert.equal(delta?.changes[0]?.id, ruleset.id);
  await control.removals.run(call());
  const [rest] = (await store.changesSince(deletion.rev ?? 0, 1)) ?? [];
  assert.deepEqual(rest?.changes, [{ kind: "record", id: record.id, value: null }]);
  for (const table of ["zones", "dns_records", "rulesets", "certificates"] as const)
    assert.deepEqual(await store.read.selectFrom(table).select("id").execute(), []);
  await assert.rejects(control.zones.get(id), failing(1001));
  await assert.rejects(control.dnsRecords.create(call(), zone, { type: "A", name: "late", content: "192.0.2.1" }), failing(1001));
});

storeTest("zones are listed by any or all of their filters, in order and by page", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  await insertOther(store.write);
  for (const name of ["b.example", "a.example", "c-d.test", "shop.test"])
    await control.zones.create(call(), { name, account: { id: account_id } });
  await control.zones.create(call(), { name: "other.test", account: { id: OTHER } });
  const names = async (query: Parameters<typeof control.zones.list>[1], page = { page: 1, per_page: 50 }) => {
    const found = await control.zones.list(call(), query, page);
    return [found.items.map(({ name }) => name), found.total_count];
  };
  assert.deepEqual(await names({}), [["a.example", "b.example", "c-d.test", "other.test", "shop.test"], 5]);
  assert.deepEqual(await names({}, { page: 2, per_page: 2 }), [["c-d.test", "other.test"], 5]);
  assert.deepEqual(await names({}, { page: 9, per_page: 2 }), [[], 5]);
  assert.deepEqual(await names({ name: "Shop.test" }), [["shop.test"], 1]);
  assert.deepEqual(await names({ name: "ends_with:.TEST", direction: "desc" }), [["shop.test", "other.test", "c-d.test"], 3]);
  assert.deepEqual(await names({ name: "contains:%" }), [[], 0]);
  assert.deepEqual(await names({ name: "not_equal:shop.test", "account.id": account_id }), [["a.example", "b.example", "c-d.test"], 3]);
  assert.deepEqual(await names({ "account.name": "contains:ther" }), [["other.test"], 1]);
  assert.deepEqual(await names({ name: "a.example", "account.id": OTHER, match: "any" }), [["a.example", "other.test"], 2]);
  assert.deepEqual(await names({ status: "pending" }), [[], 0]);
  assert.deepEqual(await names({ type: "full,partial", order: "account.name" }), [
    ["other.test", "a.example", "b.example", "c-d.test", "shop.test"],
    5,
  ]);
});

const OTHER = "0".repeat(32);

async function insertOther(write: Parameters<Parameters<typeof storeTest>[1]>[0]["store"]["write"]): Promise<void> {
  await write(({ db }) =>
    insertAccount(db, { id: OTHER, name: "Another", type: "standard", settings: "{}", created_on: isoMicros(systemClock.nowMicros()) }),
  );
}

storeTest("deleting a zone deletes all its records, however many", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "large.example", account: { id: account_id } });
  const zone = { id, name, account_id, plan: "enterprise" };
  const lines = Array.from({ length: 1500 }, (_, i) => `h${i} 300 A 192.0.2.${i % 7}`);
  await control.zoneFiles.import(call(), zone, lines.join("\n"), { proxied: false });
  const byName = await store.read.selectFrom("dns_records").select("id").orderBy("name").execute();
  const versions = async () => (await store.read.selectFrom("dns_versions").select("version").execute()).length;
  const deletion = call();
  await control.zones.delete(deletion, id);
  await assert.rejects(control.zones.get(id), failing(1001));
  // The same name at once, while what the first zone had is still being deleted.
  const again = await control.zones.create(call(), { name, account: { id: account_id } });
  const fresh = { ...zone, id: again.id };
  await control.dnsRecords.create(call(), fresh, { type: "A", name: "h1", content: "192.0.2.1" });
  assert.equal((await control.dnsRecords.list(fresh, {}, { page: 1, per_page: 100 })).total_count, 1);
  const { ops } = await rebuildSnapshot(store);
  assert.deepEqual(ops.filter((op) => op.kind === "record").length, 1, "what nobody sees is in no copy");

  await control.removals.run(call());
  const deltas = (await store.changesSince((deletion.rev ?? 0) - 1, 1000)) ?? [];
  const gone = deltas.map(({ changes }) =>
    changes.filter(({ kind, value }) => kind === "record" && value === null).map((change) => change.id),
  );
  assert.deepEqual(
    gone.flat(),
    byName.map((row) => row.id),
    "records of one unit share pages of the indexes",
  );
  assert.equal(gone[0]?.length, 0, "the zone goes before its records");
  assert.ok(Math.max(...gone.map((ids) => ids.length)) <= 100, "other writes wait for some records at most");
  assert.deepEqual(await store.read.selectFrom("dns_records").select("zone_id").execute(), [{ zone_id: again.id }]);
  assert.equal(await versions(), 1);
  assert.deepEqual(await store.read.selectFrom("removals").selectAll().execute(), []);
});

storeTest(
  "deleting a zone ends its custom hostnames, and deletes them some per transaction with certificates and orders",
  async ({ store }) => {
    const { control, account_id, call } = await controlOver(store);
    const { id, name } = await control.zones.create(call(), { name: "saas.example", account: { id: account_id } });
    const zone = { id, name, account_id, plan: "enterprise" };
    const first = await control.customHostnames.create(call(), zone, { hostname: "first.customer.test" });
    const count = 100;
    await store.write(async ({ db }) => {
      const row = (await customHostname(db, first.id)) ?? assert.fail("no row");
      const shared = { zone_id: id, hosts: "[]", chain: "", private_key: "", issuer: "", serial_number: "", signature: "" };
      for (let i = 0; i < count; i++) {
        const hostname = { ...row, id: `h${i}`, hostname: `h${i}.customer.test`, status: "active", next_check_ms: 0 };
        await insertCustomHostname(db, hostname);
        await insertHostnameCertificate(db, {
          ...{ ...shared, id: `c${i}`, custom_hostname_id: `h${i}`, is_custom: 0, not_before: "", not_after: "", created_on: "" },
        });
        const owner = { owner_kind: "custom_hostname", owner_id: `h${i}`, zone_id: id, hosts: "[]", method: "txt", requested: "" } as const;
        await putRenewal(db, { ...owner, authority: "", renewal_id: null, renew_ms: 0, advice_ms: 0, latest_ms: null });
      }
    });
    await control.removals.close();
    const deletion = call();
    await control.zones.delete(deletion, id);
    const rev = deletion.rev ?? 0;
    // The hostnames are no longer visible, and their names are free.
    assert.deepEqual(await activeHostnames(store.read, "h1.customer.test"), []);
    assert.deepEqual(await dueHostnames(store.read, 1, 10), []);
    const { ops } = await rebuildSnapshot(store);
    assert.deepEqual(
      ops.filter((op) => op.kind === "custom_hostname" || (op.kind === "certificate" && op.id.startsWith("c"))),
      [],
    );
    await createRemovals({ store }).run(call());
    const deltas = ((await store.changesSince(rev - 1, 1000)) ?? []).map(({ changes }) =>
      changes
        .filter(({ kind, value }) => value === null && (kind === "custom_hostname" || kind === "certificate"))
        .map((change) => change.id),
    );
    const ids = new Set(deltas.flat());
    for (let i = 0; i < count; i++) assert.ok(ids.has(`h${i}`) && ids.has(`c${i}`), `${i}`);
    assert.ok(Math.max(...deltas.map((changed) => changed.length)) <= 50, "other writes wait for some at most");
    for (const table of [
      "custom_hostnames",
      "custom_hostname_certificates",
      "certificate_renewals",
      "certificate_orders",
      "removals",
    ] as const)
      assert.deepEqual(await store.read.selectFrom(table).selectAll().execute(), [], table);
  },
);

storeTest("the next server deletes the data that an ended one left", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "large.example", account: { id: account_id } });
  await control.zoneFiles.import(call(), { id, name, account_id, plan: "enterprise" }, "a 300 A 192.0.2.1", { proxied: false });
  // Its program ends with the unit that takes the zone away.
  await control.removals.close();
  await control.zones.delete(call(), id);
  assert.equal((await store.read.selectFrom("removals").selectAll().execute()).length, 1);
  assert.equal(await createRemovals({ store }).run(call()), 1);
  assert.deepEqual(await store.read.selectFrom("dns_records").select("id").execute(), []);
  assert.deepEqual(await store.read.selectFrom("dns_versions").select("version").execute(), []);
});

storeTest(
  "a tenant cannot create a zone below or above another account's, and the operator's account can create one above",
  async ({ store }) => {
    const { control, account_id, call } = await controlOver(store, { ownership: { activation: "at_once" } });
    const other = "b".repeat(32);
    await store.write(({ db }) =>
      insertAccount(db, { id: other, name: "other", type: "standard", settings: "{}", created_on: "2099-01-01T00:00:00Z" }),
    );
    const create = (name: string, id = account_id) => control.zones.create(call(), { name, account: { id } });
    for (const name of ["lab.example.com", "example.com", "deep.lab.example.com", "lan", "internal"])
      assert.equal((await create(name)).status, "active", name);
    await assert.rejects(create("www.example.com", other), failing(1116));
    await assert.rejects(create("x.deep.lab.example.com", other), failing(1116));
    await assert.rejects(create("printer.lan", other), failing(1116));
    await create("sub.example.net", other);
    // The first account's word counts, another's does not.
    assert.equal((await create("example.net")).status, "active");
    await create("a.b.example.org");
    await assert.rejects(create("example.org", other), failing(1097));
    await assert.rejects(create("b.example.org", other), failing(1097));
    assert.equal((await create("bb.example.org", other)).status, "active");
  },
);

storeTest("a zone with the slash of RFC 2317 works without a certificate, because no name in it is a host", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { ownership: { activation: "at_once" } });
  const name = "0/25.2.0.192.in-addr.arpa";
  const { id, status } = await control.zones.create(call(), { name, account: { id: account_id } });
  assert.equal(status, "active");
  assert.deepEqual(await store.read.selectFrom("certificates").select("id").where("zone_id", "=", id).execute(), []);
});
