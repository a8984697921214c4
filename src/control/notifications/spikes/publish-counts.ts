import { setImmediate } from "node:timers/promises";
import type { EventReads } from "#events/read/read-client.ts";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { alertType } from "#model/events/notification.ts";
import {
  countNodes,
  deleteCountsBefore,
  deleteOwnCounts,
  type EventCountRow,
  putCountNode,
  putCounts,
  zoneIdsOf,
  zonesCounted,
} from "#store/events/event-counts.ts";
import type { PolicyRow } from "#store/events/notifications.ts";
import type { Store } from "#store/database/store.ts";
import { COUNTED_KINDS, type CountedKind, type MinuteCounts } from "./event-counts.ts";
import { countKey, HOUR_MS, hourOf, MINUTE_MS, minutesText } from "./hour-counts.ts";
import { policyValue } from "#control/notifications/alerts/policy-rows.ts";
import { DAY_MS, DAYS } from "./spikes.ts";

/** Publishes this node's counts for all nodes. */
export interface CountPublisher {
  /**
   * Writes the counts that policies need, up to `endMs`: those since the last call, and the whole history of zones that
   * were not needed before. Throws if another node uses this node's id, or a database is unavailable; the next call
   * catches up.
   */
  publish(call: Call, policies: readonly PolicyRow[], endMs: number): Promise<void>;
}

export interface CountPublisherDeps {
  readonly store: Store;
  readonly counts: MinuteCounts;
  /** Kept as long as the node's events database. */
  readonly node: string;
}

/** Maximum delay between an event and its row in the events database. */
const LATE_MS = 5 * MINUTE_MS;
const HISTORY_MS = DAYS * DAY_MS + HOUR_MS;
const ROWS_A_UNIT = 500;
const ZONES_A_QUERY = 100;
const HOURS_A_QUERY = 6;

export function createCountPublisher({ store, counts, node }: CountPublisherDeps): CountPublisher {
  const run = newId();
  /** Zones whose history is published. */
  let known = new Map<CountedKind, ReadonlySet<string>>();
  /** Written counts of hours that still change, by key. */
  let written = new Map<string, string>();
  /** This process has claimed the node's id. */
  let isNamed = false;
  let cleanedMs = Number.NEGATIVE_INFINITY;

  const write = async (call: Call, rows: readonly EventCountRow[]): Promise<void> => {
    const changed = rows.filter((row) => written.get(countKey(row)) !== row.minutes);
    for (let at = 0; at < changed.length; at += ROWS_A_UNIT) {
      const part = changed.slice(at, at + ROWS_A_UNIT);
      await commit({ store }, call, ({ db }) => putCounts(db, part));
      for (const row of part) written.set(countKey(row), row.minutes);
    }
  };

  const count = async (call: Call, kind: CountedKind, zones: readonly string[], fromMs: number, toMs: number): Promise<void> => {
    for (let at = 0; at < zones.length; at += ZONES_A_QUERY)
      for (let startMs = fromMs; startMs < toMs; startMs += HOURS_A_QUERY * HOUR_MS) {
        const some = zones.slice(at, at + ZONES_A_QUERY);
        const groups = await counts.byMinute(kind, some, startMs, Math.min(toMs, startMs + HOURS_A_QUERY * HOUR_MS));
        const hours = new Map<string, EventCountRow & { readonly counted: number[] }>();
        for (const { zone_id, service, minuteMs, count: n } of groups) {
          const key = { kind, zone_id, service: service ?? "", hour_ms: hourOf(minuteMs), node };
          const name = countKey(key);
          const hour = hours.get(name) ?? { ...key, minutes: "", counted: [] };
          const minute = (minuteMs - key.hour_ms) / MINUTE_MS;
          hour.counted[minute] = (hour.counted[minute] ?? 0) + n;
          hours.set(name, hour);
        }
        await write(
          call,
          Array.from(hours.values(), ({ counted, ...row }) => ({ ...row, minutes: minutesText(counted) })),
        );
        await setImmediate();
      }
  };

  return {
    publish: async (call, policies, endMs) => {
      const nodes = await countNodes(store.read);
      const own = nodes.find((row) => row.node === node);
      if (own !== undefined && own.run !== run && isNamed)
        throw new Error(
          `another node uses the ID of this node, ${node}: its state directory is a copy; delete node-id on one of them and restart it`,
        );
      // The clock was ahead when this node last wrote, so its earlier counts were deleted as old.
      if (own !== undefined && own.counted_ms > endMs + HOUR_MS) known = new Map(COUNTED_KINDS.map((kind) => [kind, new Set()]));
      const oldestMs = hourOf(endMs - HISTORY_MS);
      const sinceMs = Math.max(oldestMs, own === undefined ? 0 : hourOf(Math.min(own.counted_ms, endMs) - LATE_MS));
      for (const [kind, wanted] of await wantedZones(store, policies)) {
        const before = known.get(kind) ?? new Set(await zonesCounted(store.read, node, kind));
        await count(
          call,
          kind,
          [...wanted].filter((zone) => !before.has(zone)),
          oldestMs,
          sinceMs,
        );
        await count(call, kind, [...wanted], sinceMs, endMs);
        known.set(kind, wanted);
      }
      await commit({ store }, call, ({ db }) => putCountNode(db, { node, run, counted_ms: endMs }));
      isNamed = true;
      if (Math.abs(endMs - cleanedMs) < HOUR_MS) return;
      // According to other nodes' clocks, so that a single clock that is ahead does not delete everyone's history.
      const othersMs = Math.max(HISTORY_MS, ...nodes.filter((row) => row.node !== node).map(({ counted_ms }) => counted_ms));
      await commit({ store }, call, async ({ db }) => {
        await deleteOwnCounts(db, node, { beforeMs: oldestMs, afterMs: endMs + HOUR_MS });
        await deleteCountsBefore(db, Math.min(oldestMs, hourOf(othersMs - HISTORY_MS)));
      });
      cleanedMs = endMs;
      written = new Map();
    },
  };
}

/** For nodes that all read the same events: they publish nothing, and a window is only claimed while these can be read. */
export const commonEvents = (events: Pick<EventReads, "lastRow">): CountPublisher => ({
  publish: async () => void (await events.lastRow("requests")),
});

/** Zones that policies need, by kind of count. */
async function wantedZones(store: Store, policies: readonly PolicyRow[]): Promise<ReadonlyMap<CountedKind, ReadonlySet<string>>> {
  const ofSpikes = policies.flatMap((policy) => {
    const spike = alertType(policy.alert_type)?.spike;
    const { filters = {} } = policyValue(policy);
    return spike === undefined
      ? []
      : [{ account: policy.account_id, zones: filters["zones"], kinds: filters["slo"] ? [spike, "requests" as const] : [spike] }];
  });
  const accounts = [...new Set(ofSpikes.map(({ account }) => account))];
  const zonesByAccount = Map.groupBy(accounts.length === 0 ? [] : await zoneIdsOf(store.read, accounts), ([account]) => account);
  const wantedBy = (kind: CountedKind) =>
    ofSpikes
      .filter(({ kinds }) => kinds.includes(kind))
      .flatMap(({ account, zones }) => zones ?? zonesByAccount.get(account)?.map(([, zone]) => zone) ?? []);
  return new Map(COUNTED_KINDS.map((kind) => [kind, new Set(wantedBy(kind))]));
}
