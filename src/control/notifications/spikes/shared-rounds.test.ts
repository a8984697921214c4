import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { localReads } from "#events/read/read-client.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { fixedClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { AlertTypeName } from "#model/events/notification.ts";
import { countNodes } from "#store/events/event-counts.ts";
import { enabledPolicies } from "#store/events/notifications.ts";
import { deliveriesOf } from "#store/events/notification-deliveries.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { fc } from "../../../../test/support/property.ts";
import { type StoreFixture, storeTest } from "../../../../test/support/store.ts";
import { createDeliveries } from "#control/notifications/delivery/deliveries.ts";
import { createEventCounts } from "./event-counts.ts";
import { commonEvents, createCountPublisher } from "./publish-counts.ts";
import { createSharedCounts } from "./shared-counts.ts";
import { createSharedRounds } from "./shared-rounds.ts";
import { createNotificationWatch } from "./watch.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 0, 15, 10, 0);

const ON_TIME = { lateMs: 0 };

/** Two nodes over one database, each with its own events, whose looks come at other seconds of the minute. */
async function nodes({ store, open }: StoreFixture, body: (world: Awaited<ReturnType<typeof worldOf>>) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-nodes-"));
  const closing: (() => void)[] = [];
  try {
    await body(await worldOf(store, open, directory, closing));
  } finally {
    for (const close of closing) close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function worldOf(store: Store, open: () => Promise<Store>, directory: string, closing: (() => void)[]) {
  const clock = fixedClock(START);
  const { control, account_id, call } = await controlOver(store, { clock });
  const { id: zone } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const { id: webhook } = await control.notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://example.com/" });
  const policy = (alert_type: AlertTypeName, filters = {}, alert_interval = "10m") =>
    control.notifications.policies.create(call(), account_id, {
      ...{ name: "p", enabled: true, alert_type, alert_interval, filters },
      mechanisms: { webhooks: [{ id: webhook }] },
    });
  let rows = 0;

  const start = async (name: string, clockIs: { readonly lateMs: number } = ON_TIME, node = name, common?: string) => {
    const own = await open();
    const path = join(directory, `${common ?? name}.db`);
    const database = openEventDatabase(path);
    const queries = openEventQueries(path);
    closing.push(() => (queries.close(), database.close()));
    const ownClock = { ...clock, nowMs: () => clock.nowMs() - clockIs.lateMs, nowMicros: () => clock.nowMicros() - clockIs.lateMs * 1000 };
    const reads = localReads(queries);
    const counts = createEventCounts(reads);
    const publisher = common === undefined ? createCountPublisher({ store: own, counts, node }) : commonEvents(reads);
    const parts = {
      store: own,
      clock: ownClock,
      sealer: createSealer(Buffer.alloc(32, 7)),
      sendEmail: null,
      sendWebhook: async () => undefined,
    };
    const watch = createNotificationWatch({
      ...parts,
      counts: common === undefined ? createSharedCounts({ store: own }) : counts,
      rounds: createSharedRounds({ store: own, publisher }),
      deliveries: createDeliveries(parts),
    });
    /** So many events at a time, `agoMs` before now by the node's own clock. */
    const happen = (count: number, agoMs = 0): void => {
      const at_ms = ownClock.nowMs() - agoMs;
      const row = () => testSecurityRow({ id: `${rows++}`, account_id, zone_id: zone, at_ms });
      if (count > 0) database.insert([packed("security_events", Array.from({ length: count }, row))]);
    };
    const requests = (count: number, status: number): void => {
      const row = () => testRequestRow({ ray_id: newId(), account_id, zone_id: zone, at_ms: ownClock.nowMs(), status });
      database.insert([packed("requests", Array.from({ length: count }, row))]);
    };
    const look = async (): Promise<void> => assert.deepEqual((await watch.look(call())).failed, []);
    return { happen, requests, look };
  };
  type Node = Awaited<ReturnType<typeof start>>;

  /** A minute in which each node has so many events, then looks. */
  const minute = async (...parts: (readonly [node: Node, count: number])[]): Promise<void> => {
    clock.advance(10 * SECOND_MS);
    for (const [n, [node, count]] of parts.entries()) {
      node.happen(count);
      clock.advance((40 / parts.length) * SECOND_MS);
      if (n === 0) await node.look();
    }
    for (const [node] of parts.slice(1)) await node.look();
    clock.advance(10 * SECOND_MS);
  };
  const told = async (): Promise<readonly string[]> =>
    (await deliveriesOf(store.read, account_id, {}, { limit: 100, offset: 0 })).map(({ body }) => JSON.parse(body).subject).toReversed();
  return { store, clock, policy, policies: control.notifications.policies, account_id, call, start, minute, told };
}

storeTest("events that all nodes read from one place are counted once, by one node", (fixture) =>
  nodes(fixture, async ({ policy, start, minute, told }) => {
    await policy("clickhouse_alert_fw_anomaly");
    const [a, b] = [await start("a", ON_TIME, "a", "common"), await start("b", ON_TIME, "b", "common")];
    for (let n = 0; n < 6; n++) await minute([a, 10], [b, 10]);
    assert.deepEqual(await told(), []);
    await minute([a, 150], [b, 130]);
    for (let n = 0; n < 20; n++) await minute([a, 60], [b, 70]);
    const [subject, ...more] = await told();
    const count = Number(/^Security events in one\.example: (\d+) in 5 minutes$/.exec(subject ?? "")?.[1]);
    assert.ok(count >= 280 && count < 400, `${subject}`);
    assert.deepEqual(more, []);
  }),
);

storeTest("a spike spread over nodes sends one alert with the total count", (fixture) =>
  nodes(fixture, async ({ policy, start, minute, told }) => {
    await policy("clickhouse_alert_fw_anomaly");
    const [a, b] = [await start("a"), await start("b")];
    for (let n = 0; n < 6; n++) await minute([a, 10], [b, 10]);
    assert.deepEqual(await told(), [], "as many as that are no spike");
    await minute([a, 150], [b, 130]);
    for (let n = 0; n < 20; n++) await minute([a, 60], [b, 70]);
    const [subject, ...more] = await told();
    assert.match(subject ?? "", /^Security events in one\.example: \d+ in 5 minutes$/);
    assert.deepEqual(more, []);
  }),
);

storeTest("normal traffic over all nodes is not a spike at any node, also after a node joins or leaves", (fixture) =>
  nodes(fixture, async ({ clock, policy, start, minute, told }) => {
    const [a, b] = [await start("a"), await start("b")];
    // For a week, before any policy existed: each node has half of the traffic.
    for (let agoMs = 7 * DAY_MS + HOUR_MS; agoMs > 0; agoMs -= 5 * MINUTE_MS) {
      a.happen(100, agoMs);
      b.happen(100, agoMs);
    }
    await policy("clickhouse_alert_fw_anomaly");
    for (let n = 0; n < 6; n++) await minute([a, 20], [b, 20]);
    assert.deepEqual(await told(), []);
    // The one dies, and the other has all of it from then on.
    for (let n = 0; n < 10; n++) await minute([a, 45]);
    const c = await start("c");
    for (let n = 0; n < 8; n++) await minute([a, 25], [c, 20]);
    assert.deepEqual(await told(), []);
    clock.advance(20 * SECOND_MS);
    await minute([a, 400], [c, 400]);
    for (let n = 0; n < 3; n++) await minute([a, 25], [c, 20]);
    assert.equal((await told()).length, 1);
  }),
);

storeTest("the counts of a node that dies during a spike are included once, a few minutes later", (fixture) =>
  nodes(fixture, async ({ policy, start, minute, told }) => {
    await policy("clickhouse_alert_fw_anomaly");
    const [a, b] = [await start("a"), await start("b")];
    for (let n = 0; n < 3; n++) await minute([a, 1], [b, 1]);
    await minute([a, 60], [b, 120]);
    await minute([a, 60], [b, 0]);
    for (let n = 0; n < 14; n++) await minute([a, 60]);
    assert.equal((await told()).length, 1);
  }),
);

storeTest("the check waits for a node whose clock is a minute late, and a returning node catches up", (fixture) =>
  nodes(fixture, async ({ policy, start, minute, told }) => {
    await policy("clickhouse_alert_fw_anomaly");
    const [a, b] = [await start("a"), await start("b", { lateMs: 70 * SECOND_MS })];
    for (let n = 0; n < 3; n++) await minute([a, 1], [b, 1]);
    await minute([a, 110], [b, 110]);
    for (let n = 0; n < 8; n++) await minute([a, 1], [b, 1]);
    assert.equal((await told()).length, 1);
    for (let n = 0; n < 12; n++) await minute([a, 1], [b, 1]);
    // It counts, and cannot say so for two minutes.
    await minute([b, 0], [a, 120]);
    b.happen(120);
    await minute([a, 1]);
    await minute([a, 1]);
    for (let n = 0; n < 8; n++) await minute([b, 1], [a, 1]);
    assert.equal((await told()).length, 2);
  }),
);

storeTest("one spike is reported once, despite missed checks and checks in any order", (fixture) =>
  nodes(fixture, async ({ clock, policy, start, told }) => {
    await policy("clickhouse_alert_fw_anomaly", {}, "1m");
    const all = [await start("a"), await start("b", { lateMs: 20 * SECOND_MS }), await start("c")];
    for (const node of all) await node.look();
    const plan = fc.array(fc.tuple(fc.shuffledSubarray(all, { minLength: 0 }), fc.nat(9)), { minLength: 14, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(plan, fc.nat(3), async (minutes, spike) => {
        // Long enough that nothing of the run before is in the window; all have looked when it begins.
        clock.advance(20 * MINUTE_MS);
        for (let n = 0; n < 2; n++) for (const node of all) await node.look();
        const before = (await told()).length;
        const missed = new Map(all.map((node) => [node, 0]));
        for (const [at, [order, seconds]] of minutes.entries()) {
          for (const node of all) node.happen(at === spike ? 60 : 5);
          clock.advance(seconds * SECOND_MS);
          const late = all.filter((node) => !order.includes(node) && (missed.get(node) ?? 0) >= 1);
          for (const node of all) missed.set(node, order.includes(node) || late.includes(node) ? 0 : (missed.get(node) ?? 0) + 1);
          for (const node of [...order, ...late]) await node.look();
          clock.advance(MINUTE_MS - seconds * SECOND_MS);
        }
        assert.equal((await told()).length - before, 1);
      }),
      { numRuns: 8 },
    );
  }),
);

storeTest("a restarted node counts nothing twice", (fixture) =>
  nodes(fixture, async ({ policy, start, minute, told }) => {
    await policy("clickhouse_alert_fw_anomaly");
    const [a, b] = [await start("a"), await start("b")];
    for (let n = 0; n < 3; n++) await minute([a, 20], [b, 12]);
    const again = await start("a");
    for (let n = 0; n < 6; n++) await minute([again, 20], [b, 12]);
    assert.deepEqual(await told(), [], "160 in five minutes");
  }),
);

storeTest("a restarted node that cannot count at first does so at the next check", (fixture) =>
  nodes(fixture, async ({ store, policy, call }) => {
    await policy("clickhouse_alert_fw_anomaly");
    await policy("http_alert_edge_error");
    let fails = false;
    const byMinute = async (kind: string) => {
      if (fails && kind === "edge_errors") throw new Error("the reader is away");
      return [];
    };
    const counting = () => createCountPublisher({ store, counts: { byMinute }, node: "a" });
    const policies = await enabledPolicies(store.read);
    await counting().publish(call(), policies, START);
    const again = counting();
    fails = true;
    await assert.rejects(again.publish(call(), policies, START + MINUTE_MS), /the reader is away/);
    fails = false;
    await again.publish(call(), policies, START + 2 * MINUTE_MS);
    assert.deepEqual(
      (await countNodes(store.read)).map(({ counted_ms }) => counted_ms),
      [START + 2 * MINUTE_MS],
    );
  }),
);

storeTest("a node with a copied state directory gets an error, and the original continues to count", (fixture) =>
  nodes(fixture, async ({ policy, start, minute, told, clock }) => {
    await policy("clickhouse_alert_fw_anomaly");
    const a = await start("a");
    await minute([a, 1]);
    const copy = await start("copy", ON_TIME, "a");
    await minute([copy, 1]);
    clock.advance(MINUTE_MS);
    await assert.rejects(a.look(), /another node uses the ID of this node, a: .* delete node-id/);
    await minute([copy, 300]);
    await minute([copy, 1]);
    assert.equal((await told()).length, 1);
  }),
);

storeTest("the error share is computed over the requests of all nodes", (fixture) =>
  nodes(fixture, async ({ policy, start, minute, told }) => {
    await policy("http_alert_origin_error", { slo: ["90"] });
    const [a, b] = [await start("a"), await start("b")];
    await minute([a, 0], [b, 0]);
    a.requests(300, 502);
    b.requests(3000, 200);
    for (let n = 0; n < 7; n++) await minute([a, 0], [b, 0]);
    assert.deepEqual(await told(), [], "one in eleven");
    a.requests(400, 502);
    b.requests(3000, 200);
    for (let n = 0; n < 3; n++) await minute([a, 0], [b, 0]);
    assert.deepEqual(await told(), ["Origin errors in one.example: 400 in 5 minutes"]);
  }),
);

storeTest("a node whose clock is a year ahead deletes no history of others, and has its own again afterwards", (fixture) =>
  nodes(fixture, async ({ store, policy, start, minute, told }) => {
    const fast = { lateMs: 0 };
    const [a, b] = [await start("a"), await start("b", fast)];
    for (let agoMs = 7 * DAY_MS + HOUR_MS; agoMs > 0; agoMs -= 5 * MINUTE_MS) {
      a.happen(100, agoMs);
      b.happen(100, agoMs);
    }
    await policy("clickhouse_alert_fw_anomaly");
    for (let n = 0; n < 2; n++) await minute([a, 20], [b, 20]);
    const kept = async (): Promise<unknown> =>
      store.read
        .selectFrom("event_counts")
        .select(({ fn }) => ["node", fn.countAll().as("rows")])
        .where("hour_ms", "<", START + DAY_MS)
        .groupBy("node")
        .orderBy("node")
        .execute();
    const before = await kept();
    fast.lateMs = -365 * DAY_MS;
    for (let n = 0; n < 3; n++) await minute([a, 20], [b, 0]);
    fast.lateMs = 0;
    for (let n = 0; n < 7; n++) await minute([a, 20], [b, 20]);
    assert.deepEqual(await kept(), before);
    assert.deepEqual(await told(), []);
  }),
);

storeTest("zones without a policy are not recorded, and counts are deleted after the history's length", (fixture) =>
  nodes(fixture, async ({ store, clock, policy, policies, account_id, call, start, minute }) => {
    const { id } = await policy("http_alert_edge_error");
    const a = await start("a");
    const kept = async () => (await store.read.selectFrom("event_counts").select("kind").execute()).map(({ kind }) => kind);
    await minute([a, 50]);
    await minute([a, 50]);
    assert.deepEqual(await kept(), []);
    await policies.update(call(), account_id, id, { alert_type: "clickhouse_alert_fw_anomaly" });
    await minute([a, 50]);
    assert.deepEqual(await kept(), ["security_events"]);
    clock.advance(8 * DAY_MS);
    await minute([a, 0]);
    assert.deepEqual(await kept(), []);
  }),
);
