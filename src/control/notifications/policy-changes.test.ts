import assert from "node:assert/strict";
import { deliveriesOf } from "#store/events/notification-deliveries.ts";
import type { Store } from "#store/database/store.ts";
import { storeTest } from "../../../test/support/store.ts";
import { events, MINUTE_MS, watching } from "../../../test/support/watching.ts";

/** A store before whose next write something else happens. */
function interrupted(store: Store) {
  const next = { before: async (): Promise<void> => undefined };
  const late: Store = Object.create(store, {
    write: {
      value: async (...args: Parameters<Store["write"]>) => {
        const { before } = next;
        next.before = async () => undefined;
        await before();
        return store.write(...args);
      },
    },
  });
  return { late, next };
}

storeTest("a policy that changes during a check is evaluated in its new version", async ({ store }) => {
  const { late, next } = interrupted(store);
  const { one, two, minute, policy, policies, call, account_id, subjects } = await watching(store, late);
  const { id } = await policy("clickhouse_alert_fw_anomaly");
  next.before = async () => void (await policies.update(call(), account_id, id, { filters: { zones: [two] } }));
  assert.equal(await minute(events(one, 500)), 0, "it is about the other zone now");
  next.before = async () => void (await policies.update(call(), account_id, id, { alert_type: "http_alert_edge_error" }));
  assert.equal(await minute(events(two, 500)), 0, "it is about something else now");
  assert.equal(await minute(events(two, 500)), 0);
  await policies.update(call(), account_id, id, { alert_type: "clickhouse_alert_fw_anomaly" });
  assert.equal(await minute(events(two, 500)), 1);
  assert.deepEqual(await subjects(), ["Security events in two.example: 500 in 5 minutes"]);
});

storeTest("a policy whose destinations and name change during a check uses the new ones", async ({ store }) => {
  const { late, next } = interrupted(store);
  const { one, minute, policy, policies, control, call, account_id } = await watching(store, late);
  const { id } = await policy("clickhouse_alert_fw_anomaly");
  const { id: other } = await control.notifications.webhooks.create(call(), account_id, { name: "new", url: "https://new.example/" });
  next.before = async () =>
    void (await policies.update(call(), account_id, id, { name: "new", mechanisms: { webhooks: [{ id: other }] } }));
  assert.equal(await minute(events(one, 500)), 1);
  const rows = await deliveriesOf(store.read, account_id, {}, { limit: 10, offset: 0 });
  assert.deepEqual(
    rows.map(({ name, mechanism }) => [name, mechanism]),
    [["new", other]],
  );
});

storeTest("a policy with a changed alert type ignores the spikes of the former type", async ({ store }) => {
  const { one, current, minute, policy, policies, call, account_id, subjects } = await watching(store);
  const { id } = await policy("clickhouse_alert_fw_anomaly");
  assert.equal(await minute(events(one, 500)), 1);
  await policies.update(call(), account_id, id, { alert_type: "http_alert_edge_error" });
  current.kind = "edge_errors";
  assert.equal(await minute({ zone_id: one, service: null, count: 300 }), 1);
  assert.deepEqual(await subjects(), ["Security events in one.example: 500 in 5 minutes", "Edge errors in one.example: 300 in 5 minutes"]);
});

storeTest("re-enabling a policy makes a later spike a new one, and its interval still applies", async ({ store }) => {
  const { one, minute, policy, policies, call, account_id } = await watching(store);
  // One that is always looked at, so that the node has looked all the time.
  await policy("clickhouse_alert_fw_ent_anomaly");
  const { id } = await policy("clickhouse_alert_fw_anomaly");
  const enabled = (on: boolean) => policies.update(call(), account_id, id, { enabled: on });
  assert.equal(await minute(events(one, 500, null)), 1);
  await enabled(false);
  await enabled(true);
  assert.equal(await minute(events(one, 500, null)), 0, "about the same thing, in its interval");
  await enabled(false);
  for (let n = 0; n < 60; n++) assert.equal(await minute(), 0);
  await enabled(true);
  assert.equal(await minute(events(one, 500, null)), 1);
});

