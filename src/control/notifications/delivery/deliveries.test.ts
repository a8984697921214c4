import assert from "node:assert/strict";
import { fixedClock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { policyById, type PolicyRow } from "#store/events/notifications.ts";
import { deleteOldDeliveries, deliveriesOf, type DeliveryRow, insertDeliveries } from "#store/events/notification-deliveries.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { storeTest } from "../../../../test/support/store.ts";
import { deliveryRows } from "./delivery-rows.ts";
import { createDeliveries, type Deliveries, type DeliveriesDeps } from "./deliveries.ts";
import { createNotificationPolicies } from "#control/notifications/policies/policies.ts";

const START = Date.UTC(2026, 0, 15, 10, 0);

/** Nodes over one store that send as the test says, and policies that tell of things by webhooks. */
async function delivering(store: Store, startMs = START) {
  const clock = fixedClock(startMs);
  const { control, account_id, call } = await controlOver(store, { clock });
  const node = (senders: Partial<Pick<DeliveriesDeps, "sendWebhook" | "sendEmail">>): Deliveries =>
    createDeliveries({ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null, sendWebhook: async () => {}, ...senders });
  const policies = createNotificationPolicies({ store, clock, deliveries: node({}), ready: { email: false } });
  const policy = async (urls: readonly string[] = ["https://example.com/"], account = account_id): Promise<PolicyRow> => {
    const webhooks = [];
    for (const url of urls) webhooks.push(await control.notifications.webhooks.create(call(), account, { name: "hook", url }));
    const body = { name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly", mechanisms: { webhooks } };
    const { id } = await policies.create(call(), account, body);
    return (await policyById(store.read, account, id)) ?? assert.fail();
  };
  const otherAccount = async (): Promise<string> => {
    const id = newId();
    await store.write(({ db }) => insertAccount(db, { id, name: "Other", type: "standard", settings: "{}", created_on: "" }));
    return id;
  };
  const rows = () => deliveriesOf(store.read, account_id, {}, { limit: 10, offset: 0 });
  return { clock, account_id, call, node, policies, policy, otherAccount, rows };
}

const ALERT = { subject: "s", text: "t", data: {} };

const tell = (store: Store, deliveries: Deliveries, policy: PolicyRow) => store.write((unit) => deliveries.add(unit, policy, ALERT));

storeTest("another node neither repeats an active attempt nor overwrites a later result", async ({ store }) => {
  const { clock, node, policy, rows } = await delivering(store);
  const slow = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const one = node({
    sendWebhook: () => {
      begun.resolve();
      return slow.promise;
    },
  });
  let sent = 0;
  const other = node({ sendWebhook: async () => void sent++ });
  await tell(store, one, await policy());

  const first = one.sendDue();
  await begun.promise;
  clock.advance(30_000);
  assert.equal((await other.sendDue()).sent, 0, "it is under way");
  // The one node hangs for far longer than an attempt may take, and then fails.
  clock.advance(300_000);
  assert.equal((await other.sendDue()).sent, 1);
  slow.reject(new Error("too late"));
  assert.equal((await first).failures.length, 1);
  const [ended] = await rows();
  assert.deepEqual([sent, ended?.status, ended?.attempts, ended?.error], [1, "sent", 2, null]);
});

storeTest("the node that holds a test sends it and reports its result, and the queue sends it if that node is gone", async ({ store }) => {
  const { clock, node, policy } = await delivering(store);
  let attempts = 0;
  const deliveries = node({
    sendWebhook: async () => {
      attempts++;
      throw new Error("no answer");
    },
  });
  const one = await policy();
  const hold = async () => (await store.write((unit) => deliveries.hold(unit, one, ALERT))).result;
  const ids = await hold();
  assert.deepEqual(await deliveries.sendDue(), { sent: 0, failures: [] });
  assert.deepEqual([(await deliveries.sendNow(ids)).length, attempts], [1, 1]);
  clock.advance(10_000);
  assert.equal((await deliveries.sendDue()).failures.length, 1, "it is tried again like any other");
  await hold();
  clock.advance(300_000);
  assert.equal((await deliveries.sendDue()).failures.length, 2, "the process of the second has gone");
});

storeTest("an attempt by another node does not count as sent by this one", async ({ store }) => {
  const { node, policy } = await delivering(store);
  const nodes = [node({}), node({})] as const;
  const one = await policy();
  for (let n = 0; n < 4; n++) await tell(store, nodes[0], one);
  const attempts = await Promise.all(nodes.map((each) => each.sendDue()));
  assert.equal(
    attempts.reduce((sum, { sent }) => sum + sent, 0),
    4,
  );
});

storeTest("a message that arrives while its policy drops it counts as delivered, and a failed one is not retried", async ({ store }) => {
  const { account_id, call, node, policies, policy, rows } = await delivering(store);
  const attempts = new Map<string, PromiseWithResolvers<void>>();
  const deliveries = node({
    sendWebhook: ({ url }) => {
      const attempt = Promise.withResolvers<void>();
      attempts.set(url, attempt);
      return attempt.promise;
    },
  });
  const one = await policy(["https://taken.example/", "https://failing.example/"]);
  await tell(store, deliveries, one);

  const sending = deliveries.sendDue();
  await eventually(() => attempts.size === 2);
  await policies.update(call(), account_id, one.id, { enabled: false });
  attempts.get("https://taken.example/")?.resolve();
  attempts.get("https://failing.example/")?.reject(new Error("no"));
  assert.equal((await sending).sent, 1);
  assert.deepEqual((await rows()).map(({ status, sent_on, error }) => `${status} ${sent_on !== null} ${error}`).toSorted(), [
    "failed false the policy has changed and no longer uses this mechanism",
    "sent true null",
  ]);
});

storeTest("the delay before the next attempt starts at the end of the failed one", async ({ store }) => {
  const { clock, node, policy } = await delivering(store);
  let attempts = 0;
  const deliveries = node({
    sendWebhook: async () => {
      attempts++;
      clock.advance(9000);
      throw new Error("no answer");
    },
  });
  await tell(store, deliveries, await policy());
  const after: number[] = [];
  for (const waitMs of [0, 9999, 1, 59_999, 1, 300_000, 1_800_000, 7_200_000, 7_200_000]) {
    clock.advance(waitMs);
    await deliveries.sendDue();
    after.push(attempts);
  }
  assert.deepEqual(after, [1, 1, 2, 2, 3, 4, 5, 6, 6]);
});

storeTest("one account's hanging receivers delay no other account, and many that respond are notified in parallel", async ({ store }) => {
  const { clock, account_id, node, policy, otherAccount } = await delivering(store);
  const hangs = Promise.withResolvers<void>();
  const told: string[] = [];
  const deliveries = node({
    sendWebhook: async ({ url }) => {
      if (url.includes("hangs")) await hangs.promise;
      told.push(url);
    },
  });
  const accounts = [
    { account: account_id, url: "https://hangs.example/", count: 100 },
    { account: await otherAccount(), url: "https://answers.example/", count: 50 },
  ];
  for (const { account, url, count } of accounts) {
    const one = await policy([url], account);
    for (let n = 0; n < count; n++) await tell(store, deliveries, one);
    // Messages to hanging servers have been due for longer.
    clock.advance(1);
  }
  const run = deliveries.sendDue();
  await eventually(() => told.length === 4);
  assert.ok(told.every((url) => url.includes("answers")));
  hangs.resolve();
  assert.deepEqual(await run, { sent: 130, failures: [] }, "twenty rounds of four, and all of the other's");
  assert.equal(told.filter((url) => url.includes("answers")).length, 50);
});

storeTest("an account sends at most a thousand e-mails an hour, and others are unaffected", async ({ store }) => {
  const { clock, account_id, node, otherAccount } = await delivering(store);
  const mailed: string[] = [];
  const deliveries = node({ sendEmail: async (to) => void mailed.push(to) });
  const other = await otherAccount();
  const add = (account: string, count: number, changes: Partial<DeliveryRow> = {}) => {
    const rows = Array.from({ length: count }, () => ({
      ...{ id: newId(), account_id: account, policy_id: "p", alert_type: "t", name: "p", description: "", body: "{}" },
      ...{ mechanism_type: "email", mechanism: account, status: "pending", attempts: 0, due_ms: clock.nowMs() },
      ...{ created_ms: clock.nowMs(), sent_on: null, error: null, ...changes },
    }));
    return store.write(({ db }) => insertDeliveries(db, rows));
  };
  await add(account_id, 999, { status: "sent", sent_on: isoMicros(clock.nowMicros()) });
  clock.advance(60_000);
  await add(account_id, 1);
  assert.deepEqual(await deliveries.sendDue(), { sent: 1, failures: [] });
  await add(account_id, 1);
  await add(other, 1);
  const { failures } = await deliveries.sendDue();
  assert.deepEqual(
    failures.map(({ error }) => error),
    ["the limit of 1000 e-mails an hour for an account is reached"],
  );
  assert.deepEqual(mailed, [account_id, other]);
  clock.advance(3_600_000);
  assert.deepEqual(await deliveries.sendDue(), { sent: 1, failures: [] });
});

storeTest(
  "an account has a limited number of messages an hour and in the history, and the last one says that the limit is reached",
  async ({ store }) => {
    const { clock, account_id, policy, otherAccount } = await delivering(store);
    const one = await policy(["https://one.example/", "https://two.example/"]);
    const limits = { anHour: 5, kept: 3 };
    const add = (account = account_id) =>
      store.write(({ db }) =>
        insertDeliveries(
          db,
          deliveryRows(one, ALERT, clock.nowMs()).map((row) => ({ ...row, account_id: account })),
          limits,
        ),
      );
    const history = (account = account_id) => deliveriesOf(store.read, account, {}, { limit: 10, offset: 0 });
    const sent: number[] = [];
    for (let i = 0; i < 4; i++) {
      sent.push((await add()).result.length);
      clock.advance(1000);
    }
    assert.deepEqual(sent, [2, 2, 0, 0]);
    const [newest, ...rest] = await history();
    assert.equal(rest.length, 4);
    assert.deepEqual(
      [newest?.status, newest?.error],
      ["failed", "the limit of 5 messages an hour for an account is reached: this one and further ones are not sent"],
    );
    const other = await otherAccount();
    assert.equal((await add(other)).result.length, 2);
    clock.advance(3_600_000);
    assert.equal((await add()).result.length, 2);

    await store.write(({ db }) => db.updateTable("notification_deliveries").set({ status: "sent" }).execute());
    await store.write(({ db }) => deleteOldDeliveries(db, limits));
    assert.equal((await history()).length, 3);
    assert.equal((await history(other)).length, 2);
  },
);

storeTest("tests of an account that are sent at once share their places", async ({ store }) => {
  const { account_id, call, policy, clock } = await delivering(store);
  let [open, most] = [0, 0];
  const release = Promise.withResolvers<void>();
  const sendWebhook = async (): Promise<void> => {
    most = Math.max(most, ++open);
    await release.promise;
    open--;
  };
  const deliveries = createDeliveries({ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null, sendWebhook });
  const policies = createNotificationPolicies({ store, clock, deliveries, ready: { email: false } });
  const { id } = await policy(Array.from({ length: 10 }, (_, at) => `https://example.com/${at}`));
  const tests = Array.from({ length: 4 }, () => policies.test(call(), account_id, id));
  await eventually(() => open === 16);
  release.resolve();
  await Promise.all(tests);
  assert.equal(most, 16);
});

storeTest("old messages are deleted, whether or not any is due", async ({ store }) => {
  const { clock, node, policy, rows } = await delivering(store);
  const deliveries = node({});
  await tell(store, deliveries, await policy());
  await deliveries.sendDue();
  for (const [days, count] of [
    [89, 1],
    [2, 0],
  ] as const) {
    clock.advance(days * 86_400_000);
    await deliveries.sendDue();
    assert.equal((await rows()).length, count);
  }
});

storeTest("messages scheduled by a clock that ran ahead are sent at the corrected time", async ({ store }) => {
  const { clock, node, policy, rows } = await delivering(store, START + 365 * 86_400_000);
  let attempts = 0;
  const deliveries = node({
    sendWebhook: async () => {
      attempts++;
      if (attempts < 3) throw new Error("no answer");
    },
  });
  await tell(store, deliveries, await policy());
  await deliveries.sendDue();
  clock.advance(START - clock.nowMs());
  await deliveries.sendDue();
  assert.equal(attempts, 2);
  await deliveries.sendDue();
  assert.equal(attempts, 2, "the schedule is that of the right clock again");
  clock.advance(60_000);
  await deliveries.sendDue();
  const [row] = await rows();
  assert.deepEqual([attempts, row?.status], [3, "sent"]);
});
