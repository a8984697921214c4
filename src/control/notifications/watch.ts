import { setImmediate } from "node:timers/promises";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import type { Clock } from "#kernel/clock.ts";
import { ALERT_SERVICES, type AlertServiceId, alertService, alertType, type SpikeKind } from "#model/notification.ts";
import { planOf } from "#model/plan.ts";
import { enabledPolicies, isSilenced, policyById, type PolicyRow, putSpike, spikesOf } from "#store/notifications.ts";
import type { Store } from "#store/store.ts";
import { zoneRowById, type ZoneRow } from "#store/zones.ts";
import { spikeAlert } from "./alert.ts";
import type { Deliveries } from "./deliveries.ts";
import type { EventCounts, WindowCount } from "./event-counts.ts";
import { intervalMs, policyValue } from "./policy-rows.ts";
import { historyOf, SPIKE_FLOOR, type Usual, usualOf, WINDOW_MS } from "./spikes.ts";

/** Tells accounts of spikes in the security events and errors of their zones. */
export interface NotificationWatch {
  /**
   * Looks at the last five whole minutes. Each spike is told of once, when it begins; the next one of the same zone and
   * service at the earliest after the policy's interval. What fails for one policy is tried again with the next look, and keeps
   * nobody else's from being told.
   */
  look(call: Call): Promise<{ readonly told: number; readonly failed: readonly FailedLook[] }>;
}

export interface FailedLook {
  /** Of one policy, or of all of a kind. */
  readonly policy: string | SpikeKind;
  readonly reason: string;
}

export interface NotificationWatchDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly counts: EventCounts;
  readonly deliveries: Deliveries;
}

/** Rows come to the events database a moment after what they tell of. */
const SETTLE_MS = 5_000;
const MINUTE_MS = 60_000;
const INTERVAL_MS = 30 * MINUTE_MS;
/** After so many the API has its turn: SQLite answers without letting go of the thread. */
const POLICIES_A_TURN = 10;
const ZONES_A_TURN = 50;

/** What a policy may tell of: the events of a zone, all of them or those of one service. */
interface Subject {
  readonly kind: SpikeKind;
  readonly key: string;
  readonly zone: ZoneRow;
  readonly service: AlertServiceId | null;
  readonly count: number;
}

