import assert from "node:assert/strict";
import { sql } from "kysely";
import { fixedClock } from "#kernel/clock.ts";
import { someAudit } from "../../test/support/audit.ts";
import { databaseTest } from "../../test/support/store.ts";
import { openStore } from "#store/database/open.ts";
import { touchZone } from "#store/zones/zones.ts";

const START = "2026-11-26T00:00:00Z";
const NOW = Date.parse(START) / 1000;

/** RFC 1982 §3.2. */
const isAfter = (a: number, b: number): boolean => ((a - b) >>> 0) - 1 < 0x7fff_ffff && a !== b;

databaseTest("a serial is the current time, or the next number if that is taken, and always increases", async (url) => {
  const clock = fixedClock(START);
  const store = await openStore({ url, clock });
  const cases: readonly (readonly [serial: number, touched: number, restored: number])[] = [
    [1, NOW, NOW + 100_000],
    [NOW - 1, NOW, NOW + 100_000],
    [NOW, NOW + 1, NOW + 100_000],
    [NOW + 59, NOW + 60, NOW + 100_059],
    [2_026_112_601, 2_026_112_602, 2_026_212_601],
    [4_000_000_000, 4_000_000_001, 4_000_100_000],
    [4_294_967_295, 1, 4_294_967_295],
  ];
  const put = (serial: number) =>
    store.write(async ({ db }) => {
      await sql`DELETE FROM zones`.execute(db);
      await sql`INSERT INTO accounts (id, name, type, settings, created_on) VALUES ('a', 'a', 'standard', '{}', '') ON CONFLICT DO NOTHING`.execute(
        db,
      );
      await sql`INSERT INTO zones (id, account_id, name, status, type, paused, plan, name_servers, settings, serial, record_count, vanity_name_servers, created_on, modified_on) VALUES ('z', 'a', 'b.example', 'active', 'full', 0, 'pro', '[]', '{}', ${serial}, 1, '[]', '', '')`.execute(
        db,
      );
    });
  try {
    for (const [serial, touched, restored] of cases) {
      await put(serial);
      const { result } = await store.write((unit) => touchZone(unit, "z"));
      assert.equal(result?.serial, touched);
      assert.ok(isAfter(touched, serial), `${touched} after ${serial}`);
      await put(serial);
      await store.renewHistory();
      assert.deepEqual(await store.read.selectFrom("zones").select("serial").execute(), [{ serial: restored }]);
      assert.ok(restored === serial || isAfter(restored, serial), `${restored} after ${serial}`);
    }
    // A backup of a minute ago, with fewer changes than seconds since: what was published before it is passed.
    clock.advance(60_000);
    await put(NOW - 100);
    assert.equal((await store.write((unit) => touchZone(unit, "z"))).result?.serial, NOW + 60);
  } finally {
    await store.close();
  }
});

databaseTest("serials are later than all published ones, however often a backup is restored", async (url) => {
  // The clock stands still, so that nothing but what was published can tell.
  const store = await openStore({ url, clock: fixedClock(START) });
  const ACCOUNT = sql`INSERT INTO accounts (id, name, type, settings, created_on) VALUES ('a', 'a', 'standard', '{}', '')`;
  const ZONE = sql`INSERT INTO zones (id, account_id, name, status, type, paused, plan, name_servers, settings, serial, record_count, vanity_name_servers, created_on, modified_on) VALUES ('z', 'a', 'b.example', 'active', 'full', 0, 'pro', '[]', '{}', ${NOW}, 1, '[]', '', '')`;
  const publish = async (): Promise<number> => {
    const { result, rev } = await store.write(async (unit) => {
      const serial = (await touchZone(unit, "z"))?.serial ?? 0;
      unit.change({ kind: "serial", id: "z", value: { serial } });
      // The serial of an external primary does not count.
      unit.change({ kind: "serial", id: "y", value: { serial: 2_026_112_601 } });
      unit.audit(someAudit);
      return serial;
    });
    await store.changesSince((rev ?? 0) - 1, 10);
    return result;
  };
  try {
    await store.write(async ({ db }) => void (await ACCOUNT.execute(db), await ZONE.execute(db)));
    let published = 0;
    for (let restores = 0; restores < 3; restores++) {
      for (let changes = 0; changes < 5; changes++) published = await publish();
      await store.write(({ db }) => db.updateTable("zones").set({ serial: NOW }).execute());
      await store.renewHistory();
      const [restored] = await store.read.selectFrom("zones").select("serial").execute();
      assert.ok(isAfter(restored!.serial, published), `${restored!.serial} after ${published}`);
      assert.ok(restored!.serial < NOW + 1_000_000);
    }
  } finally {
    await store.close();
  }
});