storeTest("changed filters do not make a new spike: no alert is repeated, and the interval still applies", async ({ store }) => {
  const { one, two, minute, policy, policies, call, account_id } = await watching(store);
  const { id } = await policy("clickhouse_alert_fw_anomaly", { zones: [one] });
  const about = (...zones: string[]) => policies.update(call(), account_id, id, { filters: { zones } });
  assert.equal(await minute(events(one, 500), events(two, 500)), 1);
  await about(one, two);
  assert.equal(await minute(events(one, 500), events(two, 500)), 1, "the zone that is new");
  await about(two);
  assert.equal(await minute(events(one, 500), events(two, 500)), 0);
  await about(one, two);
  assert.equal(await minute(events(one, 500), events(two, 500)), 0, "in its interval");
  const told: number[] = [];
  for (let n = 0; n < 40; n++) told.push(await minute(events(one, 500), events(two, 500)));
  assert.deepEqual(
    told.flatMap((count, n) => (count > 0 ? [n] : [])),
    [26],
    "one.example was told of half an hour ago, and the spike lasts",
  );
});

storeTest("messages waiting for a disabled policy, or for a removed destination, are not sent", async ({ store }) => {
  const { one, minute, policy, policies, control, call, account_id, webhook, deliveries, sent } = await watching(store);
  const { id: other } = await control.notifications.webhooks.create(call(), account_id, { name: "new", url: "https://new.example/" });
  const both = { webhooks: [{ id: webhook }, { id: other }] };
  const { id: moved } = await policy("clickhouse_alert_fw_anomaly");
  const { id: disabled } = await policy("clickhouse_alert_fw_anomaly");
  for (const id of [moved, disabled]) await policies.update(call(), account_id, id, { mechanisms: both });
  assert.equal(await minute(events(one, 500)), 2);
  await policies.update(call(), account_id, moved, { description: "nothing that matters" });
  await policies.update(call(), account_id, moved, { mechanisms: { webhooks: [{ id: other }] } });
  await policies.update(call(), account_id, disabled, { enabled: false });
  assert.deepEqual(await deliveries.sendDue(), { sent: 1, failures: [] });
  assert.deepEqual(sent, ["https://new.example/"]);
  const rows = await deliveriesOf(store.read, account_id, {}, { limit: 10, offset: 0 });
  assert.deepEqual(rows.map(({ status, error }) => `${status} ${error}`).toSorted(), [
    "failed the policy has changed and no longer uses this mechanism",
    "failed the policy has changed and no longer uses this mechanism",
    "failed the policy has changed and no longer uses this mechanism",
    "sent null",
  ]);
});

storeTest("messages waiting for a deleted webhook are not retried", async ({ store }) => {
  const { one, minute, policy, policies, control, call, account_id, webhook, deliveries, sent, clock } = await watching(store);
  const { id } = await policy("clickhouse_alert_fw_anomaly");
  const { id: other } = await control.notifications.webhooks.create(call(), account_id, { name: "new", url: "https://new.example/" });
  assert.equal(await minute(events(one, 500)), 1);
  await policies.update(call(), account_id, id, { mechanisms: { webhooks: [{ id: other }] } });
  await control.notifications.webhooks.delete(call(), account_id, webhook);
  for (let n = 0; n < 3; n++) {
    await deliveries.sendDue();
    clock.advance(10 * MINUTE_MS);
  }
  assert.deepEqual(sent, []);
  const [row] = await deliveriesOf(store.read, account_id, {}, { limit: 1, offset: 0 });
  assert.equal(row?.status, "failed");
});

storeTest("a test of a policy that is deleted meanwhile sends nothing", async ({ store }) => {
  const { late, next } = interrupted(store);
  const { policy, policies, ofLate, call, account_id, sent } = await watching(store, late);
  const { id } = await policy("clickhouse_alert_fw_anomaly");
  next.before = async () => void (await policies.delete(call(), account_id, id));
  await assert.rejects(ofLate.test(call(), account_id, id), { code: 10601 });
  assert.deepEqual(sent, []);
});
