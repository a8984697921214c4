import type { Clock } from "#kernel/clock.ts";
import { beginHistory, type HighestPosition, isContinued, type StoredPosition } from "./history.ts";
import type { LogSyncs } from "./log-syncs.ts";
import { flushUnits } from "./outbox.ts";
import type { CollectedSet } from "./recent-changes.ts";
import { pacedSession } from "./paced-session.ts";
import { ANYTHING, type WrittenNames } from "#store/queries/written.ts";
import { type Dialect, queryTogether, type Session, type Statement, withFault } from "#store/queries/session.ts";
import { createSavepoints, type Savepoints } from "./savepoints.ts";
import type { Unit, Written } from "./store.ts";
import { type OpenUnit, openUnit, unavailable, withinTime } from "./unit.ts";

export interface GroupDeps {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly seen: HighestPosition;
  /** The statement that tells other processes of changes that planes receive, in the transaction that has them. */
  announcement?(written: WrittenNames): Statement | null;
  /** Takes the changes of each unit once they are on disk, before anybody hears of them. */
  keep?(history: string, sets: readonly CollectedSet[]): void;
}

/** A connection in a transaction that has the lock of the position. */
export interface Begun {
  readonly session: Session;
  readonly stored: StoredPosition;
}

/** A unit that waits for its transaction. */
export interface Pending {
  work(unit: Unit): Promise<unknown>;
  readonly timeoutMs: number;
  /** When it began to wait, on the monotonic scale. */
  readonly sinceMs: number;
  resolve(written: Written<unknown>): void;
  reject(error: unknown): void;
}

/** A transaction that is committed, and whose units are acknowledged once it is on disk. */
export interface Committed {
  acknowledge(): void;
  reject(error: unknown): void;
  /** Names of the written data if planes have changes to receive, else null. */
  readonly news: WrittenNames | null;
}

/** A unit whose work is done and that waits for the commit. */
interface Finished {
  readonly pending: Pending;
  readonly unit: OpenUnit;
  readonly result: unknown;
}

/** A unit that has waited this long for those before it is not begun: behind a lock, each of them takes its whole time, and clients have left. */
const WAIT_MS_MAX = 30_000;

/** Throws if the transaction fails as a whole; units that failed before keep their own error. Null if nothing was committed. */
export async function runGroup(
  deps: GroupDeps,
  { session: connection, stored }: Begun,
  units: readonly Pending[],
  syncs: LogSyncs,
): Promise<Committed | null> {
  const { dialect } = deps;
  const session = pacedSession(connection);
  const own = isContinued(stored, deps.seen.get()) ? stored : null;
  const { history, rev } = own ?? (await beginHistory(session, dialect, deps.clock, stored, deps.seen.serial()));
  const finished: Finished[] = [];
  // A savepoint copies each page that the unit changes; one that is alone is undone with its transaction.
  const isAlone = units.length === 1;
  const savepoints = createSavepoints(session, isAlone);
  for (const pending of units) {
    const done = await runUnit(deps, savepoints, pending);
    if (done) finished.push(done);
  }
  if (isAlone && finished.length === 0) {
    await session.query("ROLLBACK");
    return null;
  }
  const { revs, statements } = await flushUnits(
    session,
    dialect,
    rev,
    finished.map(({ unit }) => unit),
  );
  const newest = revs.findLast((revision) => revision !== null) ?? rev;
  const written = new Set(finished.flatMap(({ unit }) => [...unit.written]));
  const announcement = newest === rev ? null : deps.announcement?.(written);
  const last = [...savepoints.ends(), ...statements, ...(announcement ? [announcement] : []), { sql: "COMMIT" }];
  await syncs.commit(connection, () => queryTogether(session, last));
  return {
    acknowledge: () => {
      const sets = finished.flatMap(({ unit: { changes } }, i) => (revs[i] ? [{ rev: revs[i], changes }] : []));
      deps.keep?.(history, sets);
      finished.forEach(({ pending, result }, i) => pending.resolve({ result, rev: revs[i] ?? null }));
      deps.seen.note({ history, rev: newest });
    },
    reject: (error) => {
      for (const { pending } of finished) pending.reject(error);
    },
    news: own === null ? new Set([ANYTHING]) : newest === rev ? null : written,
  };
}

/** Null if the unit failed and was undone, or is not begun. */
async function runUnit({ dialect, clock }: GroupDeps, savepoints: Savepoints, pending: Pending): Promise<Finished | null> {
  if (clock.monotonicMs() - pending.sinceMs > WAIT_MS_MAX) {
    pending.reject(unavailable(`a unit of work waited more than ${WAIT_MS_MAX} ms and was not begun`));
    return null;
  }
  const savepoint = savepoints.begin();
  const unit = openUnit({ dialect, clock, run: savepoint.query });
  try {
    const result = await withinTime(pending.work(unit), pending.timeoutMs);
    unit.end();
    await savepoint.release(dialect);
    return { pending, unit, result };
  } catch (error) {
    unit.abandon();
    await savepoint.undo();
    pending.reject(withFault(dialect, error));
    return null;
  }
}
