import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/seal.ts";
import { deliveriesOf, policyById } from "#store/notifications.ts";
import { controlOver } from "../../../test/support/control.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createDeliveries } from "./deliveries.ts";
import { createNotificationPolicies } from "./policies.ts";

const START = Date.UTC(2026, 0, 15, 10, 0);

storeTest("an attempt under way is not made again by another node, nor undoes what one that came after it did", async ({ store }) => {
  const clock = fixedClock(START);
  const { control, account_id, call } = await controlOver(store, { clock });
  const { id: webhook } = await control.notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://example.com/" });
  const slow = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const sender = { store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null };
  const one = createDeliveries({
    ...sender,
    sendWebhook: () => {
      begun.resolve();
      return slow.promise;
    },
  });
  let sent = 0;
  const other = createDeliveries({ ...sender, sendWebhook: async () => void sent++ });
  const { id } = await createNotificationPolicies({ store, clock, deliveries: one, ready: { email: false } }).create(call(), account_id, {
    ...{ name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly" },
    mechanisms: { webhooks: [{ id: webhook }] },
  });
  const policy = await policyById(store.read, account_id, id);
  assert.ok(policy);
  await store.write((unit) => one.add(unit, policy, { subject: "s", text: "t", data: {} }));
  const row = async () => (await deliveriesOf(store.read, account_id, {}, { limit: 1, offset: 0 }))[0];

  const first = one.sendDue();
  await begun.promise;
  clock.advance(30_000);
  assert.equal((await other.sendDue()).sent, 0, "it is under way");
  // The one node hangs for far longer than an attempt may take, and then fails.
  clock.advance(300_000);
  assert.equal((await other.sendDue()).sent, 1);
  slow.reject(new Error("too late"));
  assert.equal((await first).failures.length, 1);
  const ended = await row();
  assert.deepEqual([sent, ended?.status, ended?.attempts, ended?.error], [1, "sent", 2, null]);
});

storeTest("the next attempt comes as long after the end of a failed one as the schedule says", async ({ store }) => {
  const clock = fixedClock(START);
  const { control, account_id, call } = await controlOver(store, { clock });
  const { id: webhook } = await control.notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://example.com/" });
  let attempts = 0;
  const deliveries = createDeliveries({
    ...{ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null },
    sendWebhook: async () => {
      attempts++;
      clock.advance(9000);
      throw new Error("no answer");
    },
  });
  const { id } = await createNotificationPolicies({ store, clock, deliveries, ready: { email: false } }).create(call(), account_id, {
    ...{ name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly" },
    mechanisms: { webhooks: [{ id: webhook }] },
  });
  const policy = await policyById(store.read, account_id, id);
  assert.ok(policy);
  await store.write((unit) => deliveries.add(unit, policy, { subject: "s", text: "t", data: {} }));
  const after: number[] = [];
  for (const waitMs of [0, 9999, 1, 59_999, 1, 300_000, 1_800_000, 7_200_000, 7_200_000]) {
    clock.advance(waitMs);
    await deliveries.sendDue();
    after.push(attempts);
  }
  assert.deepEqual(after, [1, 1, 2, 2, 3, 4, 5, 6, 6]);
});
