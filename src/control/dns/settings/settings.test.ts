import assert from "node:assert/strict";
import type { Call } from "#control/call.ts";
import type { ZoneEntry } from "#snapshot/entries.ts";
import type { Store } from "#store/database/store.ts";
import { type ControlFixture, controlOver } from "../../../../test/support/control.ts";
import { failing } from "../../../../test/support/failing.ts";
import { storeTest } from "../../../../test/support/store.ts";

const newZone = async ({ control, account_id, call }: ControlFixture, name: string, plan?: string): Promise<string> => {
  const { id } = await control.zones.create(call(), { name, account: { id: account_id } });
  if (plan) await control.zones.edit(call(), id, { plan: { id: plan } });
  return id;
};

/** The entry that the call sent to the planes. */
async function sent(store: Store, call: Call, zoneId: string): Promise<ZoneEntry> {
  const [delta] = (await store.changesSince((call.rev ?? 0) - 1, 1)) ?? [];
  assert.deepEqual(delta?.changes.map(({ kind }) => kind).slice(0, 2), ["zone", "serial"]);
  return delta?.changes.find(({ kind, id }) => kind === "zone" && id === zoneId)?.value as ZoneEntry;
}

storeTest("a zone's settings start with the defaults, change field by field, and reach the planes", async ({ store }) => {
  const fixture = await controlOver(store);
  const { control, call } = fixture;
  const id = await newZone(fixture, "one.example", "enterprise");
  assert.deepEqual(await control.dnsSettings.ofZone(id), {
    flatten_all_cnames: false,
    foundation_dns: false,
    internal_dns: {},
    multi_provider: false,
    ns_ttl: 86_400,
    secondary_overrides: false,
    soa: { mname: null, refresh: 10_000, retry: 2400, expire: 604_800, ttl: 3600, min_ttl: 1800 },
    zone_mode: "standard",
    nameservers: { type: "cloudflare.standard" },
  });
  const edit = call();
  const edited = await control.dnsSettings.editZone(edit, id, {
    flatten_all_cnames: true,
    ns_ttl: 300,
    soa: { mname: "Primary.example.", rname: "dns.admin@one.example", retry: 600 },
  });
  assert.deepEqual([edited.flatten_all_cnames, edited.ns_ttl, edited.multi_provider], [true, 300, false]);
  assert.deepEqual(await control.dnsSettings.ofZone(id), edited);
  const entry = await sent(store, edit, id);
  assert.deepEqual(entry.soa, {
    mname: "primary.example",
    rname: "dns\\.admin.one.example",
    refresh: 10_000,
    retry: 600,
    expire: 604_800,
    ttl: 3600,
    min_ttl: 1800,
  });
  assert.deepEqual([entry.ns_ttl, entry.flatten_all_cnames, entry.paused], [300, true, false]);

  const second = call();
  await control.dnsSettings.editZone(second, id, { multi_provider: true, zone_mode: "dns_only", soa: { mname: null } });
  const later = await sent(store, second, id);
  assert.deepEqual([later.soa.mname, later.soa.retry, later.multi_provider], ["ns1.selvedge.internal", 600, true]);
  assert.equal(later.paused, true, "DNS only means that nothing is proxied");
  assert.equal((await control.zones.get(id)).paused, false);
});

storeTest("SPEC 2.4: only Enterprise zones change SOA values, and a contradiction changes nothing", async ({ store }) => {
  const fixture = await controlOver(store);
  const { control, account_id, call } = fixture;
  const id = await newZone(fixture, "one.example");
  const before = await control.dnsSettings.ofZone(id);
  const revision = await store.revision();
  await assert.rejects(control.dnsSettings.editZone(call(), id, { ns_ttl: 60, soa: { refresh: 3600 } }), failing(10414, "/soa"));
  await assert.rejects(
    control.dnsSettings.editAccount(call(), account_id, { zone_defaults: { soa: { refresh: 3600 } } }),
    failing(10414, "/zone_defaults/soa"),
  );
  assert.equal(await store.revision(), revision);
  assert.deepEqual(await control.dnsSettings.editZone(call(), id, { soa: before.soa }), before, "what is sent back is no change");

  await control.access.accounts.update(call(), account_id, { name: "enterprise", type: "enterprise" });
  assert.equal((await control.dnsSettings.editZone(call(), id, { soa: { refresh: 3600 } })).soa.refresh, 3600);
  await assert.rejects(control.dnsSettings.editZone(call(), id, { soa: { retry: 3601 } }), failing(10400, "/soa/retry"));
  await assert.rejects(control.dnsSettings.editZone(call(), id, { soa: { rname: "no mailbox" } }), failing(10400, "/soa/rname"));
  await assert.rejects(
    control.dnsSettings.editAccount(call(), account_id, { zone_defaults: { soa: { refresh: 600 } } }),
    failing(10400, "/zone_defaults/soa/refresh"),
  );
  assert.equal((await control.dnsSettings.ofZone(id)).soa.retry, 2400);
});