export function createNotificationWatch(deps: NotificationWatchDeps): NotificationWatch {
  const { store, clock, counts } = deps;
  return {
    look: async (call) => {
      const policies = await enabledPolicies(store.read);
      if (policies.length === 0) return { told: 0, failed: [] };
      const endMs = Math.floor((clock.nowMs() - SETTLE_MS) / MINUTE_MS) * MINUTE_MS;
      const window = { startMs: endMs - WINDOW_MS, endMs };
      const usual = memoized(async (subject: Subject) => usualOf(await samplesOf(counts, subject, window.startMs)));
      const requests = memoized(({ zone }: Subject) => counts.requests(zone.id, window.startMs, window.endMs));
      let told = 0;
      const failed: FailedLook[] = [];
      const attempt = async (policy: string, work: () => Promise<void>): Promise<void> => {
        await work().catch((error: unknown) => void failed.push({ policy, reason: reasonOf(error) }));
      };
      for (const [kind, ofKind] of Map.groupBy(policies, ({ alert_type }) => alertType(alert_type)?.spike)) {
        if (kind === undefined) continue;
        await attempt(kind, async () => {
          const subjects = await subjectsOf(store, kind, await counts.inWindow(kind, window.startMs, window.endMs));
          for (const [n, policy] of ofKind.entries()) {
            if (n % POLICIES_A_TURN === 0) await setImmediate();
            await attempt(policy.id, async () => {
              told += await judge(deps, call, { policy, subjects, usual, requests, ...window });
            });
          }
        });
      }
      return { told, failed };
    },
  };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Zones with so many events that they may be told of, as a whole and by service. */
async function subjectsOf(store: Store, kind: SpikeKind, counts: readonly WindowCount[]): Promise<readonly Subject[]> {
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

interface Judged {
  readonly policy: PolicyRow;
  readonly subjects: readonly Subject[];
  readonly usual: (subject: Subject) => Promise<Usual>;
  readonly requests: (subject: Subject) => Promise<number>;
  readonly startMs: number;
  readonly endMs: number;
}

async function judge(
  deps: NotificationWatchDeps,
  call: Call,
  { policy, subjects, usual, requests, startMs, endMs }: Judged,
): Promise<number> {
  const { store, clock, deliveries } = deps;
  const chosen = subjects.filter(chooser(policy));
  const failing = failingShareOf(policy);
  const spikes: (Subject & Usual)[] = [];
  for (const subject of chosen) {
    if (failing > 0 && subject.count <= failing * (await requests(subject))) continue;
    const known = await usual(subject);
    if (subject.count > known.limit) spikes.push({ ...subject, ...known });
  }
  const known = await spikesOf(store.read, policy.id);
  const over = known.filter(({ above, subject }) => above === 1 && !spikes.some(({ key }) => key === subject));
  const begun = spikes.filter(({ key }) => !known.some(({ subject, above }) => subject === key && above === 1));
  if (over.length + begun.length === 0) return 0;
  const pauseMs = intervalMs(policyValue(policy).alert_interval ?? "") ?? INTERVAL_MS;
  return commit(deps, call, async (unit) => {
    const { enabled = 0 } = (await policyById(unit.db, policy.account_id, policy.id)) ?? {};
    if (enabled === 0) return 0;
    // Another node may have seen the same meanwhile, or the next spike.
    const now = new Map((await spikesOf(unit.db, policy.id)).map((row) => [row.subject, row]));
    for (const row of over) if (now.get(row.subject)?.told_ms === row.told_ms) await putSpike(unit.db, { ...row, above: 0 });
    const silenced = await isSilenced(unit.db, policy.id, clock.nowMs());
    let told = 0;
    for (const subject of begun) {
      const before = now.get(subject.key);
      if (before?.above === 1) continue;
      // Told of when the interval has passed, should it last until then.
      if (before !== undefined && clock.nowMs() - before.told_ms < pauseMs) continue;
      const told_ms = silenced ? (before?.told_ms ?? 0) : clock.nowMs();
      await putSpike(unit.db, { policy_id: policy.id, subject: subject.key, above: 1, told_ms });
      if (silenced) continue;
      await deliveries.add(unit, policy, spikeAlert({ ...factsOf(subject), mean: subject.mean, startMs, endMs }));
      told += 1;
    }
    return told;
  });
}

/** The part of requests that may fail by the policy's objective; 0 where it has none. */
function failingShareOf(policy: PolicyRow): number {
  const [slo] = policyValue(policy).filters?.["slo"] ?? [];
  // In whole parts: 100 - 99.9 is not 0.1.
  return slo === undefined ? 0 : (1_000_000 - Math.round(Number(slo) * 10_000)) / 1_000_000;
}

const factsOf = ({ kind, zone, service, count }: Subject) => ({
  kind,
  zone: { id: zone.id, name: zone.name },
  service: ALERT_SERVICES.find(({ id }) => id === service)?.name ?? null,
  count,
});

/** Which subjects a policy is about. */
function chooser(policy: PolicyRow): (subject: Subject) => boolean {
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

async function samplesOf(counts: EventCounts, { kind, zone, service }: Subject, startMs: number): Promise<readonly number[]> {
  const stretches = historyOf(startMs).map(({ fromMs, toMs }) => counts.windows(kind, zone.id, service, fromMs, toMs));
  return (await Promise.all(stretches)).flat();
}

function memoized<K extends object, V>(of: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const found = known.get(key) ?? of(key);
    known.set(key, found);
    return found;
  };
}
