import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { QUARANTINE_MS } from "#model/zones/zone-states.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { formerZones, putFormerZone, wereDeletedSince } from "#store/zones/former-zones.ts";
import { updateZone } from "#store/zones/zones.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { databaseTest, storeTest } from "../../../test/support/store.ts";

const START = "2026-01-01T00:00:00Z";
const DAY_MS = 86_400_000;
/** A date and a number, as many primaries count. */
const DATED = 2_026_112_801;

const former = (name: string, deleted_ms: number) => ({
  ...{ name, account_id: "a", pair: "[]", serial: 1, proof: "none" },
  ...{ deleted_ms, ends_ms: deleted_ms + QUARANTINE_MS },
});

const listsOf = async (store: Store, owner: string): Promise<number> =>
  (await store.read.selectFrom("list_states").selectAll().where("owner", "=", owner).execute()).length;

databaseTest(
  "what is kept of a deleted zone goes after seven days, and a later zone of the name has a higher serial at any time",
  async (url) => {
    const clock = fixedClock(START);
    const store = await openStore({ url, clock });
    try {
      const { control, account_id, call } = await controlOver(store, { clock });
      const create = (name: string) => control.zones.create(call(), { name, account: { id: account_id } });
      const serialOf = async (id: string) =>
        (await store.read.selectFrom("zones").select("serial").where("id", "=", id).executeTakeFirstOrThrow()).serial;
      const remove = async (name: string, serial: number): Promise<string> => {
        const zone = await create(name);
        const { id } = zone;
        await control.customHostnames.create(
          call(),
          { id, name, account_id },
          { hostname: `www.of-${name}`, ssl: { method: "http", type: "dv" } },
        );
        await store.write(({ db }) => updateZone(db, id, { serial }));
        await control.zones.delete(call(), id);
        await control.removals.run(call());
        return id;
      };
      const now = Math.floor(clock.nowMs() / 1000);
      const usual = await remove("usual.example", now + 60);
      const ahead = await remove("ahead.example", DATED);
      assert.equal(await listsOf(store, usual), 1, "the list of its custom hostnames");

      clock.advance(QUARANTINE_MS - 1);
      await control.removals.forget();
      assert.equal((await formerZones(store.read, "usual.example")).length, 1, "its name is reserved");
      for (const id of [usual, ahead]) assert.equal(await listsOf(store, id), 0, "counts of its lists");
      clock.advance(1);
      await control.removals.forget();
      assert.deepEqual(await formerZones(store.read, "usual.example"), []);
      assert.equal((await formerZones(store.read, "ahead.example")).length, 1);

      assert.ok((await serialOf((await create("usual.example")).id)) > now + 60);
      const again = await create("ahead.example");
      assert.equal(await serialOf(again.id), DATED + 1);
      await control.zones.delete(call(), again.id);

      clock.advance((DATED + 2) * 1000 - clock.nowMs());
      await control.removals.forget();
      assert.deepEqual(await formerZones(store.read, "ahead.example"), []);
      assert.ok((await serialOf((await create("ahead.example")).id)) > DATED + 1);
    } finally {
      await store.close();
    }
  },
);

storeTest("of an account's deleted zones beyond the limit the oldest go, but none whose name is reserved", async ({ store }) => {
  const names = async (): Promise<readonly string[]> =>
    (await store.read.selectFrom("former_zones").select("name").orderBy("deleted_ms").execute()).map(({ name }) => name);
  const put = (day: number, reservedSinceDay: number) =>
    store.write(({ db }) => putFormerZone(db, former(`day${day}.example`, day * DAY_MS), reservedSinceDay * DAY_MS, 3));
  for (let day = 1; day <= 5; day++) await put(day, 0);
  assert.deepEqual(await names(), ["day1.example", "day2.example", "day3.example", "day4.example", "day5.example"]);
  await put(6, 3);
  assert.deepEqual(await names(), ["day3.example", "day4.example", "day5.example", "day6.example"]);
  assert.equal(await wereDeletedSince(store.read, "a", 3 * DAY_MS, 4), true);
  assert.equal(await wereDeletedSince(store.read, "a", 3 * DAY_MS + 1, 4), false);
  assert.equal(await wereDeletedSince(store.read, "b", 0, 1), false);
});

storeTest("an account that deleted ten thousand zones within seven days creates no other, and the operator's does", async ({ store }) => {
  const clock = fixedClock(START);
  const { control, account_id, call } = await controlOver(store, { clock });
  const tenant = "7".repeat(32);
  const row = { id: tenant, name: "tenant", type: "standard", settings: "{}", created_on: "2999-01-01T00:00:00.000000Z" };
  await store.write(({ db }) => insertAccount(db, row));
  const rows = [tenant, account_id].flatMap((id) =>
    Array.from({ length: 10_000 }, (_, at) => ({ ...former(`zone${at}.example`, clock.nowMs()), account_id: id })),
  );
  for (let from = 0; from < rows.length; from += 500)
    await store.write(({ db }) =>
      db
        .insertInto("former_zones")
        .values(rows.slice(from, from + 500))
        .execute(),
    );
  const create = (id: string) => control.zones.create(call(), { name: `new-${id.slice(0, 4)}.example`, account: { id } });
  await assert.rejects(create(tenant), failing(1118));
  assert.equal((await create(account_id)).status, "active");
  clock.advance(QUARANTINE_MS + 1);
  assert.match((await create(tenant)).status, /active|pending/);
});
