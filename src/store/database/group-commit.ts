import { createTurnQueue } from "#kernel/turn-queue.ts";
import { beginWriting } from "./begin.ts";
import { lockPosition, positionOf, type StoredPosition } from "./history.ts";
import { createLogSyncs, SYNC_LATER } from "./log-syncs.ts";
import { type Begun, type Committed, type GroupDeps, type Pending, runGroup } from "./run-group.ts";
import { type Session, withFault } from "#store/queries/session.ts";
import type { Unit, WriteOptions, Written } from "./store.ts";

/**
 * Runs units one after another on one connection. Units that wait at the same time share one transaction, and so one sync
 * to disk; each of several has its own savepoint, so that a failure undoes only that unit. A bulk unit has a transaction of its
 * own, and between two of them all others that wait have theirs; accounts with bulk units take turns. Syncs of an SQLite file block no thread of ours. No two units of an
 * installation run at the same time: data that a unit has read stays unchanged until it ends.
 */
export interface GroupCommit {
  write<T>(work: (unit: Unit) => Promise<T>, options?: WriteOptions): Promise<Written<T>>;
  /** Resolves when everything that other connections can read is on disk. Rejects if it cannot be written there. */
  synced(): Promise<void>;
  /** Finishes waiting units, then closes the connection. */
  close(): Promise<void>;
}

export interface GroupCommitDeps extends GroupDeps {
  connect(): Promise<Session>;
  /** Throws if what is written would not last. Called before each transaction, and again before its units are acknowledged. */
  verify(): void;
  /** Called after commits with the connection and what was written if planes have changes to receive; the next unit waits for it. */
  committed(session: Session, news: ReadonlySet<string> | null): Promise<void>;
  /** Whether bulk units may begin; absent: always. */
  hasRoom?(): boolean;
  /** Whether planes have nearly all that was committed; absent: always. Answers to other writes wait for planes. */
  isFollowed?(): boolean;
}

/** Limits how long the first unit of a group waits for its commit. */
const UNITS_PER_GROUP = 128;
/** A unit waits for the database only, so one that takes this long hangs. */
const UNIT_TIMEOUT_MS = 10_000;
/** How often a bulk unit that waits for room looks for it, and for how long it does. */
const ROOM_LOOK_MS = 5;
const ROOM_WAIT_MS_MAX = 20_000;
/** How long it waits for planes at most. */
const FOLLOWED_WAIT_MS_MAX = 1_000;

/** A unit with at least this timeout counts as large: it changes thousands of rows. */
const LARGE_UNIT_MS = 15_000;

/** Units of one transaction. */
interface Group {
  readonly units: readonly Pending[];
  readonly isBulk: boolean;
}

export function createGroupCommit(deps: GroupCommitDeps): GroupCommit {
  const queue: Pending[] = [];
  const bulk = createTurnQueue<Pending>();
  let isBulkNext = false;
  let session: Session | null = null;
  /** The connection's current settings for undo data and syncs. */
  let settings: readonly string[] = [];
  const syncs = createLogSyncs();
  let unsynced: Committed[] = [];
  let running: Promise<void> | null = null;
  let closed = false;

  const mayBegin = ({ sinceMs }: Pending): boolean => {
    const waitedMs = deps.clock.monotonicMs() - sinceMs;
    const isFollowed = waitedMs > FOLLOWED_WAIT_MS_MAX || (deps.isFollowed?.() ?? true);
    return closed || waitedMs > ROOM_WAIT_MS_MAX || ((deps.hasRoom?.() ?? true) && isFollowed);
  };
  /** Empty if bulk units wait for room. */
  const nextGroup = (): Group => {
    const first = bulk.next();
    const isBulkReady = first !== undefined && (isBulkNext || queue.length === 0) && mayBegin(first);
    isBulkNext = !isBulkReady;
    if (!isBulkReady) return { units: queue.splice(0, UNITS_PER_GROUP), isBulk: false };
    bulk.take();
    return { units: [first], isBulk: true };
  };
  const resume = (): void => {
    if (running === null && queue.length + bulk.size > 0) running = drain();
  };
  const drain = async (): Promise<void> => {
    while (queue.length + bulk.size > 0) {
      // Requests that arrived in the same tick join the group.
      await new Promise(setImmediate);
      const group = nextGroup();
      if (group.units.length === 0) {
        setTimeout(resume, ROOM_LOOK_MS);
        break;
      }
      try {
        const committed = await runGroup(deps, await begin(group), group.units, syncs);
        if (committed !== null) unsynced.push(committed);
      } catch (error) {
        for (const pending of group.units) pending.reject(withFault(deps.dialect, error));
        // The connection's state is unknown, so the next group uses a new one.
        await discard();
      }
      // One sync serves a bulk unit and those that waited for it.
      if (!group.isBulk || queue.length === 0) await acknowledge();
    }
    running = null;
  };
  const acknowledge = async (): Promise<void> => {
    const commits = unsynced;
    unsynced = [];
    if (commits.length === 0 || session === null) return;
    try {
      await syncs.run(session);
      deps.verify();
      for (const committed of commits) committed.acknowledge();
      const written = commits.flatMap(({ news }) => (news === null ? [] : [news]));
      await deps.committed(session, written.length === 0 ? null : new Set(written.flatMap((names) => [...names])));
    } catch (error) {
      for (const committed of commits) committed.reject(withFault(deps.dialect, error));
      await discard();
    }
  };
  const discard = async (): Promise<void> => {
    await acknowledge();
    await session?.close().catch(() => {});
    session = null;
  };
  const lock = async (connection: Session): Promise<StoredPosition> =>
    positionOf((await beginWriting(connection, deps.dialect, deps.clock, lockPosition(deps.dialect))).rows[0]);
  /** Returns a connection in a transaction that has the lock. Replaces one that broke while idle, so that no unit fails because of it. */
  const begin = async (group: Group): Promise<Begun> => {
    deps.verify();
    if (session !== null) {
      try {
        await prepare(session, group);
        return { session, stored: await lock(session) };
      } catch (error) {
        if (deps.dialect.isBusy(error)) throw error;
        await discard();
      }
    }
    session = await deps.connect();
    settings = [];
    await prepare(session, group);
    return { session, stored: await lock(session) };
  };

  const prepare = async (connection: Session, { units }: Group): Promise<void> => {
    await syncs.settle(connection);
    const undo = deps.dialect.undo?.[isLarge(units) ? "large" : "usual"];
    const wanted = [undo, connection.synced && SYNC_LATER].filter((one) => one !== undefined);
    for (const one of wanted) if (!settings.includes(one)) await connection.query(one);
    settings = wanted;
  };

  return {
    write: <T>(work: (unit: Unit) => Promise<T>, { timeoutMs = UNIT_TIMEOUT_MS, bulkOf }: WriteOptions = {}) =>
      new Promise<Written<T>>((resolve, reject) => {
        if (closed) throw new Error("the store is closed");
        const sinceMs = deps.clock.monotonicMs();
        const pending: Pending = { work, timeoutMs, sinceMs, resolve: resolve as Pending["resolve"], reject };
        if (bulkOf === undefined) queue.push(pending);
        else bulk.push(bulkOf, pending);
        running ??= drain();
      }),
    synced: syncs.done,
    close: async () => {
      closed = true;
      await running;
      resume();
      await running;
      await session?.close();
      session = null;
    },
  };
}

const isLarge = (units: readonly Pending[]): boolean => units.some(({ timeoutMs }) => timeoutMs >= LARGE_UNIT_MS);
