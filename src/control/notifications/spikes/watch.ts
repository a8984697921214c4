import { setImmediate } from "node:timers/promises";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import type { Clock } from "#kernel/clock.ts";
import { alertType, type SpikeKind } from "#model/events/notification.ts";
import { enabledPolicies, isSilenced, policyById, type PolicyRow, putSpike, spikesOf } from "#store/events/notifications.ts";
import type { Store } from "#store/database/store.ts";
import { spikeAlert } from "#control/notifications/alerts/alert.ts";
import type { Deliveries } from "#control/notifications/delivery/deliveries.ts";
import type { EventCounts } from "./event-counts.ts";
import { intervalMs, meaningOf, policyValue } from "#control/notifications/alerts/policy-rows.ts";
import type { WindowClaims } from "./window-claims.ts";
import { createBaselines } from "./baselines.ts";
import { type Usual, usualOf, WINDOW_MS } from "./spikes.ts";
import { chooser, factsOf, failingShareOf, type Subject, subjectsOf } from "./subjects.ts";

/** Notifies accounts of spikes in the security events and errors of their zones. */
export interface NotificationWatch {
  /**
   * Evaluates the last five complete minutes. Each spike causes one notification at its start; the next of the same zone
   * and service follows at the earliest after the policy's interval. A failure of one policy is retried at the next call
   * and does not affect others. A spike whose end was missed because no node was running counts as over.
   */
  look(call: Call): Promise<{ readonly told: number; readonly failed: readonly FailedCheck[] }>;
}

export interface FailedCheck {
  /** The id of one policy, or the kind for all of a kind. */
  readonly policy: string | SpikeKind;
  readonly reason: string;
}

export interface NotificationWatchDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly counts: EventCounts;
  readonly rounds: WindowClaims;
  readonly deliveries: Deliveries;
}

/** Rows reach the events database a moment after their events. */
const SETTLE_MS = 5_000;
const MINUTE_MS = 60_000;
const INTERVAL_MS = 30 * MINUTE_MS;
/** Policies per tick: SQLite blocks the thread, so the API gets its turn in between. */
const POLICIES_A_TURN = 10;

export function createNotificationWatch(deps: NotificationWatchDeps): NotificationWatch {
  const { store, clock, counts, rounds } = deps;
  const histories = createBaselines(counts);
  return {
    look: async (call) => {
      const policies = await enabledPolicies(store.read);
      if (policies.length === 0) return { told: 0, failed: [] };
      const newestMs = Math.floor((clock.nowMs() - SETTLE_MS) / MINUTE_MS) * MINUTE_MS;
      const round = await rounds.begin(call, policies, newestMs);
      if (round === null) return { told: 0, failed: [] };
      const { endMs, isFirst } = round;
      const window = { startMs: endMs - WINDOW_MS, endMs };
      const usual = memoized(async (subject: Subject) => usualOf(await histories.of(subject, window.startMs)));
      const before = memoized(async ({ kind, zone, service }: Subject) => {
        const [count = 0] = await counts.windows(kind, zone.id, service, window.startMs - WINDOW_MS, window.startMs);
        return count;
      });
      const requests = memoized(({ zone }: Subject) => counts.requests(zone.id, window.startMs, window.endMs));
      let told = 0;
      const failed: FailedCheck[] = [];
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
              told += await judge(deps, call, { policy, subjects, usual, before, requests, isFirst, ...window });
            });
          }
        });
      }
      return { told, failed };
    },
  };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

interface Judged {
  readonly policy: PolicyRow;
  readonly subjects: readonly Subject[];
  readonly usual: (subject: Subject) => Promise<Usual>;
  /** The count of the previous window. */
  readonly before: (subject: Subject) => Promise<number>;
  readonly requests: (subject: Subject) => Promise<number>;
  /** As in `Round`. */
  readonly isFirst: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

async function judge(deps: NotificationWatchDeps, call: Call, judged: Judged): Promise<number> {
  const { store, clock, deliveries } = deps;
  const { policy, isFirst, startMs, endMs } = judged;
  const spikes = await spikesNow(judged);
  const pauseMs = intervalMs(policyValue(policy).alert_interval ?? "") ?? INTERVAL_MS;
  // After a clock was set back, times of notifications may lie in the future.
  const isRecent = (toldMs: number): boolean => Math.abs(clock.nowMs() - toldMs) < pauseMs;
  const known = (await spikesOf(store.read, policy.id)).filter(({ above }) => above === 1);
  const over = new Map(known.filter(({ subject }) => !spikes.has(subject)).map((row) => [row.subject, row]));
  if (isFirst)
    for (const row of known) {
      const spike = spikes.get(row.subject);
      if (spike !== undefined && !isRecent(row.told_ms) && (await judged.before(spike.of)) <= spike.limit) over.set(row.subject, row);
    }
  const goOn = new Set(known.map(({ subject }) => subject).filter((subject) => !over.has(subject)));
  const begun = [...spikes.values()].filter(({ of }) => !goOn.has(of.key));
  if (over.size + begun.length === 0) return 0;
  return commit(deps, call, async (unit) => {
    // If the policy has changed meanwhile, the next check evaluates it.
    const current = await policyById(unit.db, policy.account_id, policy.id);
    if (current === undefined || current.enabled === 0 || meaningOf(current) !== meaningOf(policy)) return 0;
    // Another node may have found the same spike meanwhile, or the next one.
    const now = new Map((await spikesOf(unit.db, policy.id)).map((row) => [row.subject, row]));
    for (const row of over.values()) {
      if (now.get(row.subject)?.told_ms !== row.told_ms) continue;
      now.set(row.subject, { ...row, above: 0 });
      await putSpike(unit.db, { ...row, above: 0 });
    }
    const silenced = await isSilenced(unit.db, policy.id, clock.nowMs());
    let told = 0;
    for (const { of, mean } of begun) {
      const before = now.get(of.key);
      if (before?.above === 1) continue;
      // If the spike lasts, it is reported when the interval has passed.
      if (before !== undefined && isRecent(before.told_ms)) continue;
      const told_ms = silenced ? (before?.told_ms ?? 0) : clock.nowMs();
      await putSpike(unit.db, { policy_id: policy.id, subject: of.key, above: 1, told_ms });
      if (silenced) continue;
      await deliveries.add(unit, current, spikeAlert({ ...factsOf(of), mean, startMs, endMs }));
      told += 1;
    }
    return told;
  });
}

/** The current spikes by the subject's key. */
async function spikesNow({ policy, subjects, usual, requests }: Judged): Promise<ReadonlyMap<string, Usual & { readonly of: Subject }>> {
  const failing = failingShareOf(policy);
  const spikes = new Map<string, Usual & { readonly of: Subject }>();
  for (const subject of subjects.filter(chooser(policy))) {
    if (failing > 0 && subject.count <= failing * (await requests(subject))) continue;
    const { mean, limit } = await usual(subject);
    if (subject.count > limit) spikes.set(subject.key, { mean, limit, of: subject });
  }
  return spikes;
}

function memoized<K extends object, V>(of: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const found = known.get(key) ?? of(key);
    known.set(key, found);
    return found;
  };
}
