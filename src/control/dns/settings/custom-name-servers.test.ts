import assert from "node:assert/strict";
import type { ZoneEntry } from "#snapshot/entries.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { failing } from "../../../../test/support/failing.ts";
import { storeTest } from "../../../../test/support/store.ts";

storeTest("custom name servers appear in the zones that use their set, and follow its changes", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const first = await control.customNameServers.create(call(), account_id, { ns_name: "NS1.one.example." });
  assert.deepEqual(first, { ns_name: "ns1.one.example", ns_set: 1, status: "pending", zone_tag: id, dns_records: [] });
  assert.deepEqual(await control.customNameServers.ofZone(id), { enabled: false, ns_set: 1 });
  await control.customNameServers.editZone(call(), id, { enabled: true });
  assert.deepEqual(await control.customNameServers.ofZone(id), { enabled: true, ns_set: 1 });
  assert.deepEqual((await control.dnsSettings.ofZone(id)).nameservers, { type: "custom.account", ns_set: 1 });
  assert.deepEqual((await control.zones.get(id)).name_servers, ["ns1.one.example"]);

  const second = call();
  await control.customNameServers.create(second, account_id, { ns_name: "ns2.elsewhere.test" });
  const [delta] = (await store.changesSince((second.rev ?? 0) - 1, 1)) ?? [];
  const entry = delta?.changes.find(({ kind }) => kind === "zone")?.value as ZoneEntry;
  assert.deepEqual(entry.name_servers, ["ns1.one.example", "ns2.elsewhere.test"]);

  await control.customNameServers.remove(call(), account_id, "ns1.one.example");
  assert.deepEqual((await control.zones.get(id)).name_servers, ["ns2.elsewhere.test"]);
  await assert.rejects(control.customNameServers.remove(call(), account_id, "ns2.elsewhere.test"), failing(10412));
  await control.customNameServers.editZone(call(), id, { enabled: false });
  assert.equal((await control.customNameServers.ofZone(id)).enabled, false);
  assert.deepEqual((await control.zones.get(id)).name_servers, ["ns1.selvedge.internal", "ns2.selvedge.internal"]);
  await control.customNameServers.remove(call(), account_id, "NS2.elsewhere.test");
  await assert.rejects(control.customNameServers.remove(call(), account_id, "ns2.elsewhere.test"), failing(10404));
});

storeTest("a name server is verified by its own addresses in the account's closest zone", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const account = { id: account_id };
  const { id, name } = await control.zones.create(call(), { name: "one.example", account });
  const zone = { id, name, account_id, plan: "free" };
  await control.customNameServers.create(call(), account_id, { ns_name: "a.ns.one.example", ns_set: 2 });
  await control.customNameServers.create(call(), account_id, { ns_name: "b.other.example", ns_set: 2 });
  await control.dnsRecords.create(call(), zone, { type: "A", name: "a.ns", content: "192.0.2.53", proxied: true });
  const shown = async () => (await control.customNameServers.list(account_id)).map(({ status, zone_tag }) => [status, zone_tag]);
  assert.deepEqual(await shown(), [
    ["pending", id],
    ["pending", ""],
  ]);
  await control.dnsRecords.create(call(), zone, { type: "AAAA", name: "b.ns", content: "2001:db8::1" });
  await control.customNameServers.create(call(), account_id, { ns_name: "b.ns.one.example", ns_set: 2 });
  const verified = (await control.customNameServers.list(account_id)).find(({ ns_name }) => ns_name === "b.ns.one.example");
  assert.deepEqual([verified?.status, verified?.dns_records], ["verified", [{ type: "AAAA", value: "2001:db8::1" }]]);
});

storeTest("invalid, duplicate and too many names are refused", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const add = (ns_name: string) => control.customNameServers.create(call(), account_id, { ns_name, ns_set: 3 });
  for (const bad of ["", "single", "a b.example", "192.0.2.1", "-a.example"]) await assert.rejects(add(bad), failing(10400), bad);
  for (let i = 1; i <= 5; i++) await add(`ns${i}.example.test`);
  await assert.rejects(add("ns1.example.test"), failing(10400));
  await assert.rejects(add("ns6.example.test"), failing(10400));
});
