import type { Clock } from "#kernel/clock.ts";
import type { Op } from "#snapshot/entries.ts";
import type { FeedSource, Position } from "#snapshot/feed.ts";
import type { FullName } from "./bus-message.ts";

/** Decides how far nodes follow that are no canaries. */
export interface Rollout {
  /** Takes over the state of the database, while another process may lead. */
  recall(known: Recalled): void;
  /** This process publishes from here on. Returns the revision that is released: what was published after it must be named again. */
  start(place: Position): number;
  published(rev: number, isUrgent: boolean): void;
  /** Must be called about once a second, and after each report of a canary. */
  judge(facts: RolloutFacts): Judgement;
  /** Null if all nodes follow at once: no node is a canary, and nothing is paused. */
  current(): { readonly canaries: readonly string[]; readonly released: number } | null;
}

/** How far a canary is, by its latest report. */
export interface CanaryReport {
  /** Below 0 in another history. */
  readonly rev: number;
  readonly problems: readonly string[];
  /** The last change that it refused; empty without one. */
  readonly refused: string;
}

export interface RolloutFacts {
  readonly canaries: readonly string[];
  /** Of those that are connected. */
  readonly reports: ReadonlyMap<string, CanaryReport>;
  readonly isPaused: boolean;
  /** Reports could not arrive. */
  readonly isDeaf: boolean;
}

export interface Judgement {
  readonly released: number;
  readonly isNew: boolean;
  /** Why nothing more may follow; null if more may. */
  readonly fault: string | null;
}

interface Recalled extends Position {
  readonly canaries: readonly string[];
  readonly isPaused: boolean;
}

/** A canary that is not well by then, after the wait, stops the rollout. */
const GRACE_MS = 30_000;
/** Changes within this time wait together. */
const TOGETHER_MS = 250;

interface Wave {
  rev: number;
  readonly begunMs: number;
  atMs: number;
}

const URGENT: ReadonlySet<string> = new Set(["acme_challenge", "purge", "token", "edge_addresses"]);

/** Whether nodes must not wait for a change: proofs for certificates, purges, credentials, addresses of edges. */
export const isUrgent = (ops: readonly Op[]): boolean =>
  ops.some((op) => URGENT.has(op.kind) || (op.kind === "record" && op.value?.name.startsWith("_acme-challenge.") === true));

/** Tells the rollout which changes wait that an earlier process has published. */
export async function holdAgain(rollout: Rollout, source: Pick<FeedSource, "since">, place: Position): Promise<void> {
  for (let rev = rollout.start(place); rev < place.rev;) {
    const deltas = (await source.since({ history: place.history, rev })) ?? [];
    for (const delta of deltas.filter((one) => one.rev <= place.rev)) rollout.published(delta.rev, isUrgent(delta.ops));
    rev = deltas.at(-1)?.rev ?? place.rev;
    // The database no longer has them.
    if (deltas.length === 0) rollout.published(rev, false);
  }
}

/** The newest full copy for nodes that are held back; null without one. */
export function releasedCopy(rollout: Rollout | undefined, copies: readonly FullName[]): FullName | null {
  const state = rollout?.current() ?? null;
  return copies.find(({ rev }) => state !== null && rev <= state.released) ?? null;
}

