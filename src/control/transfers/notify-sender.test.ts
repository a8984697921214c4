import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type AddressPolicy, createAddressPolicy } from "#kernel/net/address-policy.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Delta, Op } from "#snapshot/entries.ts";
import type { Store } from "#store/database/store.ts";
import { formatName } from "#wire/dns/name.ts";
import { controlOver } from "../../../test/support/control.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createNotifySender } from "./notify-sender.ts";
import type { NotifyPeer, NotifySocket } from "./notify-socket.ts";
import { eventually } from "../../../test/support/eventually.ts";

const SECRET = Buffer.alloc(32, 5).toString("base64");

/** A zone with two peers, one of them with a key, and a notifier whose messages go nowhere. */
async function fixture(store: Store, answer: (peer: NotifyPeer) => number | null = () => 0, isAllowed: AddressPolicy = () => true) {
  const made = await controlOver(store);
  const { control, sealer, account_id, call } = made;
  const { id } = await control.zones.create(call(), { name: "told.example", account: { id: account_id } });
  const zone = { id, name: "told.example", account_id, plan: "free" };
  const { tsigs, peers, outgoing, enable } = control.transfers;
  const tsig = await tsigs.create(call(), account_id, { name: "k.example.", algo: "hmac-sha256.", secret: SECRET });
  const keyed = await peers.create(call(), account_id, { name: "keyed", ip: "192.0.2.1", tsig_id: tsig.id });
  const plain = await peers.create(call(), account_id, { name: "plain", ip: "192.0.2.2", port: 5353 });
  const nowhere = await peers.create(call(), account_id, { name: "known by its ACL" });
  await outgoing.create(call(), zone, { peers: [keyed.id, plain.id, nowhere.id] });
  await enable(call(), zone, true);

  const told: string[] = [];
  const socket: NotifySocket = {
    notify: async (name, peer) => {
      told.push(`${formatName(name)} ${peer.address} ${peer.port} ${peer.key ? Buffer.from(peer.key.secret).toString("base64") : "-"}`);
      return answer(peer);
    },
    close: () => {},
  };
  let release = (): void => {};
  const logged: string[] = [];
  const metrics = createMetrics();
  const notifier = createNotifySender({
    store,
    sealer,
    ...{ socket, metrics, isAllowed },
    settled: () => new Promise<void>((resolve) => (release = resolve)),
    log: (_level, message) => logged.push(message),
  });
  /** Gives the notifier what has been committed since the last call. */
  let rev = await store.revision();
  const publish = async (): Promise<void> => {
    for (const { changes, ...unit } of (await store.changesSince(rev, 1000)) ?? []) {
      rev = unit.rev;
      notifier.published({ from: rev - 1, rev, ops: changes as readonly Op[] } satisfies Delta);
    }
  };
  /** The notifications sent, at least `count` of them; the database needs time to answer. */
  const heard = async (count: number): Promise<string[]> => {
    await eventually(() => told.length >= count);
    // Nothing more comes of it.
    await sleep(20);
    return told.splice(0).sort();
  };
  return { ...made, zone, notifier, publish, heard, release: () => release(), logged, metrics };
}

const ALL = [`told.example 192.0.2.1 53 ${SECRET}`, "told.example 192.0.2.2 5353 -"];

storeTest("peers with an address get a NOTIFY at the start, and for each change once the planes have it", async ({ store }) => {
  const { control, call, zone, notifier, publish, heard, release } = await fixture(store);
  await notifier.start();
  assert.deepEqual(await heard(2), ALL);
  await control.dnsRecords.create(call(), zone, { type: "A", name: "www", content: "192.0.2.80" });
  await publish();
  assert.deepEqual(await heard(0), []);
  release();
  assert.deepEqual(await heard(2), ALL);

  await control.transfers.forceNotify(call(), zone);
  await publish();
  release();
  assert.deepEqual(await heard(2), ALL);
  notifier.close();
});

storeTest("a peer in a network that the server must not reach gets no NOTIFY, and the others do", async ({ store }) => {
  const allowed = createAddressPolicy("0.0.0.0", ["192.0.2.2/32"], undefined);
  const { notifier, heard, logged } = await fixture(store, () => 0, allowed);
  await notifier.start();
  assert.deepEqual(await heard(1), ALL.slice(1));
  await eventually(() => logged.length === 1);
  notifier.close();
});

storeTest("no NOTIFY is sent for an unproved zone", async ({ store }) => {
  const { control, call, zone, notifier, publish, heard, release } = await fixture(store);
  await store.write(async ({ db }) => void (await db.updateTable("zones").set({ status: "pending" }).where("id", "=", zone.id).execute()));
  await notifier.start();
  await control.dnsRecords.create(call(), zone, { type: "A", name: "www", content: "192.0.2.80" });
  await publish();
  release();
  await sleep(200);
  assert.deepEqual(await heard(0), []);
  notifier.close();
});

storeTest("no NOTIFY is sent for other zones, or after transfers were turned off or the zone was deleted", async ({ store }) => {
  const { control, account_id, call, zone, notifier, publish, heard, release } = await fixture(store);
  await notifier.start();
  await heard(2);
  const steps = [
    () => control.zones.create(call(), { name: "other.example", account: { id: account_id } }),
    () => control.transfers.enable(call(), zone, false),
    () => control.dnsRecords.create(call(), zone, { type: "A", name: "www", content: "192.0.2.80" }),
    () => control.zones.delete(call(), zone.id),
  ];
  for (const step of steps) {
    await step();
    await publish();
    release();
    assert.deepEqual(await heard(0), []);
  }
  notifier.close();
});

storeTest("missed NOTIFYs are sent later", async ({ store }) => {
  const { notifier, heard } = await fixture(store);
  notifier.published(null);
  assert.deepEqual(await heard(2), ALL);
  notifier.close();
});

storeTest("refusals are counted and logged, and the NOTIFY is not repeated", async ({ store }) => {
  const { notifier, heard, logged, metrics } = await fixture(store, ({ key }) => (key ? 0 : 5));
  await notifier.start();
  assert.deepEqual(await heard(2), ALL);
  const counted = metrics.samples().filter(({ name }) => name === "selvedge_dns_notify_total");
  assert.deepEqual(Object.fromEntries(counted.map(({ labels, value }) => [labels["result"], value])), { acknowledged: 1, refused: 1 });
  assert.deepEqual(logged, ["a peer refused a NOTIFY message for a zone"]);
  assert.deepEqual(await heard(0), []);
  notifier.close();
});
