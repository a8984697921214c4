import type { EventReads } from "#events/reads.ts";
import { ALERT_SERVICES, type AlertServiceId } from "#model/notification.ts";
import { WINDOW_MS } from "./spikes.ts";

/** Security events of a zone by service; null for those of services that nobody can choose. */
export interface WindowCount {
  readonly zone_id: string;
  readonly service: AlertServiceId | null;
  readonly count: number;
}

/** How many security events there were, from times counted by the minute. */
export interface EventCounts {
  inWindow(fromMs: number, toMs: number): Promise<readonly WindowCount[]>;
  /** One number for each window between the times, which are whole windows apart. */
  windows(zoneId: string, service: AlertServiceId | null, fromMs: number, toMs: number): Promise<readonly number[]>;
}

/** Zones with events in one window, by phase. */
const GROUPS_MAX = 10_000;

const SERVICE_BY_PHASE: ReadonlyMap<string, AlertServiceId> = new Map(
  ALERT_SERVICES.flatMap(({ id, phases }) => phases.map((phase) => [phase, id] as const)),
);

export const createEventCounts = (events: EventReads): EventCounts => ({
  inWindow: async (fromMs, toMs) => {
    const groups = await events.groups("security_events", {
      where: [
        { column: "at_ms", operator: "ge", value: fromMs },
        { column: "at_ms", operator: "lt", value: toMs },
      ],
      by: [{ column: "zone_id" }, { column: "phase" }],
      measures: [],
      order: [{ by: "count", direction: "desc" }],
      limit: GROUPS_MAX,
    });
    return groups.map(({ count, dimensions: [zone, phase] }) => ({
      zone_id: String(zone),
      service: SERVICE_BY_PHASE.get(String(phase)) ?? null,
      count,
    }));
  },

  windows: async (zoneId, service, fromMs, toMs) => {
    const windows = Array.from({ length: (toMs - fromMs) / WINDOW_MS }, () => 0);
    const phases = ALERT_SERVICES.find(({ id }) => id === service)?.phases;
    const groups = await events.groups("security_events", {
      where: [
        { column: "zone_id", operator: "eq", value: zoneId },
        { column: "at_ms", operator: "ge", value: fromMs },
        { column: "at_ms", operator: "lt", value: toMs },
        ...(phases === undefined ? [] : [{ column: "phase", operator: "in", value: phases } as const]),
      ],
      // By the minute: the window's own bounds are any whole minutes.
      by: [{ column: "at_ms", intervalMs: 60_000 }],
      measures: [],
      order: [],
      limit: ((toMs - fromMs) / WINDOW_MS) * 5,
    });
    for (const { count, dimensions } of groups) {
      const window = Math.floor((Number(dimensions[0]) - fromMs) / WINDOW_MS);
      windows[window] = (windows[window] ?? 0) + count;
    }
    return windows;
  },
});