storeTest("unsupported settings are refused instead of stored", async ({ store }) => {
  const fixture = await controlOver(store);
  const { control, account_id, call } = fixture;
  const id = await newZone(fixture, "one.example");
  const refused = async (body: Parameters<typeof control.dnsSettings.editZone>[2], source: string, code = 10415): Promise<void> => {
    await assert.rejects(control.dnsSettings.editZone(call(), id, body), failing(code, source));
  };
  await refused({ foundation_dns: true }, "/foundation_dns");
  await refused({ internal_dns: { reference_zone_id: id } }, "/internal_dns/reference_zone_id");
  await refused({ zone_mode: "cdn_only" }, "/zone_mode");
  await refused({ nameservers: { type: "cloudflare.advanced" } }, "/nameservers/type");
  await refused({ nameservers: { type: "custom.tenant" } }, "/nameservers/type");
  await refused({ nameservers: { type: "custom.account" } }, "/nameservers", 10400);
  await refused({ nameservers: { type: "custom.zone" } }, "/nameservers/type", 10400);
  await assert.rejects(
    control.dnsSettings.editAccount(call(), account_id, { zone_defaults: { foundation_dns: true } }),
    failing(10415, "/zone_defaults/foundation_dns"),
  );
  assert.equal((await control.dnsSettings.editZone(call(), id, { foundation_dns: false, internal_dns: {} })).foundation_dns, false);
  await assert.rejects(control.dnsSettings.ofZone("0".repeat(32)), failing(1001));
  await assert.rejects(control.dnsSettings.editZone(call(), "0".repeat(32), {}), failing(1001));
});

storeTest("SPEC 2.5: new zones start with their account's defaults, and existing zones do not change", async ({ store }) => {
  const fixture = await controlOver(store);
  const { control, account_id, call } = fixture;
  const old = await newZone(fixture, "old.example");
  await control.access.accounts.update(call(), account_id, { name: "enterprise", type: "enterprise" });
  for (const type of ["cloudflare.standard", "cloudflare.standard.random", "custom.account", "custom.tenant"] as const) {
    const shown = await control.dnsSettings.editAccount(call(), account_id, { zone_defaults: { nameservers: { type } } });
    assert.deepEqual(shown.zone_defaults.nameservers, { type });
  }
  const edited = await control.dnsSettings.editAccount(call(), account_id, {
    zone_defaults: { flatten_all_cnames: true, ns_ttl: 7200, soa: { rname: "dns@account.example", min_ttl: 60 } },
  });
  assert.deepEqual(await control.dnsSettings.ofAccount(account_id), edited);
  const fresh = await newZone(fixture, "new.example");
  const settings = await control.dnsSettings.ofZone(fresh);
  assert.deepEqual(
    [settings.flatten_all_cnames, settings.ns_ttl, settings.soa.rname, settings.soa.min_ttl, settings.nameservers.type],
    [true, 7200, "dns.account.example", 60, "cloudflare.standard"],
  );
  assert.equal((await control.dnsSettings.ofZone(old)).ns_ttl, 86_400);
});

storeTest("an account can turn proxying off for all its zones at once", async ({ store }) => {
  const fixture = await controlOver(store);
  const { control, account_id, call } = fixture;
  const ids = [await newZone(fixture, "one.example"), await newZone(fixture, "two.example")];
  for (const enforce_dns_only of [true, false]) {
    const edit = call();
    await control.dnsSettings.editAccount(edit, account_id, { enforce_dns_only });
    for (const id of ids) assert.equal((await sent(store, edit, id)).paused, enforce_dns_only);
    const made = call();
    const { id } = await control.zones.create(made, { name: `${enforce_dns_only}.example`, account: { id: account_id } });
    assert.equal((await sent(store, made, id)).paused, enforce_dns_only);
  }
});

storeTest("concurrent changes of one zone's settings are all stored", async ({ store, open }) => {
  const fixture = await controlOver(store);
  const other = await controlOver(await open());
  const { control, call } = fixture;
  const id = await newZone(fixture, "one.example");
  await Promise.all([
    control.dnsSettings.editZone(call(), id, { ns_ttl: 300 }),
    other.control.dnsSettings.editZone(other.call(), id, { flatten_all_cnames: true }),
    control.dnsSettings.editZone(call(), id, { multi_provider: true }),
    other.control.zones.edit(other.call(), id, { paused: true }),
    control.dnsSettings.editZone(call(), id, { secondary_overrides: true }),
  ]);
  const { ns_ttl, flatten_all_cnames, multi_provider, secondary_overrides } = await control.dnsSettings.ofZone(id);
  assert.deepEqual([ns_ttl, flatten_all_cnames, multi_provider, secondary_overrides], [300, true, true, true]);
  assert.equal((await control.zones.get(id)).paused, true);
});
