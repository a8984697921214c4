import type { Clock } from "#kernel/clock.ts";
import { beginWriting } from "./begin.ts";
import { createLogSyncs, SYNC } from "./log-syncs.ts";
import { beginHistory, isContinued, lockPosition, type HighestPosition } from "./history.ts";
import { flushUnits } from "./outbox.ts";
import { pacedSession } from "./paced-session.ts";
import { type Dialect, type Session, withFault } from "#store/queries/session.ts";
import type { Unit, WriteOptions, Written } from "./store.ts";
import { type OpenUnit, openUnit, unavailable, withinTime } from "./unit.ts";

/**
 * Runs units one after another on one connection. Units that wait at the same time share one transaction, and so one sync
 * to disk; each of several has its own savepoint, so that a failure undoes only that unit. A bulk unit has a transaction of its
 * own, whose sync blocks no thread, and between two of them all others that wait have theirs. No two units of an installation run at
 * the same time: data that a unit has read stays unchanged until it ends.
 */
export interface GroupCommit {
  write<T>(work: (unit: Unit) => Promise<T>, options?: WriteOptions): Promise<Written<T>>;
  /** Resolves when everything that other connections can read is on disk. Rejects if it cannot be written there. */
  synced(): Promise<void>;
  /** Finishes waiting units, then closes the connection. */
  close(): Promise<void>;
}

export interface GroupCommitDeps {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly seen: HighestPosition;
  connect(): Promise<Session>;
  /** Tells other processes of changes that planes receive, in the transaction that has them. */
  announce?(session: Session): Promise<void>;
  /** Throws if what is written would not last. Called before each transaction, and again before its units are acknowledged. */
  verify(): void;
  /** Called after each commit with the connection and whether planes have changes to receive; the next unit waits for it. */
  committed(session: Session, news: boolean): Promise<void>;
  /** Whether bulk units may begin; absent: always. */
  hasRoom?(): boolean;
  /** Whether planes have nearly all that was committed; absent: always. Answers to other writes wait for planes. */
  isFollowed?(): boolean;
}

/** Limits how long the first unit of a group waits for its commit. */
const UNITS_PER_GROUP = 128;
/** A unit waits for the database only, so one that takes this long hangs. */
const UNIT_TIMEOUT_MS = 10_000;
/** A unit that has waited this long for those before it is not begun: behind a lock, each of them takes its whole time, and clients have left. */
const WAIT_MS_MAX = 30_000;

/** How often a bulk unit that waits for room looks for it, and for how long it does. */
const ROOM_LOOK_MS = 5;
const ROOM_WAIT_MS_MAX = 20_000;
/** How long it waits for planes at most. */
const FOLLOWED_WAIT_MS_MAX = 1_000;

/** A unit with at least this timeout counts as large: it changes thousands of rows. */
const LARGE_UNIT_MS = 15_000;

interface Pending {
  work(unit: Unit): Promise<unknown>;
  readonly timeoutMs: number;
  /** When it began to wait, on the monotonic scale. */
  readonly sinceMs: number;
  resolve(written: Written<unknown>): void;
  reject(error: unknown): void;
}

/** Units of one transaction. */
interface Group {
  readonly units: readonly Pending[];
  readonly isBulk: boolean;
}

/** A unit whose work is done and that waits for the commit. */
interface Finished {
  readonly pending: Pending;
  readonly unit: OpenUnit;
  readonly result: unknown;
}

