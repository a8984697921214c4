import type { EventReads } from "#events/read/read-client.ts";
import type { Group, GroupQuery } from "#events/sql/group-query.ts";
import type { EventTable } from "#events/rows/rows.ts";
import type { Where } from "#events/sql/where-sql.ts";
import { ALERT_SERVICES, type AlertServiceId, type SpikeKind } from "#model/events/notification.ts";
import { MINUTE_MS } from "./hour-counts.ts";
import { windowCounts } from "./spikes.ts";

/** A zone's count of one kind. Security events are counted by service; null for services that cannot be selected. */
export interface WindowCount {
  readonly zone_id: string;
  readonly service: AlertServiceId | null;
  readonly count: number;
}

/** Numbers of events of each kind, counted by minute. */
export interface EventCounts {
  inWindow(kind: SpikeKind, fromMs: number, toMs: number): Promise<readonly WindowCount[]>;
  /** One number per window between the times, which are multiples of a window apart. */
  windows(kind: SpikeKind, zoneId: string, service: AlertServiceId | null, fromMs: number, toMs: number): Promise<readonly number[]>;
  /** All requests of the zone. */
  requests(zoneId: string, fromMs: number, toMs: number): Promise<number>;
}

export const COUNTED_KINDS = ["security_events", "edge_errors", "origin_errors", "requests"] as const;
export type CountedKind = (typeof COUNTED_KINDS)[number];

/** A zone's count in one minute; several may belong to the same zone, service and minute. */
export interface MinuteCount extends WindowCount {
  readonly minuteMs: number;
}

/** Counts per minute for these zones; minutes without events are omitted. */
export interface MinuteCounts {
  byMinute(kind: CountedKind, zoneIds: readonly string[], fromMs: number, toMs: number): Promise<readonly MinuteCount[]>;
}

/** Groups per query, by zone and phase; the query is repeated until all are read. A single zone has far fewer groups. */
const GROUPS_A_TURN = 10_000;

/** Conditions for all requests, and for failed ones by the origin of the response. */
const REQUESTS: Readonly<Record<Exclude<CountedKind, "security_events">, Where<"requests">>> = {
  requests: [],
  edge_errors: [
    { column: "status", operator: "ge", value: 500 },
    { column: "edge_error", operator: "ne", value: "" },
  ],
  origin_errors: [
    { column: "status", operator: "ge", value: 500 },
    { column: "edge_error", operator: "eq", value: "" },
  ],
};

const SERVICE_BY_PHASE: ReadonlyMap<string, AlertServiceId> = new Map(
  ALERT_SERVICES.flatMap(({ id, phases }) => phases.map((phase) => [phase, id] as const)),
);

const serviceOf = (phase: string | number | null | undefined): AlertServiceId | null => SERVICE_BY_PHASE.get(String(phase)) ?? null;

export function createEventCounts(events: EventReads): EventCounts & MinuteCounts {
  const times = (fromMs: number, toMs: number) =>
    [
      { column: "at_ms", operator: "ge", value: fromMs },
      { column: "at_ms", operator: "lt", value: toMs },
    ] as const;

  /** Groups of every zone; the first dimension in `by` is the zone. */
  const ofZones = async <T extends "requests" | "security_events">(
    table: T,
    query: Pick<GroupQuery<T>, "where" | "by">,
  ): Promise<readonly Group[]> => {
    const all: Group[] = [];
    for (let from: Where<T> = []; ;) {
      const where = [...query.where, ...from];
      const groups = await events.groups(table, {
        where,
        by: query.by,
        measures: [],
        order: [{ by: 0, direction: "asc" }],
        limit: GROUPS_A_TURN,
      });
      const last = groups.at(-1)?.dimensions[0];
      if (groups.length < GROUPS_A_TURN || last === groups[0]?.dimensions[0]) return all.concat(groups);
      // The last zone may have more groups than fit, so it is read again.
      all.push(...groups.filter(({ dimensions }) => dimensions[0] !== last));
      from = [{ column: "zone_id", operator: "ge", value: String(last) }] as Where<EventTable> as Where<T>;
    }
  };

  /** By minute, because a window may begin at any minute. */
  const minutesOfZone = (
    kind: SpikeKind,
    zoneId: string,
    service: AlertServiceId | null,
    fromMs: number,
    toMs: number,
  ): Promise<readonly Group[]> => {
    const where = [{ column: "zone_id", operator: "eq", value: zoneId }, ...times(fromMs, toMs)] as const;
    const minutes = {
      by: [{ column: "at_ms", intervalMs: MINUTE_MS }],
      measures: [],
      order: [],
      limit: (toMs - fromMs) / MINUTE_MS,
    } as const;
    if (kind !== "security_events") return events.groups("requests", { where: [...where, ...REQUESTS[kind]], ...minutes });
    const phases = ALERT_SERVICES.find(({ id }) => id === service)?.phases;
    const ofService = phases === undefined ? [] : [{ column: "phase", operator: "in", value: phases } as const];
    return events.groups("security_events", { where: [...where, ...ofService], ...minutes });
  };

  return {
    inWindow: async (kind, fromMs, toMs) => {
      if (kind !== "security_events") {
        const groups = await ofZones("requests", { where: [...times(fromMs, toMs), ...REQUESTS[kind]], by: [{ column: "zone_id" }] });
        return groups.map(({ count, dimensions: [zone] }) => ({ zone_id: String(zone), service: null, count }));
      }
      const by = [{ column: "zone_id" }, { column: "phase" }] as const;
      const groups = await ofZones("security_events", { where: times(fromMs, toMs), by });
      return groups.map(({ count, dimensions: [zone, phase] }) => ({ zone_id: String(zone), service: serviceOf(phase), count }));
    },

    byMinute: async (kind, zoneIds, fromMs, toMs) => {
      const where = [{ column: "zone_id", operator: "in", value: zoneIds }, ...times(fromMs, toMs)] as const;
      const [zones, minutes] = [{ column: "zone_id" }, { column: "at_ms", intervalMs: MINUTE_MS }] as const;
      const groups =
        kind === "security_events"
          ? await ofZones("security_events", { where, by: [zones, minutes, { column: "phase" }] })
          : await ofZones("requests", { where: [...where, ...REQUESTS[kind]], by: [zones, minutes] });
      return groups.map(({ count, dimensions: [zone, minute, phase] }) => {
        return { zone_id: String(zone), service: serviceOf(phase), minuteMs: Number(minute), count };
      });
    },

    windows: async (kind, zoneId, service, fromMs, toMs) => {
      const groups = await minutesOfZone(kind, zoneId, service, fromMs, toMs);
      const minutes = groups.map(({ count, dimensions: [minute] }) => ({ atMs: Number(minute), count }));
      return windowCounts(minutes, fromMs, toMs);
    },

    requests: async (zoneId, fromMs, toMs) => {
      const where = [{ column: "zone_id", operator: "eq", value: zoneId }, ...times(fromMs, toMs)] as const;
      const [group] = await events.groups("requests", { where, by: [], measures: [], order: [], limit: 1 });
      return group?.count ?? 0;
    },
  };
}
