import type { Clock } from "#kernel/clock.ts";
import { AWAY_AFTER_MS, type SeenReport } from "#control/nodes/nodes.ts";
import type { Rollouts } from "#control/nodes/rollouts.ts";
import { NO_REVISION } from "#snapshot/bus/bus-message.ts";
import { type CanaryReport, createRollout, type Rollout } from "#snapshot/bus/rollout.ts";
import type { Log } from "#app/log/log.ts";

/** Connects the rollout with the reports of nodes and with the database. */
export interface RolloutTurn {
  readonly rollout: Rollout;
  /** Must be called about once a second. */
  look(history: string, isDeaf: boolean): Promise<void>;
  /** A report has arrived. */
  heard(name: string): void;
  /** Whether the node gets changes after the canaries. */
  isHeld(name: string): boolean;
}

export interface RolloutTurnDeps {
  readonly rollouts: Rollouts;
  readonly clock: Clock;
  readonly log: Log;
  readonly waitMs: number;
  isLeading(): boolean;
  reports(): ReadonlyMap<string, SeenReport>;
  /** Tells nodes how far they may follow. */
  announce(): void;
}

export async function openRolloutTurn(deps: RolloutTurnDeps): Promise<RolloutTurn> {
  const { rollouts, clock, log } = deps;
  const rollout = createRollout({ clock, waitMs: deps.waitMs });
  let known = await rollouts.known();
  let history = "";
  let isDeaf = false;
  let kept = "";
  rollout.recall(known);

  const connected = (): ReadonlyMap<string, CanaryReport> => {
    const found = new Map<string, CanaryReport>();
    for (const name of known.canaries) {
      const report = deps.reports().get(name);
      if (report === undefined || clock.nowMs() - report.seenMs > AWAY_AFTER_MS) continue;
      const { refused, problems } = report;
      found.set(name, {
        ...{ rev: report.history === history ? report.rev : -1, problems },
        // Any node can have what control did not sign sent to a canary.
        refused: refused === undefined || refused.rev === NO_REVISION ? "" : `revision ${refused.rev}: ${refused.reason}`,
      });
    }
    return found;
  };
  const judge = (): string | null => {
    const { isNew, fault } = rollout.judge({ ...known, reports: connected(), isDeaf });
    if (isNew && rollout.current() !== null) deps.announce();
    return fault;
  };
  const pause = async (fault: string): Promise<void> => {
    if (known.isPaused) return;
    known = { ...known, isPaused: true };
    log.error({ reason: fault }, "the rollout is paused: nodes after the canaries get no more changes until selvedge rollout resume");
    await rollouts.pause(fault);
  };

  return {
    rollout,
    look: async (now, deaf) => {
      [history, isDeaf] = [now, deaf];
      known = await rollouts.known();
      if (!deps.isLeading()) {
        rollout.recall(known);
        return;
      }
      const fault = judge();
      if (fault !== null) await pause(fault);
      const released = rollout.current()?.released ?? -1;
      const place = `${history} ${released}`;
      if (place !== kept && (released !== -1 || known.rev !== -1)) await rollouts.keep({ history, rev: released });
      kept = place;
    },
    heard: (name) => {
      if (!deps.isLeading() || !known.canaries.includes(name)) return;
      const fault = judge();
      if (fault !== null) pause(fault).catch((error: unknown) => log.error({ err: error }, "cannot store that the rollout is paused"));
    },
    isHeld: (name) => (known.canaries.length > 0 || known.isPaused) && !known.canaries.includes(name),
  };
}