export function createRollout({ clock, waitMs }: { readonly clock: Pick<Clock, "monotonicMs">; readonly waitMs: number }): Rollout {
  let canaries: readonly string[] = [];
  let history = "";
  let released = 0;
  let head = 0;
  let waves: Wave[] = [];
  let urgentRev = -1;
  /** Canaries that were connected when a change came that still waits. */
  const expected = new Set<string>();
  let connected: readonly string[] = [];
  let wellSinceMs: number | null = null;
  let isPaused = false;
  const refusals = new Map<string, string>();

  /** A pause holds changes back even after the last canary was removed. */
  const isActive = (): boolean => canaries.length > 0 || isPaused;
  const waitAgain = (): void => {
    const now = clock.monotonicMs();
    waves = waves.length === 0 ? [] : [{ rev: head, begunMs: now, atMs: now }];
    wellSinceMs = null;
  };
  const releaseAll = (): void => {
    released = head;
    waves = [];
    expected.clear();
  };
  /** Why a canary is not well; null if all are. */
  const illness = (reports: RolloutFacts["reports"]): string | null => {
    for (const name of expected) {
      const report = reports.get(name);
      if (report === undefined) return `${name} was not heard of`;
      if (report.problems.length > 0) return `${name}: ${report.problems[0]}`;
    }
    return null;
  };
  /** A refusal that was not there before. */
  const newRefusal = (reports: RolloutFacts["reports"]): string | null => {
    let found: string | null = null;
    for (const [name, { refused }] of reports) {
      if (refused !== "" && expected.has(name) && refusals.has(name) && refusals.get(name) !== refused)
        found = `${name} refused ${refused}`;
      refusals.set(name, refused);
    }
    return found;
  };
  const release = (acked: number): void => {
    const now = clock.monotonicMs();
    const hurried = acked >= urgentRev ? urgentRev : -1;
    while (waves.length > 0) {
      const { rev, atMs } = waves[0]!;
      const hasWaited = acked >= rev && now - Math.max(atMs, wellSinceMs ?? now) >= waitMs;
      if (!hasWaited && rev > hurried) break;
      released = rev;
      waves.shift();
    }
    // The urgent change may be in the middle of a wave.
    released = Math.max(released, Math.min(hurried, head));
  };

  return {
    recall: (known) => {
      ({ canaries, history, isPaused } = known);
      released = known.rev;
      head = known.rev;
      waves = [];
      urgentRev = -1;
      expected.clear();
    },
    start: (place) => {
      // A stream of another history begins with a full copy, which is for all.
      const isKnown = place.history === history && released >= 0 && isActive();
      released = isKnown ? Math.min(released, place.rev) : place.rev;
      ({ history } = place);
      head = released;
      waves = [];
      wellSinceMs = null;
      if (released < place.rev) for (const name of canaries) expected.add(name);
      return released;
    },
    published: (rev, urgent) => {
      head = rev;
      if (urgent) urgentRev = rev;
      const now = clock.monotonicMs();
      const last = waves.at(-1);
      if (last !== undefined && now - last.begunMs < TOGETHER_MS) Object.assign(last, { rev, atMs: now });
      else waves.push({ rev, begunMs: now, atMs: now });
      for (const name of connected) expected.add(name);
      if (!isActive()) releaseAll();
    },
    judge: (facts) => {
      const before = released;
      ({ canaries } = facts);
      connected = [...facts.reports.keys()];
      for (const name of expected) if (!canaries.includes(name)) expected.delete(name);
      const refusal = newRefusal(facts.reports);
      const result = (fault: string | null): Judgement => ({ released, isNew: released !== before, fault });
      if (isPaused && !facts.isPaused) waitAgain();
      ({ isPaused } = facts);
      if (!isActive()) releaseAll();
      if (waves.length === 0 || isPaused) return result(null);
      if (facts.isDeaf) {
        waitAgain();
        return result(null);
      }
      if (refusal !== null) return result(refusal);
      if (expected.size === 0) {
        releaseAll();
        return result(null);
      }
      const ill = illness(facts.reports);
      wellSinceMs = ill === null ? (wellSinceMs ?? clock.monotonicMs()) : null;
      const acked = Math.min(...Array.from(expected, (name) => facts.reports.get(name)?.rev ?? -1));
      if (ill === null) release(acked);
      if (waves.length === 0) expected.clear();
      const [oldest] = waves;
      if (oldest === undefined || clock.monotonicMs() - oldest.atMs < waitMs + GRACE_MS) return result(null);
      const slow = [...expected].find((name) => (facts.reports.get(name)?.rev ?? -1) < oldest.rev);
      return result(ill ?? (slow === undefined ? null : `${slow} has not applied revision ${oldest.rev}`));
    },
    current: () => (isActive() ? { canaries, released } : null),
  };
}
