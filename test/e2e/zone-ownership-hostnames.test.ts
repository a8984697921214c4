import assert from "node:assert/strict";
import { createHostingZoneOf } from "#control/certificates/hosting-zone.ts";
import { createHostnameDns } from "#control/certificates/hostname-dns.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { CustomHostname } from "#model/hostnames/custom-hostname.ts";
import type { Store } from "#store/database/store.ts";
import { eventually } from "../support/eventually.ts";
import { storeTest } from "../support/store.ts";
import { PROVED, startTwoAccounts, type TwoAccounts, type ZoneState } from "../support/two-account-planes.ts";
import { EDGE_ADDRESS, OF_A, OF_B } from "../support/two-planes.ts";

// Effects of another account's zones and hostnames on a custom hostname: the numbered scenarios of zone ownership.

const DV = { method: "http", type: "dv" } as const;
const CLAIMS: readonly ZoneState[] = [
  { status: "pending", proof: "none" },
  { status: "active", proof: "none" },
];
const HOUR_MS = 3_600_000;

interface Service {
  readonly zone: PlannedZoneRef;
  create(hostname: string, more?: object): Promise<CustomHostname>;
  /** Until it has got so far: on a busy machine a look takes longer than the answer waits. */
  createActive(hostname: string, more?: object): Promise<CustomHostname>;
  edit(made: CustomHostname): Promise<CustomHostname>;
  show(made: CustomHostname): Promise<CustomHostname>;
  record(zone: PlannedZoneRef, type: string, name: string, content: string, proxied?: boolean): Promise<{ id: string }>;
}

/** A zone of the account with an origin for hostnames. */
async function serviceOf(
  world: TwoAccounts,
  accountId: string,
  name: string,
  address: string,
  state: ZoneState = PROVED,
): Promise<Service> {
  const { control, call } = world;
  const zone = await world.zone(accountId, name, state);
  const record: Service["record"] = (at, type, label, content, proxied = false) =>
    control.dnsRecords.create(call(), at, { type, name: label, content, proxied } as never);
  await record(zone, "A", "origin", address, true);
  await control.fallbackOrigins.put(call(), zone, { origin: `origin.${name}` });
  const create: Service["create"] = (hostname, more) => control.customHostnames.create(call(), zone, { hostname, ssl: { ...DV, ...more } });
  return {
    zone,
    record,
    create,
    createActive: async (hostname, more) => activeInTheEnd(world, zone, await create(hostname, more)),
    edit: (made) => control.customHostnames.edit(call(), zone, made.id, { ssl: DV }),
    show: (made) => control.customHostnames.get(zone, made.id),
  };
}

async function activeInTheEnd({ control, call }: TwoAccounts, zone: PlannedZoneRef, made: CustomHostname): Promise<CustomHostname> {
  await eventually(async () => {
    const { status } = await control.customHostnames.get(zone, made.id);
    if (status === "pending") await control.hostnameChecks.check(call(), made.id);
    return status !== "pending";
  });
  const shown = await control.customHostnames.get(zone, made.id);
  assert.notEqual(shown.status, "moved");
  return shown;
}

const scenario = (name: string, body: (world: TwoAccounts) => Promise<void>, worldZones: readonly string[] = ["c.test", "d.test"]): void =>
  storeTest(name, async ({ store }: { readonly store: Store }) => {
    const world = await startTwoAccounts(store, worldZones);
    try {
      await body(world);
    } finally {
      await world.close();
    }
  });

const checkLater = async ({ control, call, clock }: TwoAccounts): Promise<void> => {
  for (let look = 0; look < 3; look++) {
    clock.advance(HOUR_MS);
    await control.hostnameChecks.checkDue(call(), 50);
  }
};

scenario("19: a zone of B's with the name of A's hostname is no witness for B, nor against A", async (world) => {
  const ours = await serviceOf(world, world.a, "a.test", OF_A);
  world.elsewhere("www.c.test", "CNAME", "customers.a.test.");
  const made = await ours.createActive("www.c.test");
  const theirs = await serviceOf(world, world.b, "b.test", OF_B);
  const squatted = await world.zone(world.b, "c.test", CLAIMS[0]);
  await theirs.record(squatted, "CNAME", "www", "customers.b.test");
  for (const claim of CLAIMS) {
    await world.setState(squatted.id, claim);
    const wanted = await theirs.create("www.c.test");
    assert.equal(wanted.status, "pending", claim.status);
    await checkLater(world);
    assert.deepEqual([(await ours.show(made)).status, (await theirs.show(wanted)).status], ["active", "pending"]);
    await world.sync();
    assert.equal(await world.planes.get("www.c.test"), `200 ${OF_A} for www.c.test`);
    await world.control.customHostnames.remove(world.call(), theirs.zone, wanted.id);
  }
});

