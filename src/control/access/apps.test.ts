import assert from "node:assert/strict";
import { accessApp, insertAccessApp } from "#store/access/access-apps.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { itemsPerTurn } from "../../../test/support/items-per-turn.ts";
import { storeTest } from "../../../test/support/store.ts";

const PAGE = { page: 1, per_page: 20 };

storeTest("an application has a unique domain, belongs to its owner only, and is deleted with its zone", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { accessApps } = control;
  const zone = await control.zones.create(call(), { name: "acme.example", account: { id: account_id } });
  const account = { account_id, zone_id: null };
  const ofZone = { account_id, zone_id: zone.id };
  const made = await accessApps.create(call(), account, { type: "self_hosted", domain: "a.acme.example/x" });
  const second = await accessApps.create(call(), ofZone, { type: "self_hosted", destinations: [{ uri: "B.acme.example:8443/*" }] });
  assert.deepEqual(second.destinations, [{ type: "public", uri: "B.acme.example:8443/*" }]);
  const ids = async (owner: typeof ofZone | typeof account) => (await accessApps.list(owner, {}, PAGE)).items.map(({ id }) => id);
  assert.deepEqual([await ids(account), await ids(ofZone)], [[made.id], [second.id]]);
  await assert.rejects(accessApps.get(ofZone, made.id), failing(11021));
  await assert.rejects(accessApps.delete(call(), account, second.id), failing(11021));
  // Also across the levels, however it is written; its own place is nobody else's.
  await assert.rejects(
    accessApps.create(call(), account, { type: "ssh", domain: "b.ACME.example:8443/*" }),
    failing(11010, "/destinations"),
  );
  const updated = await accessApps.update(call(), account, made.id, { type: "self_hosted", domain: "A.acme.example/x/", name: "again" });
  assert.deepEqual([updated.name, updated.aud], ["again", made.aud]);
  const both = await Promise.allSettled([1, 2].map(() => accessApps.create(call(), account, { type: "vnc", domain: "race.acme.example" })));
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  await control.zones.delete(call(), zone.id);
  assert.deepEqual(await ids(ofZone), []);
  assert.equal((await ids(account)).length, 2);
});

storeTest("one tick reads only some of an account's applications", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { accessApps } = control;
  const account = { account_id, zone_id: null };
  const { id } = await accessApps.create(call(), account, { type: "vnc", domain: "a.acme.example" });
  await store.write(async ({ db }) => {
    const row = (await accessApp(db, account, id)) ?? assert.fail("no row");
    for (let n = 0; n < 100; n++) await insertAccessApp(db, { ...row, id: `app${n}`, value: row.value.replaceAll("a.acme", `a${n}.acme`) });
  });
  const turns = itemsPerTurn();
  const read = JSON.parse;
  JSON.parse = (text: string): unknown => {
    turns.add(1);
    return read(text);
  };
  try {
    assert.equal((await accessApps.list(account, {}, PAGE)).total_count, 101);
    await assert.rejects(accessApps.create(call(), account, { type: "vnc", domain: "a99.acme.example" }), failing(11010, "/destinations"));
  } finally {
    JSON.parse = read;
  }
  assert.ok(turns.most() <= 30, `${turns.most()} in one turn`);
});
