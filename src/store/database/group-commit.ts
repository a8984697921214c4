import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { beginWriting } from "./begin.ts";
import { beginHistory, isContinued, lockPosition, type HighestPosition } from "./history.ts";
import { flushUnits } from "./outbox.ts";
import { pacedSession } from "./paced-session.ts";
import { type Dialect, type Session, withFault } from "#store/queries/session.ts";
import type { Unit, WriteOptions, Written } from "./store.ts";
import { type OpenUnit, openUnit } from "./unit.ts";

/**
 * Runs units one after another on one connection. Units that wait at the same time share one transaction, and so one sync
 * to disk; each of several has its own savepoint, so that a failure undoes only that unit. A bulk unit has a transaction of its
 * own, and between two of them all others that wait have theirs. No two units of an installation run at
 * the same time: data that a unit has read stays unchanged until it ends.
 */
export interface GroupCommit {
  write<T>(work: (unit: Unit) => Promise<T>, options?: WriteOptions): Promise<Written<T>>;
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
  /** The connection's current setting for undo data. */
  let undo: string | null = null;
  let running: Promise<void> | null = null;
  let closed = false;

  const mayBegin = ({ sinceMs }: Pending): boolean =>
    closed || (deps.hasRoom?.() ?? true) || deps.clock.monotonicMs() - sinceMs > ROOM_WAIT_MS_MAX;
  /** Empty if bulk units wait for room. */
  const nextGroup = (): Pending[] => {
    const [first] = bulk;
    const isBulkReady = first !== undefined && (isBulkNext || queue.length === 0) && mayBegin(first);
    isBulkNext = !isBulkReady;
    return isBulkReady ? bulk.splice(0, 1) : queue.splice(0, UNITS_PER_GROUP);
  };
  const resume = (): void => {
    if (running === null && queue.length + bulk.length > 0) running = drain();
  };
  const drain = async (): Promise<void> => {
    while (queue.length + bulk.length > 0) {
      // Requests that arrived in the same tick join the group.
      await new Promise(setImmediate);
      const group = nextGroup();
      if (group.length === 0) {
        setTimeout(resume, ROOM_LOOK_MS);
        break;
      }
      try {
        await runGroup(deps, await begin(isLarge(group)), group);
      } catch (error) {
        for (const pending of group) pending.reject(withFault(deps.dialect, error));
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
  const begin = async (large: boolean): Promise<Session> => {
    deps.verify();
    if (session !== null) {
      try {
        await prepareUndo(session, large);
        await beginWriting(session, deps.dialect, deps.clock);
        return session;
      } catch (error) {
        if (deps.dialect.isBusy(error)) throw error;
        await discard();
      }
    }
    session = await deps.connect();
    undo = null;
    await prepareUndo(session, large);
    await beginWriting(session, deps.dialect, deps.clock);
    return session;
  };

  const prepareUndo = async (connection: Session, large: boolean): Promise<void> => {
    const wanted = deps.dialect.undo?.[large ? "large" : "usual"] ?? null;
    if (wanted === null || wanted === undo) return;
    await connection.query(wanted);
    undo = wanted;
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

const isLarge = (group: readonly Pending[]): boolean => group.some(({ timeoutMs }) => timeoutMs >= LARGE_UNIT_MS);

/** Throws if the transaction fails as a whole; units that failed before keep their own error. */
async function runGroup(deps: GroupCommitDeps, connection: Session, group: readonly Pending[]): Promise<void> {
  const { dialect } = deps;
  const session = pacedSession(connection);
  const stored = await lockPosition(session, dialect);
  const own = isContinued(stored, deps.seen.get()) ? stored : null;
  const { history, rev } = own ?? (await beginHistory(session, dialect, deps.clock, stored, deps.seen.serial()));
  const finished: Finished[] = [];
  // On PostgreSQL the savepoint also shows whether the unit has ignored a failed statement.
  const isAlone = group.length === 1 && dialect.undo !== null;
  for (const pending of group) {
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

const unavailable = (reason: string): PlatformError => new PlatformError("database_unavailable", { cause: new Error(reason) });

async function withinTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(`a unit of work took more than ${timeoutMs} ms and was undone`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