scenario("a zone that B made up for the target of A's alias validates nothing, whether it waits or is active", async (world) => {
  const site = await world.zone(world.a, "a.test");
  await world.control.dnsRecords.create(world.call(), site, { type: "CNAME", name: "www", content: "app.p.test" } as never);
  for (const claim of CLAIMS) {
    const theirs = await serviceOf(world, world.b, "p.test", OF_B, claim);
    const wanted = await theirs.create("www.a.test");
    assert.equal(wanted.status, "pending", claim.status);
    assert.match(wanted.verification_errors?.[0] ?? "", claim.status === "active" ? /ownership of this zone is not proved/ : /not active/);
    await world.control.zones.delete(world.call(), theirs.zone.id);
  }
  const proved = await serviceOf(world, world.b, "p.test", OF_B);
  await proved.createActive("www.a.test");
});

scenario("23: the edge's address validates nothing for others than trusted accounts, and nobody in another's zone", async (world) => {
  const theirs = await serviceOf(world, world.b, "b.test", OF_B);
  const ours = await serviceOf(world, world.a, "a.test", OF_A);
  const partial = await world.zone(world.a, "c.test");
  await world.store.write(({ db }) =>
    db
      .updateTable("zones")
      .set({ type: "partial" })
      .where("id", "=", partial.id)
      .execute()
      .then(() => undefined),
  );
  for (const name of ["www.c.test", "apex.d.test"]) world.elsewhere(name, "A", EDGE_ADDRESS);
  assert.equal((await theirs.create("www.c.test")).status, "pending");
  assert.equal((await theirs.create("apex.d.test")).status, "pending");
  await ours.createActive("apex.d.test");
  await world.setState(partial.id, { status: "active", proof: "txt" });
  await world.store.write(({ db }) =>
    db
      .updateTable("zones")
      .set({ account_id: world.b })
      .where("id", "=", partial.id)
      .execute()
      .then(() => undefined),
  );
  assert.equal((await ours.create("www.c.test")).status, "pending", "it is another account's name now");
});

scenario("an account that had a name by its address before this rule keeps it for as long as the address is there", async (world) => {
  const theirs = await serviceOf(world, world.b, "b.test", OF_B);
  world.elsewhere("apex.d.test", "A", EDGE_ADDRESS);
  const made = await theirs.create("apex.d.test");
  await world.store.write(({ db }) =>
    db
      .updateTable("custom_hostnames")
      .set({ status: "active", next_check_ms: 0 })
      .where("id", "=", made.id)
      .execute()
      .then(() => undefined),
  );
  await checkLater(world);
  assert.equal((await theirs.show(made)).status, "active");
  world.noMore("apex.d.test", "A", EDGE_ADDRESS);
  await checkLater(world);
  assert.equal((await theirs.show(made)).status, "moved");
});

scenario("24 and 25: A gives a name to B's service by a CNAME and takes it back by dropping it", async (world) => {
  const { control, call } = world;
  const theirs = await serviceOf(world, world.b, "b.test", OF_B);
  const site = await world.zone(world.a, "a.test");
  const alias = await theirs.record(site, "CNAME", "www", "s.b.test");
  const made = await theirs.createActive("www.a.test");
  await world.sync();
  assert.equal(await world.planes.get("www.a.test"), `200 ${OF_B} for www.a.test`);
  await control.dnsRecords.delete(call(), site, alias.id);
  await theirs.record(site, "A", "www", OF_A, true);
  await control.hostnameChecks.checkDue(call(), 50);
  assert.equal((await theirs.show(made)).status, "moved", "the zone's change is seen by the next round of checks");
  await world.sync();
  assert.equal(await world.planes.get("www.a.test"), `200 ${OF_A} for www.a.test`);
});

