import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { localReads } from "#events/read/read-client.ts";
import { packed, testSecurityRow } from "#events/testing/rows.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { ALERT_SERVICES, type AlertServiceId, type SpikeKind } from "#model/events/notification.ts";
import { deliveriesOf } from "#store/events/notification-deliveries.ts";
import { openStore } from "#store/database/open.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { createDeliveries } from "#control/notifications/delivery/deliveries.ts";
import { createEventCounts, type EventCounts } from "#control/notifications/spikes/event-counts.ts";
import { createNotificationPolicies } from "#control/notifications/policies/policies.ts";
import { createWindowClaims } from "#control/notifications/spikes/window-claims.ts";
import { historyOf, WINDOW_MS } from "#control/notifications/spikes/spikes.ts";
import { createNotificationWatch } from "#control/notifications/spikes/watch.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A Thursday; clocks of Europe and North America change in the weeks after it. */
const START = Date.UTC(2026, 2, 5);

async function watching(t: TestContext, countsOf: (zones: readonly string[], directory: string) => EventCounts) {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-weeks-"));
  const clock = fixedClock(START);
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock });
  t.after(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const { control, account_id, call } = await controlOver(store, { clock });
  const zones: string[] = [];
  for (const name of ["one.example", "two.example", "free.example"]) {
    const { id } = await control.zones.create(call(), { name, account: { id: account_id } });
    if (name !== "free.example") await control.zones.edit(call(), id, { plan: { id: "enterprise" } });
    zones.push(id);
  }
  const { id: webhook } = await control.notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://example.com/" });
  const counts = countsOf(zones, directory);
  const parts = { store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null, sendWebhook: async () => undefined };
  const deliveries = createDeliveries(parts);
  const policies = createNotificationPolicies({ store, clock, deliveries, ready: { email: false } });
  /** A node's; another one begins without having looked. */
  const start = () => createNotificationWatch({ store, clock, counts, deliveries, rounds: createWindowClaims() });
  return {
    clock,
    zones,
    start,
    policies,
    control,
    call,
    account_id,
    directory,
    policy: (alert_type: string, filters: Record<string, string[]> = {}, name = "p") =>
      policies.create(call(), account_id, { name, enabled: true, alert_type, filters, mechanisms: { webhooks: [{ id: webhook }] } }),
    /** Looks now; gives how many were told. */
    look: async (watch: ReturnType<typeof start>): Promise<number> => {
      const { told, failed } = await watch.look(call());
      assert.deepEqual(failed, []);
      return told;
    },
    told: async () =>
      (await deliveriesOf(store.read, account_id, {}, { limit: 1000, offset: 0 })).map(
        ({ name, body }) => [name, JSON.parse(body).data] as const,
      ),
  };
}

/** Events of one zone, made up from the time: busy by day and quiet at night in UTC, and a little uneven. */
function madeUp(happens: (ms: number) => number) {
  return (zones: readonly string[]): EventCounts => ({
    inWindow: async (kind: SpikeKind, fromMs) =>
      kind === "security_events" ? [{ zone_id: zones[0] ?? "", service: "firewallcustom", count: happens(fromMs) }] : [],
    requests: async () => 0,
    windows: async (_kind, _zone, _service, fromMs, toMs) =>
      Array.from({ length: (toMs - fromMs) / WINDOW_MS }, (_, i) => happens(fromMs + i * WINDOW_MS)),
  });
}

const usualAt = (ms: number): number => {
  const hour = new Date(ms).getUTCHours();
  const uneven = ((ms / WINDOW_MS) * 7919) % 41;
  return (hour >= 8 && hour < 18 ? 400 : 20) + Math.round(uneven);
};

test("busy days and quiet nights over weeks: the first busy hour without history is reported, then only spikes", async (t) => {
  const off: [from: number, to: number][] = [
    [START + 10 * DAY_MS + 7 * HOUR_MS, START + 13 * DAY_MS + 7 * HOUR_MS],
    [START + 17 * DAY_MS, START + 26 * DAY_MS + 9 * HOUR_MS],
  ];
  const attacks = [START + 8 * DAY_MS + 10 * HOUR_MS, START + 9 * DAY_MS + 3 * HOUR_MS, START + 14 * DAY_MS + 12 * HOUR_MS];
  const isOff = (ms: number): boolean => off.some(([from, to]) => ms >= from && ms < to);
  const happens = (ms: number): number => {
    if (ms < START || isOff(ms)) return 0;
    return usualAt(ms) + (attacks.some((at) => ms >= at && ms < at + 20 * MINUTE_MS) ? 2_000 : 0);
  };
  const { clock, start, look, policy } = await watching(t, madeUp(happens));
  await policy("clickhouse_alert_fw_anomaly");
  let watch = start();
  const told: string[] = [];
  for (let wasOff = false; clock.nowMs() < START + 30 * DAY_MS; clock.advance(10 * MINUTE_MS)) {
    const nowOff = isOff(clock.nowMs());
    if (wasOff && !nowOff) watch = start();
    wasOff = nowOff;
    if (!nowOff && (await look(watch)) > 0) told.push(new Date(clock.nowMs()).toISOString().slice(5, 16));
  }
  assert.deepEqual(told, [
    // Nothing is known of busy hours yet.
    "03-05T08:10",
    "03-13T10:10",
    "03-14T03:10",
    // Three days off neither cause an alert for usual traffic nor hide an attack on the day after.
    "03-19T12:10",
    // After more than a week off it is as at the beginning, for each hour that comes back.
    "03-31T09:10",
    "04-01T08:10",
  ]);
});

