import assert from "node:assert/strict";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

const PAGE = { page: 1, per_page: 20 };

storeTest("applications stand before one place each, are their owner's alone, and go with their zone", async ({ store }) => {
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
