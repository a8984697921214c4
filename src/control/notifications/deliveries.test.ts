import assert from "node:assert/strict";
import { fixedClock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/ids.ts";
import { createSealer } from "#kernel/seal.ts";
import { insertAccount } from "#store/accounts.ts";
import { deliveriesOf, type DeliveryRow, insertDeliveries, policyById } from "#store/notifications.ts";
import { controlOver } from "../../../test/support/control.ts";
import { eventually } from "../../../test/support/eventually.ts";
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

storeTest("what arrives while its policy gives it up has arrived; what fails then is not tried again", async ({ store }) => {
  const clock = fixedClock(START);
  const { control, account_id, call } = await controlOver(store, { clock });
  const webhooks = ["https://taken.example/", "https://failing.example/"].map((url) =>
    control.notifications.webhooks.create(call(), account_id, { name: "hook", url }),
  );
  const attempts = new Map<string, PromiseWithResolvers<void>>();
  const deliveries = createDeliveries({
    ...{ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null },
    sendWebhook: ({ url }) => {
      const attempt = Promise.withResolvers<void>();
      attempts.set(url, attempt);
      return attempt.promise;
    },
  });
  const policies = createNotificationPolicies({ store, clock, deliveries, ready: { email: false } });
  const { id } = await policies.create(call(), account_id, {
    ...{ name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly" },
    mechanisms: { webhooks: await Promise.all(webhooks) },
  });
  const policy = await policyById(store.read, account_id, id);
  assert.ok(policy);
  await store.write((unit) => deliveries.add(unit, policy, { subject: "s", text: "t", data: {} }));

  const sending = deliveries.sendDue();
  await eventually(() => attempts.size === 2);
  await policies.update(call(), account_id, id, { enabled: false });
  attempts.get("https://taken.example/")?.resolve();
  attempts.get("https://failing.example/")?.reject(new Error("no"));
  assert.equal((await sending).sent, 1);
  const rows = await deliveriesOf(store.read, account_id, {}, { limit: 10, offset: 0 });
  assert.deepEqual(rows.map(({ status, sent_on, error }) => `${status} ${sent_on !== null} ${error}`).toSorted(), [
    "failed false the policy has changed: nothing more is sent here",
    "sent true null",
  ]);
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

storeTest("receivers of one account that hang hold up nobody else's, and many that answer are all told at once", async ({ store }) => {
  const clock = fixedClock(START);
  const { control, account_id, call } = await controlOver(store, { clock });
  const hangs = Promise.withResolvers<void>();
  const told: string[] = [];
  const deliveries = createDeliveries({
    ...{ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null },
    sendWebhook: async ({ url }) => {
      if (url.includes("hangs")) await hangs.promise;
      told.push(url);
    },
  });
  const other = newId();
  await store.write(({ db }) => insertAccount(db, { id: other, name: "Other", type: "standard", settings: "{}", created_on: "" }));
  const accounts = [
    { account: account_id, url: "https://hangs.example/", count: 100 },
    { account: other, url: "https://answers.example/", count: 50 },
  ];
  for (const { account, url, count } of accounts) {
    const { id: webhook } = await control.notifications.webhooks.create(call(), account, { name: "hook", url });
    const { id } = await createNotificationPolicies({ store, clock, deliveries, ready: { email: false } }).create(call(), account, {
      ...{ name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly" },
      mechanisms: { webhooks: [{ id: webhook }] },
    });
    const policy = await policyById(store.read, account, id);
    assert.ok(policy);
    for (let n = 0; n < count; n++) await store.write((unit) => deliveries.add(unit, policy, { subject: `${n}`, text: "t", data: {} }));
    // Those that hang have been due for longer.
    clock.advance(1);
  }
  const run = deliveries.sendDue();
  await eventually(() => told.length === 4);
  assert.ok(told.every((url) => url.includes("answers")));
  hangs.resolve();
  assert.deepEqual(await run, { sent: 130, failures: [] }, "twenty rounds of four, and all of the other's");
  assert.equal(told.filter((url) => url.includes("answers")).length, 50);
});

storeTest(
  "an account is sent a thousand e-mails an hour; others are sent theirs, and it is again when the hour has passed",
  async ({ store }) => {
    const clock = fixedClock(START);
    const { account_id } = await controlOver(store, { clock });
    const mailed: string[] = [];
    const deliveries = createDeliveries({
      ...{ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendWebhook: async () => {} },
      sendEmail: async (to) => void mailed.push(to),
    });
    const other = newId();
    await store.write(({ db }) => insertAccount(db, { id: other, name: "Other", type: "standard", settings: "{}", created_on: "" }));
    const email = (account: string, count: number, changes: Partial<DeliveryRow> = {}): DeliveryRow[] =>
      Array.from({ length: count }, () => ({
        ...{ id: newId(), account_id: account, policy_id: "p", alert_type: "t", name: "p", description: "", body: "{}" },
        ...{ mechanism_type: "email", mechanism: account, status: "pending", attempts: 0, due_ms: clock.nowMs() },
        ...{ created_ms: clock.nowMs(), sent_on: null, error: null, ...changes },
      }));
    const sent = { status: "sent", sent_on: isoMicros(clock.nowMicros()) };
    await store.write(({ db }) => insertDeliveries(db, email(account_id, 999, sent)));
    clock.advance(60_000);
    await store.write(({ db }) => insertDeliveries(db, email(account_id, 1)));
    assert.deepEqual(await deliveries.sendDue(), { sent: 1, failures: [] });
    await store.write(({ db }) => insertDeliveries(db, [...email(account_id, 1), ...email(other, 1)]));
    const { failures } = await deliveries.sendDue();
    assert.deepEqual(
      failures.map(({ error }) => error),
      ["no more than 1000 e-mails an hour are sent for an account"],
    );
    assert.deepEqual(mailed, [account_id, other]);
    clock.advance(3_600_000);
    assert.deepEqual(await deliveries.sendDue(), { sent: 1, failures: [] });
  },
);

storeTest("what was told long ago is deleted, whether or not anything is due", async ({ store }) => {
  const clock = fixedClock(START);
  const { control, account_id, call } = await controlOver(store, { clock });
  const deliveries = createDeliveries({
    ...{ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null },
    sendWebhook: async () => {},
  });
  const { id: webhook } = await control.notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://example.com/" });
  const { id } = await createNotificationPolicies({ store, clock, deliveries, ready: { email: false } }).create(call(), account_id, {
    ...{ name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly" },
    mechanisms: { webhooks: [{ id: webhook }] },
  });
  const policy = await policyById(store.read, account_id, id);
  assert.ok(policy);
  await store.write((unit) => deliveries.add(unit, policy, { subject: "s", text: "t", data: {} }));
  await deliveries.sendDue();
  const kept = async (): Promise<number> => (await deliveriesOf(store.read, account_id, {}, { limit: 10, offset: 0 })).length;
  for (const [days, count] of [
    [89, 1],
    [2, 0],
  ] as const) {
    clock.advance(days * 86_400_000);
    await deliveries.sendDue();
    assert.equal(await kept(), count);
  }
});

storeTest("what was to be sent by a clock that was ahead is sent by the right one", async ({ store }) => {
  const clock = fixedClock(START + 365 * 86_400_000);
  const { control, account_id, call } = await controlOver(store, { clock });
  const { id: webhook } = await control.notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://example.com/" });
  let attempts = 0;
  const deliveries = createDeliveries({
    ...{ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null },
    sendWebhook: async () => {
      attempts++;
      if (attempts < 3) throw new Error("no answer");
    },
  });
  const { id } = await createNotificationPolicies({ store, clock, deliveries, ready: { email: false } }).create(call(), account_id, {
    ...{ name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly" },
    mechanisms: { webhooks: [{ id: webhook }] },
  });
  const policy = await policyById(store.read, account_id, id);
  assert.ok(policy);
  await store.write((unit) => deliveries.add(unit, policy, { subject: "s", text: "t", data: {} }));
  await deliveries.sendDue();
  clock.advance(START - clock.nowMs());
  await deliveries.sendDue();
  assert.equal(attempts, 2);
  await deliveries.sendDue();
  assert.equal(attempts, 2, "the schedule is that of the right clock again");
  clock.advance(60_000);
  await deliveries.sendDue();
  const [row] = await deliveriesOf(store.read, account_id, {}, { limit: 1, offset: 0 });
  assert.deepEqual([attempts, row?.status], [3, "sent"]);
});