test("a spike whose end was not observed counts as over, and the one at the server's return is reported", async (t) => {
  const attacks = [START + 2 * HOUR_MS, START + 3 * DAY_MS];
  let lengthMs = 20 * MINUTE_MS;
  const { clock, start, look, policy } = await watching(
    t,
    madeUp((ms) => (attacks.some((at) => ms >= at && ms < at + lengthMs) ? 3_000 : 5)),
  );
  await policy("clickhouse_alert_fw_anomaly");
  const to = (ms: number): void => clock.advance(ms - clock.nowMs());
  to(START + 2 * HOUR_MS + 10 * MINUTE_MS);
  assert.equal(await look(start()), 1);
  clock.advance(MINUTE_MS);
  assert.equal(await look(start()), 0, "a restart amid it");
  to(START + 3 * DAY_MS + 6 * MINUTE_MS);
  const late = start();
  assert.equal(await look(late), 1);
  assert.equal(await look(start()), 0, "another node sees the same");
  clock.advance(5 * MINUTE_MS);
  assert.equal(await look(late), 0);
  // Longer than the interval, and still the same one.
  lengthMs = 60 * MINUTE_MS;
  clock.advance(35 * MINUTE_MS);
  assert.equal(await look(start()), 0, "a restart after the interval amid a spike that goes on");
});

test("a clock that was a year ahead does not suppress the report of a spike", async (t) => {
  const attack = START + 5 * HOUR_MS;
  const ahead = START + 365 * DAY_MS;
  const { clock, start, look, policy } = await watching(
    t,
    madeUp((ms) => ([attack, ahead].some((at) => ms >= at && ms < at + 20 * MINUTE_MS) ? 3_000 : 5)),
  );
  await policy("clickhouse_alert_fw_anomaly");
  const watch = start();
  clock.advance(ahead + 10 * MINUTE_MS - clock.nowMs());
  assert.equal(await look(watch), 1);
  clock.advance(attack - HOUR_MS - clock.nowMs());
  assert.equal(await look(watch), 0);
  clock.advance(HOUR_MS + 10 * MINUTE_MS);
  assert.equal(await look(watch), 1);
});

test("hours of the history are in UTC, whatever the machine's time zone", () => {
  const before = process.env["TZ"];
  try {
    const starts = Array.from({ length: 24 * 120 }, (_, hour) => START + hour * HOUR_MS + 25 * MINUTE_MS);
    const all = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata"].map((zone) => {
      process.env["TZ"] = zone;
      return JSON.stringify(starts.map(historyOf));
    });
    assert.equal(new Set(all).size, 1);
    for (const start of starts)
      for (const { fromMs, toMs } of historyOf(start).slice(1)) {
        assert.equal(new Date(fromMs).getUTCHours(), new Date(start).getUTCHours());
        assert.deepEqual([toMs - fromMs, fromMs % HOUR_MS], [HOUR_MS, 0]);
      }
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
});

/** Every choice of some of these, none of them included. */
const choices = <T>(of: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: 2 ** of.length }, (_, bits) => of.filter((_one, n) => (bits & (1 << n)) !== 0));

