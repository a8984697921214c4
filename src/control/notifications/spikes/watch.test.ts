import assert from "node:assert/strict";
import type { Store } from "#store/database/store.ts";
import { storeTest } from "../../../../test/support/store.ts";
import type { WindowCount } from "./event-counts.ts";
import { events, MINUTE_MS, watching } from "../../../../test/support/watching.ts";

storeTest("a spike sends one alert, however long it lasts, and the next spike one after the policy's interval", async ({ store }) => {
  const { one, two, current, minute, policy, subjects } = await watching(store);
  await policy("clickhouse_alert_fw_anomaly", undefined, "10m");
  current.usual = 20;
  assert.equal(await minute(events(one, 199)), 0, "below the floor");
  assert.equal(await minute(events(one, 250), events(two, 90)), 1);
  for (let n = 0; n < 5; n++) assert.equal(await minute(events(one, 300 + n), events(two, 90)), 0, "it goes on");
  assert.equal(await minute(events(one, 150), events(one, 200, "ratelimit"), events(two, 90)), 0, "services together");
  assert.equal(await minute(), 0, "over");
  assert.equal(await minute(events(one, 900)), 0, "the interval has not passed");
  assert.equal(await minute(), 0);
  for (let n = 0; n < 3; n++) await minute();
  assert.equal(await minute(events(one, 900)), 1);
  assert.equal(await minute(), 0);
  const begunEarly = [];
  for (let n = 0; n < 10; n++) begunEarly.push(await minute(events(one, 700)));
  assert.deepEqual(begunEarly, [0, 0, 0, 0, 0, 0, 0, 0, 1, 0], "it lasts until the interval has passed");
  current.usual = 1000;
  assert.equal(await minute(events(two, 1000)), 0, "as usual");
  assert.deepEqual(await subjects(), [
    "Security events in one.example: 250 in 5 minutes",
    "Security events in one.example: 900 in 5 minutes",
    "Security events in one.example: 700 in 5 minutes",
  ]);
});

storeTest("the advanced alert covers Enterprise zones, by service", async ({ store }) => {
  const { one, two, minute, policy, subjects } = await watching(store);
  await policy("clickhouse_alert_fw_ent_anomaly", { services: ["Data Loss Protection"] });
  await policy("clickhouse_alert_fw_ent_anomaly", { zones: [one], services: ["ratelimit", "firewallcustom"] });
  assert.equal(await minute(events(two, 5000, "dlp"), events(one, 5000, null)), 0);
  assert.equal(await minute(events(one, 300, "dlp"), events(one, 300, "ratelimit"), events(one, 100, "firewallcustom")), 2);
  assert.deepEqual((await subjects()).toSorted(), [
    "Security events of Data Loss Protection in one.example: 300 in 5 minutes",
    "Security events of Rate Limiting Rules in one.example: 300 in 5 minutes",
  ]);
});

storeTest("two nodes that see the same spike send one alert", async ({ store }) => {
  const { one, minute, policy, current, subjects } = await watching(store);
  await policy("clickhouse_alert_fw_anomaly");
  current.counts = [events(one, 500)];
  const told = await Promise.all([minute(events(one, 500)), minute(events(one, 500)), minute(events(one, 500))]);
  assert.equal(
    told.reduce((sum, n) => sum + n, 0),
    1,
  );
  assert.equal((await subjects()).length, 1);
});

storeTest("a node that reports the end of a spike late does not end the next one", async ({ store }) => {
  let before = async (): Promise<void> => undefined;
  const late: Store = Object.create(store, {
    write: {
      value: async (...args: Parameters<Store["write"]>) => {
        const first = before;
        before = async () => undefined;
        await first();
        return store.write(...args);
      },
    },
  });
  const { one, minute, policy } = await watching(store, late);
  await policy("clickhouse_alert_fw_anomaly", undefined, "2m");
  assert.equal(await minute(events(one, 500)), 1);
  // Between what this look reads and what it writes, others see the end of the spike, and another one.
  before = async () => {
    await minute();
    await minute();
    assert.equal(await minute(events(one, 500)), 1);
  };
  await minute();
  assert.equal(await minute(events(one, 500)), 0, "it has been told of");
  for (let n = 0; n < 3; n++) assert.equal(await minute(events(one, 500)), 0);
});

