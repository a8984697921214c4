import { setTimeout as delay } from "node:timers/promises";
import type { Delta, EntryKind, Op } from "./entries.ts";
import type { FeedLog, FeedPort, FullCopy, Position } from "./feed.ts";
import type { Follower } from "./settlement.ts";

/** One attached replica: its sent position, and how it catches up. */
export interface Subscriber extends Follower {
  listen(): void;
  /** The next delta of the publisher; ignored while the replica catches up by itself or is ahead. */
  offer(delta: Delta): void;
  /** Everything, if the publisher itself had to start over. */
  offerFull(copy: FullCopy): void;
}

export interface SubscriberDeps {
  readonly port: FeedPort;
  readonly log: FeedLog;
  full(): Promise<FullCopy>;
  since(at: Position): Promise<readonly Delta[] | null>;
  recentAfter(at: Position): readonly Delta[] | null;
  head(): Position | null;
  acknowledged(): void;
  subscribed(subscriber: Subscriber): void;
  left(subscriber: Subscriber): void;
}

const RETRY_MS = 250;
const OPS_A_PAGE = 1_000;

export function createSubscriber(deps: SubscriberDeps): Subscriber {
  const { port, log } = deps;
  let name = "";
  /** Selects the ops that the replica wants. */
  let wanted = (ops: readonly Op[]): readonly Op[] => ops;
  let sent: Position = { history: "", rev: 0 };
  /** It has everything that the publisher has, and receives the publisher's deltas. */
  let live = false;
  /** Increased with each subscription, so that an earlier catch-up stops. */
  let turn = 0;

  /** The replica has requested the next page, or has cancelled the copy. */
  let onNext: (() => void) | null = null;
  const nextTurn = (): number => {
    onNext?.();
    return ++turn;
  };

  const send = (delta: Delta): void => {
    port.send({ type: "delta", delta: { ...delta, ops: wanted(delta.ops) } });
    sent = { ...sent, rev: delta.rev };
  };
  /** Page by page, each when it is asked for, so that no tick of either thread has all of it. */
  const sendFull = async (copy: FullCopy, mine: number): Promise<void> => {
    const { history, rev, ops } = copy;
    // It may have been further, in a history that the source no longer has.
    subscriber.acked = Math.min(subscriber.acked, copy.rev - 1);
    for (let at = 0; ; at += OPS_A_PAGE) {
      const isLast = at + OPS_A_PAGE >= ops.length;
      const page = { type: "full", history, rev, ops: wanted(ops.slice(at, at + OPS_A_PAGE)) } as const;
      const asked = isLast ? null : new Promise<void>((resolve) => void (onNext = resolve));
      port.send({ ...page, ...(at === 0 ? {} : { continues: true }), ...(isLast ? {} : { more: true }) });
      await asked;
      if (mine !== turn) return;
      if (isLast) break;
    }
    sent = { history, rev };
  };
  const goLive = (): void => {
    live = true;
    port.send({ type: "live", rev: sent.rev });
  };
  /** Without an await, so that no delta of the publisher is missed in between. */
  const followFromHere = (): boolean => {
    const head = deps.head();
    if (head === null) return false;
    const missing = isSame(sent, head) ? [] : deps.recentAfter(sent);
    if (missing === null) return false;
    missing.forEach(send);
    goLive();
    return true;
  };
  const catchUp = async (mine: number): Promise<void> => {
    while (mine === turn && !followFromHere()) {
      const deltas = await deps.since(sent);
      const copy = deltas === null ? await deps.full() : null;
      if (mine !== turn) return;
      if (copy) await sendFull(copy, mine);
      else deltas!.forEach(send);
      if (mine !== turn) return;
      // The source may be ahead of the publisher, whose deltas up to `sent`, or of a former history, are then ignored.
      const head = deps.head();
      const isNewest = copy !== null || deltas!.length === 0;
      if (isNewest && (head === null || sent.history !== head.history || sent.rev > head.rev)) return goLive();
    }
  };
  const keepCatchingUp = async (mine: number): Promise<void> => {
    while (mine === turn) {
      try {
        return await catchUp(mine);
      } catch (error) {
        log("error", "updating a replica failed; retrying", { name, reason: String(error) });
        await delay(RETRY_MS);
      }
    }
  };

  const subscriber: Subscriber = {
    get name() {
      return name;
    },
    acked: 0,
    pending: [],
    late: false,
    listen: () => {
      port.onMessage((message) => {
        if (message.type === "subscribe") {
          name = message.name;
          wanted = opsOf(message.kinds);
          sent = { history: message.history, rev: message.rev };
          subscriber.acked = message.rev;
          subscriber.pending = [];
          live = false;
          deps.subscribed(subscriber);
          void keepCatchingUp(nextTurn());
        } else if (message.type === "next") onNext?.();
        else if (message.type === "applied") {
          subscriber.acked = message.rev;
          subscriber.pending = message.pending ?? [];
          if (message.rev >= (deps.head()?.rev ?? 0)) subscriber.late = false;
          deps.acknowledged();
        }
      });
      port.onClose(() => {
        nextTurn();
        live = false;
        deps.left(subscriber);
      });
    },
    // A live replica is never behind the publisher; one that is ahead has already received this delta.
    offer: (delta) => {
      if (live && delta.from === sent.rev && sent.history === deps.head()?.history) send(delta);
    },
    offerFull: (copy) => {
      if (!live || isSame(sent, copy)) return;
      live = false;
      const mine = nextTurn();
      void sendFull(copy, mine).then(() => keepCatchingUp(mine));
    },
  };
  return subscriber;
}

const isSame = (a: Position, b: Position): boolean => a.history === b.history && a.rev === b.rev;

function opsOf(kinds: readonly EntryKind[] | undefined): (ops: readonly Op[]) => readonly Op[] {
  if (kinds === undefined) return (ops) => ops;
  const set: ReadonlySet<EntryKind> = new Set(kinds);
  return (ops) => (ops.every(({ kind }) => set.has(kind)) ? ops : ops.filter(({ kind }) => set.has(kind)));
}
