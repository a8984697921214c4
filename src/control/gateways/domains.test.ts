import assert from "node:assert/strict";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { insertAccount } from "#store/access/accounts.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { PLAIN_GATEWAY } from "../../../test/support/plain-gateway.ts";
import { storeTest } from "../../../test/support/store.ts";

const PAGE = { page: 1, per_page: 20 };

const domainsOf = async (store: Store) =>
  (await rebuildSnapshot(store)).ops.flatMap((op) => (op.kind === "gateway_domain" ? [[op.id, op.value]] : []));

async function anotherAccount(store: Store): Promise<string> {
  const id = newId();
  const account = { id, name: "other", type: "standard", settings: "{}", dns_settings: "{}", created_on: "2026-01-01T00:00:00.000000Z" };
  await store.write((unit) => insertAccount(unit.db, account));
  return id;
}

storeTest("a gateway serves a hostname of the account's own zone at once, in one spelling, until it is removed", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { gatewayDomains } = control;
  for (const id of ["gw", "other"]) await control.gateways.create(call(), account_id, { id, ...PLAIN_GATEWAY });
  const zone = await control.zones.create(call(), { name: "acme.example", account: { id: account_id } });
  const first = call();
  const made = await gatewayDomains.create(first, account_id, "gw", { domain: "AI.Acme.example.", zone_id: zone.id });
  assert.equal(first.notes, undefined);
  assert.deepEqual([made.hostname, made.gateway_id, made.status, made.min_tls], ["ai.acme.example", "gw", "active", "1.2"]);
  assert.equal(made.cname_target, zone.name_servers[0]);
  assert.equal(typeof made.created_at, "number");
  assert.deepEqual(await domainsOf(store), [["ai.acme.example", { account_id, gateway_id: "gw", zone_id: zone.id, min_tls: "1.2" }]]);
  const shown = await gatewayDomains.get(account_id, "gw", "AI.acme.example");
  assert.deepEqual([shown.hostname, shown.ssl_hostname_id], ["ai.acme.example", null]);
  await assert.rejects(gatewayDomains.get(account_id, "other", "ai.acme.example"), failing(7002));
  for (const id of ["gw", "other"])
    await assert.rejects(
      gatewayDomains.create(call(), account_id, id, { domain: "ai.acme.example", zone_id: zone.id }),
      failing(7001, "/domain"),
    );
  const second = { domain: "models.eu.acme.example", zone_id: zone.id, minTLS: "1.3" as const };
  const deeper = call();
  await gatewayDomains.create(deeper, account_id, "gw", second);
  assert.match(deeper.notes?.join() ?? "", /No certificate of the zone covers this name/);
  const names = async (query: object) => (await gatewayDomains.list(account_id, "gw", query, PAGE)).items.map(({ hostname }) => hostname);
  assert.deepEqual(await names({}), ["ai.acme.example", "models.eu.acme.example"]);
  assert.deepEqual([await names({ search: "MODELS" }), await names({ status: "blocked" })], [["models.eu.acme.example"], []]);
  assert.equal((await gatewayDomains.delete(call(), account_id, "gw", "ai.acme.example")).hostname, "ai.acme.example");
  await assert.rejects(gatewayDomains.delete(call(), account_id, "gw", "ai.acme.example"), failing(7002));
  const audit = await store.read.selectFrom("audit_log").select("action").where("action", "like", "gateway_domain%").execute();
  assert.deepEqual(audit.map(({ action }) => action).toSorted(), [
    "gateway_domain.create",
    "gateway_domain.create",
    "gateway_domain.delete",
  ]);
  await control.gateways.delete(call(), account_id, "gw");
  assert.deepEqual(await domainsOf(store), []);
});

storeTest(
  "hostnames outside the account's zones, or in a nearer zone of another, are refused, and deleting a zone removes its hostnames",
  async ({ store }) => {
    const { control, account_id, call } = await controlOver(store);
    const { gatewayDomains } = control;
    const stranger = await anotherAccount(store);
    for (const account of [account_id, stranger]) await control.gateways.create(call(), account, { id: "gw", ...PLAIN_GATEWAY });
    const zone = await control.zones.create(call(), { name: "acme.example", account: { id: account_id } });
    const nearer = await control.zones.create(call(), { name: "eu.acme.example", account: { id: stranger } });
    const create = (account: string, domain: string, zone_id: string) => gatewayDomains.create(call(), account, "gw", { domain, zone_id });
    for (const [account, domain, zone_id, source] of [
      [account_id, "ai.other.example", zone.id, "/domain"],
      [account_id, "notacme.example", zone.id, "/domain"],
      [account_id, "ai.eu.acme.example", zone.id, "/domain"],
      [account_id, "two words", zone.id, "/domain"],
      [account_id, "*.acme.example", zone.id, "/domain"],
      [stranger, "ai.acme.example", zone.id, "/zone_id"],
      [account_id, "ai.acme.example", "0".repeat(32), "/zone_id"],
    ] as const)
      await assert.rejects(create(account, domain, zone_id), failing(7001, source), `${domain} ${source}`);
    await assert.rejects(gatewayDomains.create(call(), account_id, "none", { domain: "ai.acme.example", zone_id: zone.id }), failing(7002));
    await create(account_id, "acme.example", zone.id);
    await create(stranger, "ai.eu.acme.example", nearer.id);
    await assert.rejects(gatewayDomains.get(account_id, "gw", "ai.eu.acme.example"), failing(7002));
    const write = call();
    await control.zones.delete(write, zone.id);
    const changes = (await store.changesSince((write.rev ?? 0) - 1, 1))?.flatMap((delta) => delta.changes) ?? [];
    assert.ok(changes.some(({ kind, id, value }) => kind === "gateway_domain" && id === "acme.example" && value === null));
    assert.deepEqual(
      (await domainsOf(store)).map(([name]) => name),
      ["ai.eu.acme.example"],
    );
  },
);