scenario("26: who lost a name gets another token, so that an old TXT record gives it back to nobody", async (world) => {
  const ours = await serviceOf(world, world.a, "a.test", OF_A);
  const theirs = await serviceOf(world, world.b, "b.test", OF_B);
  const first = await theirs.create("www.c.test");
  const before = first.ownership_verification?.value ?? "";
  world.elsewhere("_svc-custom-hostname.www.c.test", "TXT", `"${before}"`);
  await theirs.edit(first);
  await activeInTheEnd(world, theirs.zone, first);
  world.elsewhere("www.c.test", "CNAME", "customers.a.test.");
  const made = await ours.createActive("www.c.test");
  assert.equal((await theirs.show(first)).status, "moved");
  const again = await theirs.edit(first);
  assert.equal(again.status, "pending");
  assert.notEqual(again.ownership_verification?.value, before);
  await checkLater(world);
  assert.deepEqual([(await ours.show(made)).status, (await theirs.show(first)).status], ["active", "pending"]);
});

scenario("28: CAA records of a zone that B made up keep no authority from A's hostname", async (world) => {
  const ours = await serviceOf(world, world.a, "a.test", OF_A);
  world.elsewhere("x.c.test", "CNAME", "customers.a.test.");
  for (const claim of CLAIMS) {
    const theirs = await world.zone(world.b, "c.test", claim);
    await world.control.dnsRecords.create(world.call(), theirs, { type: "CAA", name: "@", data: { flags: 0, tag: "issue", value: ";" } });
    const made = await ours.createActive("x.c.test", { certificate_authority: "lets_encrypt" });
    await eventually(async () => (await ours.show(made)).ssl?.status === "active");
    await world.control.customHostnames.remove(world.call(), ours.zone, made.id);
    await world.control.zones.delete(world.call(), theirs.id);
  }
  const proved = await world.zone(world.b, "c.test");
  await world.control.dnsRecords.create(world.call(), proved, { type: "CAA", name: "@", data: { flags: 0, tag: "issue", value: ";" } });
  await world.control.dnsRecords.create(world.call(), proved, { type: "CNAME", name: "x", content: "customers.a.test" } as never);
  const made = await ours.create("x.c.test", { certificate_authority: "lets_encrypt" });
  await eventually(async () => (await ours.show(made)).status === "caa_error");
});

scenario("30: a zone of B's at a name of A's for validation records hides none of them", async (world) => {
  const site = await world.zone(world.a, "v.test");
  const homeOf = createHostingZoneOf({
    store: world.store,
    dns: createHostnameDns({ store: world.store, resolvers: [world.planes.resolver] }),
  });
  const home = { zone_id: site.id, name: "id.dcv.v.test" };
  for (const claim of CLAIMS) {
    const theirs = await world.zone(world.b, "dcv.v.test", claim);
    assert.deepEqual(await homeOf({ zone_id: site.id }, "id.dcv.v.test"), home, claim.status);
    await world.control.zones.delete(world.call(), theirs.id);
  }
});

scenario(
  "a fallback origin or origin of its own is looked for in the hostname's zone, whatever others have entered below",
  async (world) => {
    const ours = await serviceOf(world, world.a, "a.test", OF_A);
    await world.zone(world.b, "origin.a.test", CLAIMS[1]);
    assert.equal((await world.control.fallbackOrigins.get(ours.zone)).status, "active");
  },
);

scenario("a hostname of a zone that is not active waits, without a certificate and without an end", async (world) => {
  const theirs = await serviceOf(world, world.b, "b.test", OF_B, { status: "pending", proof: "none" });
  world.elsewhere("www.c.test", "CNAME", "customers.b.test.");
  const made = await theirs.create("www.c.test", { method: "txt" });
  assert.deepEqual([made.status, made.ssl?.status], ["pending", "initializing"]);
  for (let look = 0; look < 100; look++) {
    world.clock.advance(HOUR_MS);
    await world.control.hostnameChecks.checkDue(world.call(), 50);
  }
  const orders = await world.store.read.selectFrom("certificate_orders").select("id").where("owner_id", "=", made.id).execute();
  assert.deepEqual([(await theirs.show(made)).status, orders], ["pending", []]);
  await world.setState(theirs.zone.id, PROVED);
  world.clock.advance(HOUR_MS);
  await world.control.hostnameChecks.checkDue(world.call(), 50);
  await activeInTheEnd(world, theirs.zone, made);
  await eventually(async () => (await theirs.show(made)).ssl?.status === "active");
});
