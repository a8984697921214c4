import type { AlertServiceId } from "#model/events/notification.ts";
import { countsInTimes, countsOfZone } from "#store/events/event-counts.ts";
import type { Store } from "#store/database/store.ts";
import type { CountedKind, EventCounts, WindowCount } from "./event-counts.ts";
import { HOUR_MS, hourOf, minutesOf } from "./hour-counts.ts";
import { windowCounts } from "./spikes.ts";

/** The sums of all nodes' published counts. */
export function createSharedCounts({ store }: { readonly store: Store }): EventCounts {
  const hours = (fromMs: number, toMs: number) => ({ fromMs: hourOf(fromMs), toMs: hourOf(toMs - 1) + HOUR_MS });
  const ofZone = async (kind: CountedKind, zoneId: string, service: string | null, fromMs: number, toMs: number) =>
    minutesOf(await countsOfZone(store.read, { kind, zoneId, service }, hours(fromMs, toMs)), fromMs, toMs);
  return {
    inWindow: async (kind, fromMs, toMs) => {
      const found = new Map<string, WindowCount>();
      for (const { row, count } of minutesOf(await countsInTimes(store.read, kind, hours(fromMs, toMs)), fromMs, toMs)) {
        const key = `${row.zone_id}/${row.service}`;
        const service = row.service === "" ? null : (row.service as AlertServiceId);
        found.set(key, { zone_id: row.zone_id, service, count: (found.get(key)?.count ?? 0) + count });
      }
      return [...found.values()];
    },
    windows: async (kind, zoneId, service, fromMs, toMs) => windowCounts(await ofZone(kind, zoneId, service, fromMs, toMs), fromMs, toMs),
    requests: async (zoneId, fromMs, toMs) => {
      let sum = 0;
      for (const { count } of await ofZone("requests", zoneId, null, fromMs, toMs)) sum += count;
      return sum;
    },
  };
}
