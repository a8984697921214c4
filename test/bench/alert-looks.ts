import { join } from "node:path";
import { createEventReader } from "#app/control/event-reader.ts";
import { systemCall } from "#control/call.ts";
import { createDeliveries } from "#control/notifications/delivery/deliveries.ts";
import { createEventCounts } from "#control/notifications/spikes/event-counts.ts";
import { createWindowClaims } from "#control/notifications/spikes/window-claims.ts";
import { createNotificationWatch } from "#control/notifications/spikes/watch.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { packed, testSecurityRow } from "#events/testing/rows.ts";
import { fixedClock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { insertPolicy } from "#store/events/notifications.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { insertZone } from "#store/zones/zones.ts";
import type { Benchmark } from "./benchmark.ts";

const ACCOUNTS = 10;
const PER_ACCOUNT = 100;
const START_MS = Date.UTC(2026, 0, 15, 10, 0);
const MINUTE_MS = 60_000;
/** Events of the hour before, so that every zone has a normal level. */
const WINDOWS = 12;

/** Zones have few events, the usual case: no zone has to be compared with its history. */
export const alertLooksQuiet = alertLooks("alert-looks-quiet", 20);
/** All zones are always above the floor: each has to be compared with its history, and none has a spike. */
export const alertLooksBusy = alertLooks("alert-looks-busy", 220);

function alertLooks(name: string, perWindow: number): Benchmark {
  const total = ACCOUNTS * PER_ACCOUNT;
  return {
    name,
    unit: `ms of CPU of the API's thread for a look, ${total} zones with ${perWindow} events in five minutes, ${total} policies`,
    better: "lower",
    // A check runs every minute.
    target: 600,
    tools: [],
    prepare: async ({ directory }) => {
      const clock = fixedClock(START_MS);
      const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock });
      const path = join(directory, "events.db");
      const zones = await fill(store, isoMicros(clock.nowMicros()));
      const database = openEventDatabase(path);
      for (let window = 0; window <= WINDOWS; window++)
        for (const [n, [account_id, zone_id]] of zones.entries()) {
          const at_ms = START_MS - MINUTE_MS - window * 5 * MINUTE_MS;
          const row = (i: number) => testSecurityRow({ id: `${window}-${n}-${i}`, account_id, zone_id, at_ms: at_ms + i });
          database.insert([
            packed(
              "security_events",
              Array.from({ length: perWindow }, (_, i) => row(i)),
            ),
          ]);
        }
      database.close();
      const log = { info: () => undefined, error: console.error };
      const reader = createEventReader(path, log as never);
      const deliveries = createDeliveries({
        ...{ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendEmail: null },
        sendWebhook: async () => undefined,
      });
      const watch = createNotificationWatch({
        store,
        clock,
        counts: createEventCounts(reader.reads),
        deliveries,
        rounds: createWindowClaims(),
      });
      const call = systemCall("bench");
      clock.advance(10_000);
      await watch.look(call);
      return {
        ours: {
          name: "selvedge",
          run: async () => {
            const [all, own, startMs] = [process.cpuUsage(), process.threadCpuUsage(), performance.now()];
            const { told, failed } = await watch.look(call);
            const ms = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;
            const [value, cpu_ms, took_ms] = [ms(process.threadCpuUsage(own)), ms(process.cpuUsage(all)), performance.now() - startMs];
            if (failed.length > 0) throw new Error(JSON.stringify(failed[0]));
            return { value, also: { cpu_ms, told, took_ms, blocked_max_ms: await longestTurn(() => watch.look(call)) } };
          },
        },
        close: async () => {
          await reader.close();
          await store.close();
        },
      };
    },
  };
}

/** The longest time that other work waits for the thread during the work; it uses CPU time itself. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [last, longest, isOver] = [performance.now(), 0, false];
  const turns = (async () => {
    while (!isOver) {
      await new Promise(setImmediate);
      const now = performance.now();
      [longest, last] = [Math.max(longest, now - last), now];
    }
  })();
  await work();
  isOver = true;
  await turns;
  return longest;
}

/** Half of an account's policies are about one zone each, the others about all of them. */
async function fill(store: Store, created_on: string): Promise<readonly (readonly [account: string, zone: string])[]> {
  const zones: [string, string][] = [];
  await store.write(async ({ db }) => {
    for (let a = 0; a < ACCOUNTS; a++) {
      const account_id = newId();
      await insertAccount(db, { id: account_id, name: `${a}`, type: "standard", settings: "{}", created_on });
      for (let n = 0; n < PER_ACCOUNT; n++) {
        const id = newId();
        zones.push([account_id, id]);
        await insertZone(db, {
          ...{ id, account_id, name: `z${n}.a${a}.example`, status: "active", type: "full", paused: 0, plan: "enterprise" },
          ...{ name_servers: "[]", settings: "{}", serial: 1, record_count: 0, vanity_name_servers: "[]", activated_on: null },
          ...{ proof: "operator", verification_key: "", pair: "[]" },
          ...{ created_on, modified_on: created_on },
        });
        const filters = n % 2 === 0 ? { zones: [id] } : {};
        const value = JSON.stringify({ name: "p", mechanisms: { webhooks: [{ id: "0" }] }, filters });
        const alert_type = "clickhouse_alert_fw_anomaly";
        await insertPolicy(db, { id: newId(), account_id, alert_type, enabled: 1, value, created_on, modified_on: created_on });
      }
    }
  });
  return zones;
}
