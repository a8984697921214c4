import { setImmediate } from "node:timers/promises";
import { ALERT_SERVICES, type AlertServiceId, alertService, alertType, type SpikeKind } from "#model/events/notification.ts";
import { planOf } from "#model/zones/plan.ts";
import type { PolicyRow } from "#store/events/notifications.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import type { WindowCount } from "./event-counts.ts";
import { policyValue } from "#control/notifications/alerts/policy-rows.ts";
import { SPIKE_FLOOR } from "./spikes.ts";

/** Zones per tick: SQLite blocks the thread, so the API gets its turn in between. */
const ZONES_A_TURN = 50;

/** A possible subject of a notification: the events of a zone, of all services or of one. */
export interface Subject {
  readonly kind: SpikeKind;
  readonly key: string;
  readonly zone: ZoneRow;
  readonly service: AlertServiceId | null;
  readonly count: number;
}

/** Zones with enough events for a notification, as a whole and by service. */
export async function subjectsOf(store: Store, kind: SpikeKind, counts: readonly WindowCount[]): Promise<readonly Subject[]> {
  const totals = Map.groupBy(counts, ({ zone_id }) => zone_id);
  const subjects: Subject[] = [];
  let zones = 0;
  for (const [zoneId, parts] of totals) {
    const total = parts.reduce((sum, { count }) => sum + count, 0);
    if (total < SPIKE_FLOOR) continue;
    if (++zones % ZONES_A_TURN === 0) await setImmediate();
    const zone = await zoneRowById(store.read, zoneId);
    if (zone === undefined) continue;
    subjects.push({ kind, key: zoneId, zone, service: null, count: total });
    for (const { service, count } of parts)
      if (service !== null && count >= SPIKE_FLOOR) subjects.push({ kind, key: `${zoneId}/${service}`, zone, service, count });
  }
  return subjects;
}

/** Decides which subjects a policy covers. */
export function chooser(policy: PolicyRow): (subject: Subject) => boolean {
  const type = alertType(policy.alert_type);
  const { filters = {} } = policyValue(policy);
  const zones = filters["zones"] && new Set(filters["zones"]);
  const services = filters["services"] && new Set(filters["services"].map((text) => alertService(text)?.id ?? null));
  const byService = type?.filters.includes("services") ?? false;
  return ({ zone, service }) =>
    type !== undefined &&
    zone.account_id === policy.account_id &&
    (type.plan === undefined || planOf(zone.plan).name === type.plan) &&
    (zones === undefined || zones.has(zone.id)) &&
    byService === (service !== null) &&
    (services === undefined || services.has(service));
}

/** The ratio of requests that may fail under the policy's objective; 0 if it has none. */
export function failingShareOf(policy: PolicyRow): number {
  const [slo] = policyValue(policy).filters?.["slo"] ?? [];
  // Integer arithmetic, because 100 - 99.9 is not exactly 0.1.
  return slo === undefined ? 0 : (1_000_000 - Math.round(Number(slo) * 10_000)) / 1_000_000;
}

export const factsOf = ({ kind, zone, service, count }: Subject) => ({
  kind,
  zone: { id: zone.id, name: zone.name },
  service: ALERT_SERVICES.find(({ id }) => id === service)?.name ?? null,
  count,
});
