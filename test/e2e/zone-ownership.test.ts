import assert from "node:assert/strict";
import { alertsTold, wantAlerts } from "../support/alerts.ts";
import { test } from "node:test";
import { failing } from "../support/failing.ts";
import { toolOrSkip } from "../support/tools.ts";
import { PAIRS, type Claimants, withClaimants } from "../support/claimants.ts";

/** Scenarios of who owns a name, by their numbers; a real top-level domain delegates, on Knot DNS. */
const skip = toolOrSkip("knotd") || toolOrSkip("knotc");
const scenario = (name: string, body: (world: Claimants) => Promise<void>, options: Parameters<typeof withClaimants>[1] = {}): void => {
  test(name, { skip }, () => withClaimants(body, options));
};

/** The registrar of the name names the zone's servers. */
const delegate = ({ parent }: Claimants, zone: { readonly name: string; readonly name_servers: readonly string[] }): Promise<void> =>
  parent.set(
    zone.name,
    "NS",
    zone.name_servers.map((name) => `${name}.`),
  );

/** A's zone, proved by its delegation. */
async function proved(world: Claimants, account: string, name: string) {
  const zone = await world.create(account, name);
  await delegate(world, zone);
  await world.look();
  assert.equal(await world.status(zone.id), "active");
  return zone;
}

scenario("scenario 5: the first account waits; the account whose name servers the registrar names is active", async (world) => {
  const b = await world.create(world.b, "a.com");
  assert.equal(b.status, "pending");
  assert.equal(b.activated_on, null);
  assert.match(b.notes.join(), /a\.com is pending until its registrar names ns\d\.pool\.net and ns\d\.pool\.net/);
  const a = await proved(world, world.a, "a.com");
  assert.notDeepEqual(a.name_servers, b.name_servers);
  assert.equal(await world.status(b.id), "pending");
});

scenario("scenario 6 and 7: a second claim has another pair, and wins once the registrar names it", async (world) => {
  const a = await proved(world, world.a, "a.com");
  const b = await world.create(world.b, "a.com");
  assert.equal(b.status, "pending");
  assert.equal(
    a.name_servers.some((name) => b.name_servers.includes(name)),
    false,
  );
  assert.deepEqual(b.original_name_servers, a.name_servers);
  await world.look();
  assert.deepEqual([await world.status(a.id), await world.status(b.id)], ["active", "pending"]);

  await wantAlerts({ ...world, account_id: world.a }, ["zone_moved"]);
  await delegate(world, b);
  await world.look();
  assert.deepEqual([await world.status(a.id), await world.status(b.id)], ["moved", "active"]);
  // Its owner is told once, and not by whom.
  assert.deepEqual(await alertsTold(world.store, world.a), [["zone_moved", "Zone a.com has moved"]]);
  assert.deepEqual(await alertsTold(world.store, world.b), []);
  // A moved zone ends after a week.
  world.clock.advance(7 * 86_400_000);
  await world.look();
  await assert.rejects(world.status(a.id), failing(1001));
});

scenario(
  "scenario 8 and 9: with one pair a delegation tells nothing of the second; a DS record of its own key does",
  async (world) => {
    const a = await proved(world, world.a, "a.com");
    const b = await world.create(world.b, "a.com");
    assert.match(b.notes.join(), /naming them would prove nothing/);
    await world.control.zones.checkActivation(world.call(), b.id);
    await assert.rejects(world.control.zones.checkActivation(world.call(), b.id), failing(1224));
    await world.look();
    assert.deepEqual([await world.status(a.id), await world.status(b.id)], ["active", "pending"]);
    for (let hours = 0; hours < 72; hours += 6) {
      world.clock.advance(6 * 3_600_000);
      await world.control.ownership.lookDue(world.call());
    }
    assert.deepEqual([await world.status(a.id), await world.status(b.id)], ["active", "pending"]);

    const { ds } = await world.control.dnssec.edit(world.call(), { id: b.id, name: b.name, account_id: world.b }, { status: "active" });
    await world.parent.set("a.com", "DS", [String(ds).replace(/^\S+\s+\d+\s+IN\s+DS\s+/, "")]);
    await world.control.zones.checkActivation(world.call(), b.id);
    assert.deepEqual([await world.status(a.id), await world.status(b.id)], ["moved", "active"]);
    // The registrar names the one pair still, which says nothing of A any more.
    await world.look();
    assert.deepEqual([await world.status(a.id), await world.status(b.id)], ["moved", "active"]);
  },
  { nameServers: PAIRS.slice(0, 2) },
);

