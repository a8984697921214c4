import type { Clock } from "#kernel/clock.ts";
import { beginHistory, type HighestPosition, isContinued, lockPosition } from "./history.ts";
import type { LogSyncs } from "./log-syncs.ts";
import { flushUnits } from "./outbox.ts";
import { pacedSession } from "./paced-session.ts";
import { type Dialect, type Session, withFault } from "#store/queries/session.ts";
import type { Unit, Written } from "./store.ts";
import { type OpenUnit, openUnit, unavailable, withinTime } from "./unit.ts";

export interface GroupDeps {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly seen: HighestPosition;
  /** Tells other processes of changes that planes receive, in the transaction that has them. */
  announce?(session: Session): Promise<void>;
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
  /** Whether planes have changes to receive. */
  readonly hasNews: boolean;
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
  connection: Session,
  units: readonly Pending[],
  syncs: LogSyncs,
): Promise<Committed | null> {
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
    return null;
  }
  const revs = await flushUnits(
    session,
    dialect,
    rev,
    finished.map(({ unit }) => unit),
  );
  const newest = revs.findLast((revision) => revision !== null) ?? rev;
  if (newest !== rev) await deps.announce?.(session);
  await syncs.commit(connection, () => session.query("COMMIT"));
  return {
    acknowledge: () => {
      finished.forEach(({ pending, result }, i) => pending.resolve({ result, rev: revs[i] ?? null }));
      deps.seen.note({ history, rev: newest });
    },
    reject: (error) => {
      for (const { pending } of finished) pending.reject(error);
    },
    hasNews: own === null || newest !== rev,
  };
}

/** Null if the unit failed and was undone, or is not begun. */
async function runUnit({ dialect, clock }: GroupDeps, session: Session, pending: Pending, isAlone: boolean): Promise<Finished | null> {
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
