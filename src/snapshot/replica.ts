import { begins, FEED } from "#kernel/process/heartbeat.ts";
import type { Delta, EntryKind, RecordEntry } from "./entries.ts";
import { NO_HISTORY } from "#snapshot/last-good/base-file.ts";
import type { AppliedOp, FeedLog, FeedMessage, FeedPort, Position, Replica, Rest } from "./feed.ts";
import { type ArrivingCopy, comparedCopy, replacingCopy } from "./full-copy.ts";
import { largeDelta, namesOf } from "./large-delta.ts";
import { readLastGood } from "#snapshot/last-good/last-good.ts";
import { createSnapshotState } from "./state.ts";
import { createSlicedQueue } from "./sliced-queue.ts";

export interface ReplicaDeps {
  readonly port: FeedPort;
  /** The publisher's name for this plane when it falls behind. */
  readonly name: string;
  /** Entries of other kinds are not sent here and take no memory; absent: all kinds. */
  readonly kinds?: readonly EntryKind[];
  /** Removes fields of a record that this plane never reads: with a million records each field counts. */
  readonly trim?: (record: { -readonly [K in keyof RecordEntry]: RecordEntry[K] }) => void;
  readonly lastGoodPath?: string;
  readonly log?: FeedLog;
}

/**
 * Names of the deltas of one turn; a larger delta has a turn to itself. While the garbage collector marks a large heap, a name takes ten
 * times as long as otherwise: 0.03 ms.
 */
const NAMES_A_TURN = 250;

/** Time that a plane with a last good copy waits for control before it serves from that copy. */
const LIVE_WAIT_MS = 2_000;

/**
 * Opens a plane's copy and keeps it up to date. Resolves once it has caught up with the publisher, or with the last good
 * copy if the publisher does not answer; with neither it waits, because it has no data to serve.
 *
 * Build your index and call `onApplied` in the same tick: deltas arrive in later ticks.
 */
export async function openReplica({ port, name, kinds, trim, lastGoodPath, log = () => {} }: ReplicaDeps): Promise<Replica> {
  const state = createSnapshotState(trim);
  const audience = createAudience(log);
  /** History of the current content; an empty replica has none. */
  let history = NO_HISTORY;
  let resubscribed = false;
  const subscribe = (rev = state.rev): void => port.send({ type: "subscribe", name, history, rev, ...(kinds ? { kinds } : {}) });
  /** Revisions that listeners still work on, up to the last acknowledged one. */
  const pending = new Set<number>();
  let acknowledged = 0;
  const sendApplied = (): void => {
    if (audience.isCurrent()) port.send({ type: "applied", rev: acknowledged, ...(pending.size === 0 ? {} : { pending: [...pending] }) });
  };
  const acknowledge = (): void => {
    const { rev } = state;
    const late = audience.takeLate();
    if (late.length > 0) {
      pending.add(rev);
      void Promise.all(late).then(() => {
        pending.delete(rev);
        sendApplied();
      });
    }
    if (audience.isCurrent()) acknowledged = rev;
    sendApplied();
  };

  /** A delta is missing. Messages after the gap are dropped until the publisher has answered. */
  const resubscribe = (next: number): void => {
    if (resubscribed) return;
    resubscribed = true;
    log("warn", "gap in the snapshot feed; subscribing again", { name, at: state.rev, next });
    subscribe();
  };
  const startOver = (what: string, error: unknown): void => {
    log("error", `${what}; requesting a full copy`, { name, reason: String(error) });
    isSound = false;
    copy = null;
    resubscribed = true;
    subscribe(-1);
  };
  function* applyDelta(delta: Delta): Generator<void> {
    // A resumed feed may repeat deltas that are already applied.
    if (delta.rev <= state.rev) return;
    if (delta.from !== state.rev) return resubscribe(delta.from);
    try {
      begins(FEED, delta.ops[0]?.id ?? "");
      const large = largeDelta(`delta-${delta.rev}`, delta.ops, state);
      if (large) yield* audience.tell(state.apply(state.rev, large.staged));
      yield* audience.tell(state.apply(delta.rev, large?.shown ?? delta.ops));
      acknowledge();
    } catch (error) {
      startOver("a delta does not match the local copy", error);
    }
  }
  /** Whether listeners have what the state has: a delta that failed halfway leaves them apart. */
  let isSound = true;
  let copy: ArrivingCopy | null = null;
  function* replace(message: FeedMessage & { readonly type: "full" }): Generator<void> {
    try {
      if (message.continues !== true)
        copy = audience.isThere() && isSound ? comparedCopy(state, audience.tell, trim) : replacingCopy(state, audience.tell);
      // A page of a copy that another subscription has replaced.
      if (copy === null) return;
      begins(FEED, "full copy");
      yield* copy.add(message.ops);
      if (message.more === true) return port.send({ type: "next" });
      yield* copy.take(message.rev);
      copy = null;
      isSound = true;
      ({ history } = message);
      acknowledge();
    } catch (error) {
      startOver("a full copy cannot be applied", error);
    }
  }
  /** The position of the last good copy; null without one. */
  const openLastGood = async (path: string): Promise<Position | null> => {
    try {
      const copy = state.replacement();
      const at = await readLastGood(path, log, copy.add, kinds);
      if (at !== null) {
        copy.take(at.rev);
        ({ history } = at);
      }
      return at;
    } catch (error) {
      log("error", "the last good copy is invalid", { path, reason: String(error) });
      return null;
    }
  };

  const lastGood = lastGoodPath === undefined ? null : await openLastGood(lastGoodPath);
  const caughtUp = new Promise<void>((resolve) => {
    const live = (rev: number): void => {
      resubscribed = false;
      if (rev === state.rev) resolve();
      else resubscribe(rev);
    };
    // Messages that were sent together arrive in one tick, and would otherwise all be applied in it, regardless of their
    // size.
    const turns = createSlicedQueue(NAMES_A_TURN);
    const one = (): number => 1;
    port.onMessage((message) => {
      if (message.type === "delta") {
        const { delta } = message;
        turns.add(
          () => namesOf(delta.ops, state),
          () => applyDelta(delta),
        );
      } else if (message.type === "full") turns.add(one, () => replace(message));
      else if (message.type === "live") turns.add(one, () => void live(message.rev));
    });
  });
  subscribe();
  await (lastGood === null
    ? caughtUp
    : within(caughtUp, LIVE_WAIT_MS, () =>
        log("warn", "control does not respond; serving the last good copy", { name, rev: lastGood.rev }),
      ));
  return {
    snapshot: state,
    onApplied: audience.add,
    close: () => port.close(),
  };
}