scenario("scenario 10: a zone that is held stays its account's", async (world) => {
  const a = await proved(world, world.a, "a.com");
  await world.control.zoneHolds.create(world.call(), a.id, false);
  await assert.rejects(world.create(world.b, "a.com"), failing(10435));
  // An account that only claims a name does not block it.
  const b = await world.create(world.b, "b.com");
  await world.control.zoneHolds.create(world.call(), b.id, true);
  assert.equal((await world.create(world.a, "b.com")).status, "pending");
});

scenario("scenario 11, 12 and 13: a zone below another account's serves while that one's NS records lead to it", async (world) => {
  const { control, call } = world;
  const above = await world.create(world.operator, "v.internal");
  assert.equal(above.status, "active");
  const b = await world.create(world.b, "www.v.internal");
  await world.look();
  assert.equal(await world.status(b.id), "pending");
  const zone = { id: above.id, name: above.name, account_id: world.operator, plan: "free" };
  const records = [];
  for (const content of b.name_servers)
    records.push(await control.dnsRecords.create(call(), zone, { type: "NS", name: "www.v.internal", content, ttl: 1 }));
  await control.zones.checkActivation(call(), b.id);
  assert.equal(await world.status(b.id), "active");
  for (const { id } of records) await control.dnsRecords.delete(call(), zone, id);
  await world.look();
  assert.equal(await world.status(b.id), "moved");
});

scenario("scenario 14: a zone above another account's is the operator's to allow", async (world) => {
  const deep = await world.create(world.operator, "deep.corp.test");
  const b = await world.create(world.b, "corp.test");
  await world.look();
  assert.deepEqual([await world.status(deep.id), await world.status(b.id)], ["active", "pending"]);
  await world.control.zoneSettling.prove(world.call(), "corp.test", world.b);
  assert.deepEqual([await world.status(deep.id), await world.status(b.id)], ["active", "active"]);
});

scenario("scenario 17: a name that was deleted is kept for its account for a week, and its serials only rise", async (world) => {
  const a = await proved(world, world.a, "a.com");
  const [{ serial }] = (await world.store.read.selectFrom("zones").select("serial").where("id", "=", a.id).execute()) as [
    { serial: number },
  ];
  await world.store.write(({ db }) =>
    db
      .updateTable("zones")
      .set({ serial: serial + 1_000_000 })
      .where("id", "=", a.id)
      .execute(),
  );
  await world.control.zones.delete(world.call(), a.id);
  const b = await world.create(world.b, "a.com");
  assert.equal(b.status, "pending");
  assert.equal(
    a.name_servers.some((name) => b.name_servers.includes(name)),
    false,
  );
  await world.look();
  assert.equal(await world.status(b.id), "pending");
  const again = await world.create(world.a, "a.com");
  assert.deepEqual([again.status, again.name_servers], ["active", a.name_servers]);
  const rows = await world.store.read.selectFrom("zones").select("serial").where("name", "=", "a.com").execute();
  assert.ok(rows.every((row) => row.serial > serial + 1_000_000));
});

scenario("scenario 18: servers that were named before the zone was made prove nothing", async (world) => {
  await world.parent.set(
    "a.com",
    "NS",
    PAIRS.slice(0, 4).map((name) => `${name}.`),
  );
  const b = await world.create(world.b, "a.com");
  assert.deepEqual(b.name_servers, PAIRS.slice(4));
  await world.look();
  assert.equal(await world.status(b.id), "pending");
});

scenario("scenario 18: nor do they where the parent could not be seen when the zone was made", async (world) => {
  await world.parent.set(
    "a.com",
    "NS",
    PAIRS.slice(0, 2).map((name) => `${name}.`),
  );
  await world.store.write(({ db }) => db.updateTable("accounts").set({ name: "B" }).where("id", "=", world.b).execute());
  const b = await world.create(world.b, "a.com");
  // As if nobody had answered then.
  const pair = JSON.stringify(PAIRS.slice(0, 2));
  const unseen = { original_name_servers: null, pair, name_servers: pair };
  await world.store.write(({ db }) => db.updateTable("zones").set(unseen).where("id", "=", b.id).execute());
  await world.look();
  const now = await world.control.zones.get(b.id);
  assert.equal(now.status, "pending");
  assert.deepEqual(now.original_name_servers, PAIRS.slice(0, 2));
  assert.equal(
    now.name_servers.some((name) => PAIRS.slice(0, 2).includes(name as never)),
    false,
  );
});

