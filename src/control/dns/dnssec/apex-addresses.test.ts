import assert from "node:assert/strict";
import { systemCall } from "#control/call.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { storeTest } from "../../../../test/support/store.ts";

storeTest("new addresses behind a flattened apex raise the serial of a transferred zone once", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { transfers, apexAddresses } = control;
  const { id, name } = await control.zones.create(call(), { name: "flat.example", account: { id: account_id } });
  const zone = { id, name, account_id };
  const serial = async (): Promise<number> =>
    (await store.read.selectFrom("zones").select("serial").where("id", "=", id).executeTakeFirstOrThrow()).serial;
  const changed = (addresses: string): Promise<boolean> => apexAddresses.changed(systemCall("test"), id, addresses);
  const first = await serial();
  assert.equal(await changed("c0000201"), false, "nobody fetches the zone");

  const peer = await transfers.peers.create(call(), account_id, { name: "p", ip: "192.0.2.1", port: 5353 });
  await transfers.outgoing.create(call(), zone, { peers: [peer.id] });
  await transfers.enable(call(), zone, true);
  const before = await serial();
  assert.equal(before, first);
  assert.deepEqual([await changed("c0000202"), await changed("c0000202")], [true, false]);
  assert.equal(await serial(), before + 1);
  const delta = (await store.changesSince((await store.revision()) - 1, 10))?.[0];
  assert.deepEqual(
    delta?.changes.map(({ kind, value }) => [kind, value]),
    [["serial", { serial: before + 1 }]],
  );
  assert.equal(await changed("c0000203"), true);
  assert.equal(await apexAddresses.changed(systemCall("test"), newId(), "c0000203"), false, "the zone is gone");
});