export function createGroupCommit(deps: GroupCommitDeps): GroupCommit {
  const queue: Pending[] = [];
  const bulk: Pending[] = [];
  let isBulkNext = false;
  let session: Session | null = null;
  /** The connection's current settings for undo data and syncs. */
  let settings: readonly string[] = [];
  const syncs = createLogSyncs();
  let running: Promise<void> | null = null;
  let closed = false;

  const mayBegin = ({ sinceMs }: Pending): boolean => {
    const waitedMs = deps.clock.monotonicMs() - sinceMs;
    const isFollowed = waitedMs > FOLLOWED_WAIT_MS_MAX || (deps.isFollowed?.() ?? true);
    return closed || waitedMs > ROOM_WAIT_MS_MAX || ((deps.hasRoom?.() ?? true) && isFollowed);
  };
  /** Empty if bulk units wait for room. */
  const nextGroup = (): Group => {
    const [first] = bulk;
    const isBulkReady = first !== undefined && (isBulkNext || queue.length === 0) && mayBegin(first);
    isBulkNext = !isBulkReady;
    return isBulkReady ? { units: bulk.splice(0, 1), isBulk: true } : { units: queue.splice(0, UNITS_PER_GROUP), isBulk: false };
  };
  const resume = (): void => {
    if (running === null && queue.length + bulk.length > 0) running = drain();
  };
  const drain = async (): Promise<void> => {
    while (queue.length + bulk.length > 0) {
      // Requests that arrived in the same tick join the group.
      await new Promise(setImmediate);
      const group = nextGroup();
      if (group.units.length === 0) {
        setTimeout(resume, ROOM_LOOK_MS);
        break;
      }
      try {
        const connection = await begin(group);
        await runGroup(deps, connection, group, () => syncs.run(connection));
      } catch (error) {
        for (const pending of group.units) pending.reject(withFault(deps.dialect, error));
        // The connection's state is unknown, so the next group uses a new one.
        await discard();
      }
    }
    running = null;
  };
  const discard = async (): Promise<void> => {
    await session?.close().catch(() => {});
    session = null;
  };
  /** Returns a connection in a transaction. Replaces one that broke while idle, so that no unit fails because of it. */
  const begin = async (group: Group): Promise<Session> => {
    deps.verify();
    if (session !== null) {
      try {
        await prepare(session, group);
        await beginWriting(session, deps.dialect, deps.clock);
        return session;
      } catch (error) {
        if (deps.dialect.isBusy(error)) throw error;
        await discard();
      }
    }
    session = await deps.connect();
    settings = [];
    await prepare(session, group);
    await beginWriting(session, deps.dialect, deps.clock);
    return session;
  };

  const prepare = async (connection: Session, { units, isBulk }: Group): Promise<void> => {
    await syncs.settle(connection);
    const undo = deps.dialect.undo?.[isLarge(units) ? "large" : "usual"];
    const wanted = [undo, connection.synced && SYNC[isBulk ? "later" : "atCommit"]].filter((one) => one !== undefined);
    for (const one of wanted) if (!settings.includes(one)) await connection.query(one);
    settings = wanted;
  };

  return {
    write: <T>(work: (unit: Unit) => Promise<T>, { timeoutMs = UNIT_TIMEOUT_MS, isBulk = false }: WriteOptions = {}) =>
      new Promise<Written<T>>((resolve, reject) => {
        if (closed) throw new Error("the store is closed");
        (isBulk ? bulk : queue).push({
          work,
          timeoutMs,
          sinceMs: deps.clock.monotonicMs(),
          resolve: resolve as Pending["resolve"],
          reject,
        });
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

/** Throws if the transaction fails as a whole; units that failed before keep their own error. `sync` follows the commit of a bulk unit. */
async function runGroup(deps: GroupCommitDeps, connection: Session, { units, isBulk }: Group, sync: () => Promise<void>): Promise<void> {
  const { dialect } = deps;
  const session = pacedSession(connection);
  const stored = await lockPosition(session, dialect);
  const own = isContinued(stored, deps.seen.get()) ? stored : null;
  const { history, rev } = own ?? (await beginHistory(session, dialect, deps.clock, stored, deps.seen.serial()));
  const finished: Finished[] = [];
  // On PostgreSQL the savepoint also shows whether the unit has ignored a failed statement.
  const isAlone = units.length === 1 && dialect.undo !== null;
  for (const pending of units) {
    const done = await runUnit(deps, session, pending, isAlone);
    if (done) finished.push(done);
  }
  if (isAlone && finished.length === 0) {
    await session.query("ROLLBACK");
    return;
  }
  const revs = await flushUnits(
    session,
    dialect,
    rev,
    finished.map(({ unit }) => unit),
  );
  const newest = revs.findLast((revision) => revision !== null) ?? rev;
  if (newest !== rev) await deps.announce?.(session);
  await session.query("COMMIT");
  if (isBulk) await sync();
  deps.verify();
  finished.forEach(({ pending, result }, i) => pending.resolve({ result, rev: revs[i] ?? null }));
  deps.seen.note({ history, rev: newest });
  await deps.committed(session, own === null || newest !== rev);
}

/** Null if the unit failed and was undone, or is not begun. */
async function runUnit(
  { dialect, clock }: GroupCommitDeps,
  session: Session,
  pending: Pending,
  isAlone: boolean,
): Promise<Finished | null> {
  if (clock.monotonicMs() - pending.sinceMs > WAIT_MS_MAX) {
    pending.reject(unavailable(`a unit of work waited more than ${WAIT_MS_MAX} ms and was not begun`));
    return null;
  }
  const unit = openUnit({ dialect, clock, run: (sql, parameters) => session.query(sql, parameters) });
  // A savepoint copies each page that the unit changes; one that is alone is undone with its transaction.
  const savepoint = async (...statements: readonly string[]): Promise<void> => {
    if (!isAlone) for (const statement of statements) await session.query(`${statement} unit`);
  };
  await savepoint("SAVEPOINT");
  try {
    const result = await withinTime(pending.work(unit), pending.timeoutMs);
    unit.end();
    await savepoint("RELEASE SAVEPOINT");
    return { pending, unit, result };
  } catch (error) {
    unit.abandon();
    await savepoint("ROLLBACK TO SAVEPOINT", "RELEASE SAVEPOINT");
    pending.reject(withFault(dialect, error));
    return null;
  }
}