scenario("scenario 29: names of the installation's own servers are trusted accounts'", async (world) => {
  for (const name of ["pool.net"]) await assert.rejects(world.create(world.b, name), failing(1097));
  assert.equal((await world.create(world.operator, "pool.net")).status, "active");
});

scenario("scenario 32: an account has 50 pending zones", async (world) => {
  const { store, b } = world;
  const zone = await world.create(b, "n0.com");
  const row = await store.read.selectFrom("zones").selectAll().where("id", "=", zone.id).executeTakeFirstOrThrow();
  await store.write(async ({ db }) => {
    for (let n = 1; n < 50; n++)
      await db
        .insertInto("zones")
        .values({ ...row, id: n.toString(16).padStart(32, "0"), name: `n${n}.com` })
        .execute();
  });
  await assert.rejects(world.create(b, "n50.com"), failing(1105));
  assert.equal((await world.create(world.a, "n50.com")).status, "pending");
});

scenario(
  "scenario 33: at once, names at, below and above another account's zone are refused",
  async (world) => {
    assert.equal((await world.create(world.a, "v.test")).status, "active");
    await assert.rejects(world.create(world.b, "www.v.test"), failing(1116));
    await assert.rejects(world.create(world.b, "v.test"), failing(1061));
    await world.create(world.a, "x.y.test");
    await assert.rejects(world.create(world.b, "y.test"), failing(1097));
    assert.equal((await world.create(world.a, "www.v.test")).status, "active");
  },
  { ownership: { activation: "auto", isPrivate: true } },
);

scenario("scenario 36: what this installation answers for a pending zone itself proves nothing", async (world) => {
  const b = await world.create(world.b, "a.com");
  // The name is not delegated; a resolver that queries us would get the pair.
  await world.look();
  assert.equal(await world.status(b.id), "pending");
});

scenario("a TXT record at the present name servers proves a zone", async (world) => {
  const b = await world.create(world.b, "a.com", "partial");
  assert.match(b.verification_key ?? "", /^[0-9a-f]{32}$/);
  await world.parent.set("_svc-verify.a.com", "TXT", ["another key"]);
  await world.look();
  assert.equal(await world.status(b.id), "pending");
  await world.parent.set("_svc-verify.a.com", "TXT", [b.verification_key ?? ""]);
  await world.look();
  assert.equal(await world.status(b.id), "active");
  assert.equal((await world.control.zones.get(b.id)).verification_key, b.verification_key);
});

scenario("a zone moves after three looks in a day that see other servers, and not when nobody answers", async (world) => {
  const a = await proved(world, world.a, "a.com");
  await wantAlerts({ ...world, account_id: world.a }, ["zone_moved"]);
  await world.parent.set("a.com", "NS", []);
  const days = async (count: number): Promise<void> => {
    for (let hours = 0; hours < count * 24; hours += 6) {
      world.clock.advance(6 * 3_600_000);
      await world.control.ownership.lookDue(world.call());
    }
  };
  await days(3);
  assert.equal(await world.status(a.id), "active");
  await world.parent.set("a.com", "NS", ["ns1.elsewhere.net.", "ns2.elsewhere.net."]);
  await days(1);
  assert.equal(await world.status(a.id), "active");
  await days(1);
  assert.equal(await world.status(a.id), "moved");
  assert.deepEqual(await alertsTold(world.store, world.a), [["zone_moved", "Zone a.com has moved"]]);
  await delegate(world, a);
  await days(1);
  assert.equal(await world.status(a.id), "active");
});

scenario("a pending zone ends after 28 days", async (world) => {
  const b = await world.create(world.b, "a.com");
  world.clock.advance(28 * 86_400_000);
  await world.look();
  await assert.rejects(world.status(b.id), failing(1001));
});