storeTest("a failure for one policy does not affect others, and its alert is sent with the next check", async ({ store }) => {
  let fails = "";
  const failing: Store = Object.create(store, {
    write: {
      value: async (...args: Parameters<Store["write"]>) => {
        if (fails !== "" && turn++ === 0) throw new Error(fails);
        return store.write(...args);
      },
    },
  });
  let turn = 0;
  const { one, minute, policy, failures } = await watching(store, failing);
  for (let n = 0; n < 3; n++) await policy("clickhouse_alert_fw_anomaly");
  fails = "the disk is full";
  assert.equal(await minute(events(one, 500)), 2);
  assert.deepEqual(
    failures.map(({ reason }) => reason),
    ["the disk is full"],
  );
  fails = "";
  assert.equal(await minute(events(one, 500)), 1);
  assert.equal(await minute(events(one, 500)), 0);
});

storeTest("a policy that is deleted or disabled during a check sends no alert", async ({ store }) => {
  let before = async (): Promise<void> => undefined;
  const late: Store = Object.create(store, {
    write: { value: async (...args: Parameters<Store["write"]>) => before().then(() => store.write(...args)) },
  });
  const { one, minute, policy, policies, call, account_id, subjects } = await watching(store, late);
  const [deleted, disabled] = [await policy("clickhouse_alert_fw_anomaly"), await policy("clickhouse_alert_fw_anomaly")];
  before = async () => {
    before = async () => undefined;
    await policies.delete(call(), account_id, deleted.id);
    await policies.update(call(), account_id, disabled.id, { enabled: false });
  };
  assert.equal(await minute(events(one, 500)), 0);
  assert.deepEqual(await subjects(), []);
});

storeTest("no alert is sent during a silence, for a disabled policy, or for another account's zones", async ({ store }) => {
  const { one, clock, call, account_id, minute, policy, policies, silences } = await watching(store);
  const { id } = await policy("clickhouse_alert_fw_anomaly");
  const at = (ms: number): string => new Date(clock.nowMs() + ms).toISOString();
  const [silence] = await silences.create(call(), account_id, [{ policy_id: id, start_time: at(0), end_time: at(3 * MINUTE_MS) }]);
  assert.equal(await minute(events(one, 500)), 0);
  assert.equal(await minute(), 0);
  clock.advance(5 * MINUTE_MS);
  assert.equal(await minute(events(one, 500)), 1, "the silence is over");
  await minute();
  await policies.update(call(), account_id, id, { enabled: false });
  clock.advance(60 * MINUTE_MS);
  assert.equal(await minute(events(one, 500)), 0);
  await silences.delete(call(), account_id, silence?.id ?? "");
  assert.deepEqual(await silences.list(account_id), []);
  await assert.rejects(policies.get("0".repeat(32), id), { code: 10601 });
});

storeTest("origin errors and edge errors are separate spikes, and the objective allows a share of them", async ({ store }) => {
  const { one, two, current, minute, policy, subjects } = await watching(store);
  await policy("http_alert_origin_error", { zones: [one] });
  await policy("http_alert_origin_error", { zones: [two], slo: ["99.9"] });
  await policy("http_alert_edge_error", { zones: [one] });
  current.kind = "origin_errors";
  current.requests = 1_000_000;
  const errors = (zone_id: string, count: number): WindowCount => ({ zone_id, count, service: null });
  assert.equal(await minute(errors(one, 150), errors(two, 150)), 0, "below the floor");
  assert.equal(await minute(errors(one, 300), errors(two, 1000)), 1, "one in a thousand may fail");
  assert.equal(await minute(errors(one, 300), errors(two, 1001)), 1);
  current.kind = "edge_errors";
  assert.equal(await minute(errors(one, 400)), 1);
  assert.deepEqual(await subjects(), [
    "Origin errors in one.example: 300 in 5 minutes",
    "Origin errors in two.example: 1,001 in 5 minutes",
    "Edge errors in one.example: 400 in 5 minutes",
  ]);
});