type Listener = Parameters<Replica["onApplied"]>[0];

/** Listeners that may fail: one that could not apply a delta rebuilds, and tries again at each delta until it succeeds. */
function createAudience(log: FeedLog) {
  const listeners: Listener[] = [];
  const stale = new Set<Listener>();
  let late: Promise<void>[] = [];
  /** The result of the work; null if it fails. */
  const attempt = <T>(failure: string, work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      log("error", failure, { reason: String(error) });
      return null;
    }
  };
  const applying = "applying a delta to a plane failed; rebuilding the plane";
  const rebuild = (listener: Listener): void => {
    if (attempt("rebuilding a plane from the snapshot failed", () => listener(null) ?? true) === null) stale.add(listener);
    else stale.delete(listener);
  };
  return {
    add: (listener: Listener): void => {
      listeners.push(listener);
    },
    isThere: (): boolean => listeners.length > 0,
    /** Whether every listener matches the snapshot. */
    isCurrent: (): boolean => stale.size === 0,
    /** Later work of listeners for all changes since the last call. Never rejects. */
    takeLate: (): readonly Promise<void>[] => {
      const taken = late;
      late = [];
      return taken;
    },
    /** All are called in this tick; their remaining work takes more ticks. */
    *tell(ops: readonly AppliedOp[] | null): Generator<void> {
      const rests = new Map<Listener, Rest>();
      for (const listener of listeners) {
        const rest = ops === null || stale.has(listener) ? null : attempt(applying, () => listener(ops) ?? true);
        if (rest === null) rebuild(listener);
        else if (typeof rest === "function") rests.set(listener, rest);
        else if (rest !== true)
          late.push(
            rest.catch((error: unknown) => {
              log("error", applying, { reason: String(error) });
              rebuild(listener);
            }),
          );
      }
      for (const [listener, rest] of rests)
        for (;;) {
          yield;
          const more = attempt(applying, rest);
          if (more === null) rebuild(listener);
          if (more !== true) break;
        }
    },
  };
}

async function within(promise: Promise<void>, timeoutMs: number, onTimeout: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      onTimeout();
      resolve();
    }, timeoutMs);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