test("SPEC 6: the advanced alert reports only the zones and services of its filters, in Enterprise zones", async (t) => {
  let directory = "";
  const { clock, start, look, policy, told, zones } = await watching(t, (_zones, at) => {
    directory = at;
    return createEventCounts(localReads(openEventQueries(join(at, "events.db"))));
  });
  const [one = "", two = "", free = ""] = zones;
  const services: readonly AlertServiceId[] = ALERT_SERVICES.map(({ id }) => id);
  const expected = new Map<string, readonly string[]>();
  const counted = (zone: string, service: AlertServiceId): number => 300 + zones.indexOf(zone) * 100 + services.indexOf(service);
  for (const some of choices([one, two]))
    for (const of of choices(services)) {
      // As people write them, and as the API does.
      const written = of.map((id, n) => (n % 2 === 0 ? ALERT_SERVICES.find((row) => row.id === id)?.name : id) ?? id);
      const filters = { ...(some.length > 0 ? { zones: [...some] } : {}), ...(of.length > 0 ? { services: written } : {}) };
      const name = JSON.stringify(filters);
      await policy("clickhouse_alert_fw_ent_anomaly", filters, name);
      const chosen = (some.length > 0 ? some : [one, two]).flatMap((zone) =>
        (of.length > 0 ? of : services).map((service) => `${zone} ${counted(zone, service)}`),
      );
      expected.set(name, chosen.toSorted());
    }
  const database = openEventDatabase(join(directory, "events.db"));
  for (const zone_id of zones)
    for (const { id: service, phases } of ALERT_SERVICES)
      database.insert([
        packed(
          "security_events",
          Array.from({ length: counted(zone_id, service) }, (_, i) =>
            testSecurityRow({ id: `${zone_id}${service}${i}`, zone_id, phase: phases[0], at_ms: START - 2 * MINUTE_MS + i }),
          ),
        ),
      ]);
  // Of a phase that no service is.
  database.insert([
    packed(
      "security_events",
      Array.from({ length: 900 }, (_, i) =>
        testSecurityRow({ id: `x${i}`, zone_id: one, phase: "http_request_sanitize", at_ms: START - 2 * MINUTE_MS }),
      ),
    ),
  ]);
  database.close();
  clock.advance(10_000);
  await look(start());
  const found = new Map<string, string[]>([...expected.keys()].map((name) => [name, []]));
  for (const [name, { zone_id, events }] of await told()) found.get(name)?.push(`${zone_id} ${events}`);
  for (const [name, subjects] of found) assert.deepEqual(subjects.toSorted(), expected.get(name), name);
  assert.ok(![...found.values()].flat().some((subject) => subject.startsWith(free)));
});

test("SPEC 6: the advanced alert is refused for zones of other plans, and services for alerts without services", async (t) => {
  const { policy, policies, zones, call, account_id, control } = await watching(
    t,
    madeUp(() => 0),
  );
  const [one = "", , free = ""] = zones;
  await assert.rejects(
    policy("clickhouse_alert_fw_ent_anomaly", { zones: [one, free] }),
    failing(10602, "/filters/zones", /^Advanced Security Events Alert is for zones of the enterprise plan, which free\.example is not$/),
  );
  await assert.rejects(
    policy("clickhouse_alert_fw_anomaly", { services: ["dlp"] }),
    failing(10602, "/filters/services", /^clickhouse_alert_fw_anomaly has no filter services; it has zones$/),
  );
  await assert.rejects(
    policy("clickhouse_alert_fw_ent_anomaly", { services: ["Data Loss"] }),
    failing(
      10602,
      "/filters/services",
      /^service Data Loss does not exist; it must be one of dlp \(Data Loss Protection\), firewallcustom \(Custom Rules\), /,
    ),
  );
  const { id } = await policy("clickhouse_alert_fw_ent_anomaly", { zones: [one], services: ["Data Loss Protection"] });
  await assert.rejects(policies.update(call(), account_id, id, { filters: { zones: [free] } }), failing(10602, "/filters/zones"));
  assert.deepEqual(
    (await policies.get(account_id, id)).filters,
    { zones: [one], services: ["Data Loss Protection"] },
    "nothing has changed",
  );
  for (const zone of zones) await control.zones.edit(call(), zone, { plan: { id: "pro" } });
  await policies.update(call(), account_id, id, {
    name: "q",
    enabled: false,
    filters: { zones: [one], services: ["Data Loss Protection"] },
  });
  await assert.rejects(
    policies.update(call(), account_id, id, { filters: { zones: [one] } }),
    failing(10602, "/filters/zones", /which one\.example is not$/),
    "what is new is checked",
  );
  for (const filters of [{}, { services: ["dlp"] }])
    await assert.rejects(
      policy("clickhouse_alert_fw_ent_anomaly", filters),
      failing(10602, "/alert_type", /^Advanced Security Events Alert is for zones of the enterprise plan, of which the account has none$/),
    );
  const plain = await policy("clickhouse_alert_fw_anomaly");
  await assert.rejects(
    policies.update(call(), account_id, plain.id, { alert_type: "clickhouse_alert_fw_ent_anomaly" }),
    failing(10602, "/alert_type"),
  );
});
