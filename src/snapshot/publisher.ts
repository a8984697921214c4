import type { FeedSource } from "./feed.ts";
import type { Delta } from "./entries.ts";
import type { FeedLog, FeedPort, Position } from "./feed.ts";
import type { LastGoodFiles } from "#snapshot/last-good/last-good.ts";
import { createLastGoodKeeper } from "#snapshot/last-good/last-good-keeper.ts";
import { createRecentDeltas } from "./recent.ts";
import { createSettlement } from "./settlement.ts";
import { createSubscriber, type Subscriber } from "./subscriber.ts";

/** Sends committed changes to replicas: in revision order, one delta per unit, none omitted, none repeated. */
export interface Publisher {
  /**
   * Resolves when the newest revision is known and the last good copy is on disk, or the first attempt has failed. Errors of the source are
   * logged and retried.
   */
  start(): Promise<void>;
  /** Must be called after `start`. */
  attach(port: FeedPort): void;
  /** The newest published position; null before the source has been read. */
  position(): Position | null;
  /** `listener` is called with every delta from now on, in order; null if some are missing. */
  onPublished(listener: (delta: Delta | null) => void): void;
  /** Whether attached replicas have applied all but the last deltas; those that are late do not count. */
  isFollowed(): boolean;
  /** Resolves when every attached replica has applied `rev`, or after the time; names the replicas that have not. */
  settled(rev: number, timeoutMs: number): Promise<{ readonly behind: readonly string[] }>;
  close(): Promise<void>;
}

export interface PublisherDeps {
  readonly source: FeedSource;
  readonly log?: FeedLog;
  /** Path of the last good copy; absent: none is kept. */
  readonly lastGoodPath?: string;
  /** The earlier result of `checkLastGood`. */
  readonly lastGood?: LastGoodFiles | null;
}

const POLL_MS = 1_000;
const RECENT_OPS_MAX = 10_000;
/** Deltas that replicas may still have to apply, so that neither side waits for the other at each one. */
const DELTAS_AHEAD = 2;

export function createPublisher({ source, log = () => {}, lastGoodPath, lastGood }: PublisherDeps): Publisher {
  const recent = createRecentDeltas(RECENT_OPS_MAX);
  const ports = new Set<FeedPort>();
  const subscribers = new Set<Subscriber>();
  const listeners: ((delta: Delta | null) => void)[] = [];
  const settlement = createSettlement(subscribers, () => head?.rev ?? -1);
  const full = shareWhileUnderWay(() => source.full());
  const keeper =
    lastGoodPath === undefined
      ? null
      : createLastGoodKeeper({
          path: lastGoodPath,
          log,
          stream: (use) => source.stream(use),
          ...(lastGood === undefined ? {} : { checked: lastGood }),
        });
  /** The last position in `recent`; null before the source has been read. */
  let head: Position | null = null;
  let stopListening: (() => void) | null = null;
  let poll: NodeJS.Timeout | null = null;

  const publish = (delta: Delta): void => {
    if (head === null || delta.from !== head.rev) throw new Error(`the source went from revision ${head?.rev} to ${delta.from}`);
    head = { ...head, rev: delta.rev };
    recent.push(delta);
    keeper?.add(delta, head.history);
    for (const subscriber of subscribers) subscriber.offer(delta);
    for (const listener of listeners) listener(delta);
    settlement.check();
  };
  const startOver = async (): Promise<void> => {
    const copy = await full();
    const { history, rev } = copy;
    if (head !== null && head.history !== history)
      log("warn", "the database was restored or replaced; publishing a full copy", { was: head, is: { history, rev } });
    head = { history, rev };
    recent.clear();
    for (const subscriber of subscribers) subscriber.offerFull(copy);
    for (const listener of listeners) listener(null);
    settlement.check();
    keeper?.startOver();
  };
  /** Reads until the source has no more deltas. Its hint during a read causes one more. */
  const read = async (): Promise<void> => {
    for (;;) {
      const deltas = head === null ? null : await source.since(head);
      if (deltas === null) await startOver();
      else {
        deltas.forEach(publish);
        if (deltas.length < (source.deltasAtOnce ?? 1)) return;
      }
    }
  };
  /** A failure is logged once, not at each of the looks until it is over. */
  let failing = "";
  const { read: readSafely, rest } = oneAtATime(async () => {
    try {
      await read();
      failing = "";
    } catch (error) {
      const reason = String(error);
      if (reason !== failing) log("error", "reading changes failed; retrying", { reason });
      failing = reason;
    }
  });

  return {
    start: async () => {
      head = (await keeper?.open()) ?? null;
      stopListening = source.onCommit(() => void readSafely());
      poll = setInterval(() => void readSafely(), POLL_MS);
      await readSafely();
      await keeper?.flush();
    },
    attach: (port) => {
      if (stopListening === null) throw new Error("start the publisher before attaching replicas to it");
      ports.add(port);
      const subscriber = createSubscriber({
        port,
        log,
        full,
        since: (at) => source.since(at),
        recentAfter: ({ history, rev }) => (history === head?.history ? recent.after(rev) : null),
        head: () => head,
        acknowledged: settlement.check,
        // Before it subscribes its state is unknown, and publishing does not wait for it.
        subscribed: (joined) => subscribers.add(joined),
        left: (gone) => {
          ports.delete(port);
          subscribers.delete(gone);
          settlement.check();
        },
      });
      subscriber.listen();
    },
    position: () => head,
    onPublished: (listener) => void listeners.push(listener),
    isFollowed: () => {
      const rev = (head?.rev ?? 0) - DELTAS_AHEAD;
      return subscribers.values().every(({ acked, late }) => late || acked >= rev);
    },
    settled: settlement.settled,
    close: async () => {
      stopListening?.();
      if (poll !== null) clearInterval(poll);
      await readSafely();
      await rest();
      await keeper?.close();
      for (const port of ports) port.close();
      settlement.close();
    },
  };
}

/** Callers that ask while an answer is in progress share it: a full copy is large. */
function shareWhileUnderWay<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null;
  return () => {
    underWay ??= ask().finally(() => {
      underWay = null;
    });
    return underWay;
  };
}

/**
 * A call during a run causes one more run, because the current run may have missed the call's change. `read` resolves when the run that it began,
 * or found, has ended: callers that come again and again must not hold up the first one. `rest` resolves when nothing runs.
 */
function oneAtATime(run: () => Promise<void>): { read(): Promise<void>; rest(): Promise<void> } {
  let running: Promise<void> | null = null;
  let again = false;
  const read = (): Promise<void> => {
    if (running !== null) {
      again = true;
      return running;
    }
    again = false;
    // A source may call back while it is asked.
    running = Promise.resolve()
      .then(run)
      .finally(() => {
        running = null;
        if (again) void read();
      });
    return running;
  };
  return {
    read,
    rest: async () => {
      while (running !== null) await running;
    },
  };
}
