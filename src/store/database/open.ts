import type { Kysely } from "kysely";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { kyselyOver } from "#store/queries/kysely-over.ts";
import { type Dialect, type Session, withFault } from "#store/queries/session.ts";
import type { CommitListener } from "#store/queries/written.ts";
import type { Tables } from "#store/queries/tables.ts";
import { type Backend, openBackend, type Reader } from "./backends/backend.ts";
import { beginWriting } from "./begin.ts";
import { createChangeReader } from "./change-reader.ts";
import { explained } from "./database-fault.ts";
import { fenced } from "./fence.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createStoreHealth } from "./health.ts";
import { beginHistory, createHighestPosition, isContinued, isPartial, lockPosition, positionOf, readPosition } from "./history.ts";
import { migrate } from "./migrate.ts";
import { createRecentChanges } from "./recent-changes.ts";
import type { Position, Store } from "./store.ts";

export interface StoreConfig {
  /** `sqlite:PATH` or `postgres://…`. */
  readonly url: string;
  readonly clock: Clock;
  /** Called if damage is found. A file is checked for two seconds before it is opened, and then in the background. */
  readonly onDamaged?: (finding: string) => void;
  /** Called once if a file of the database was replaced or removed; from then on nothing is written. */
  readonly onReplaced?: () => void;
}

/** Opens the database and applies migrations. Throws an Error whose message tells the operator what to do. */
export async function openStore({ url, clock, onDamaged, onReplaced }: StoreConfig): Promise<Store> {
  const backend = await openBackend(url);
  const check = onDamaged ? backend.integrityCheck() : null;
  try {
    await check?.soon(CHECK_WAIT_MS);
    const session = await backend.connect("migrate");
    try {
      await migrate(session, backend.dialect, clock);
      await ensureHistory(session, backend.dialect, clock);
    } finally {
      await session.close();
    }
    const condemned = check?.later() ?? null;
    const store = await createStore(backend, clock, { condemned, onReplaced });
    void condemned?.then((finding) => finding !== null && onDamaged?.(finding));
    return {
      ...store,
      close: async () => {
        await check?.close();
        await store.close();
      },
    };
  } catch (error) {
    await check?.close();
    await backend.close();
    throw explained(error, url, backend.dialect);
  }
}

const CHECK_WAIT_MS = 2_000;

/** Begins a history for a new database, and a new one for a database that was restored while it was closed. */
async function ensureHistory(session: Session, dialect: Dialect, clock: Clock): Promise<void> {
  const { rows } = await beginWriting(session, dialect, clock, lockPosition(dialect));
  const stored = positionOf(rows[0]);
  if (!stored.isOwn) await beginHistory(session, dialect, clock, stored, 0);
  await session.query("COMMIT");
}

const READS = /^(?:select|with)\b/i;

interface Watch {
  /** The damage that a complete check finds, or null. */
  readonly condemned: Promise<string | null> | null;
  readonly onReplaced: StoreConfig["onReplaced"];
}

async function createStore(backend: Backend, clock: Clock, { condemned, onReplaced }: Watch): Promise<Store> {
  const { dialect } = backend;
  let isDamaged = false;
  void condemned?.then((finding) => {
    isDamaged ||= finding !== null;
  });
  const listeners = new Set<CommitListener>();
  const tell: CommitListener = (written) => {
    for (const listener of listeners) listener(written);
  };
  const recent = createRecentChanges();
  const news = backend.news((written) => {
    recent.othersCommitted();
    tell(written);
  });
  const reader = await backend.reader();
  const scanner = backend.scanner(reader);
  /** Publishers look each second. */
  let wasPartial = false;
  const committedOnly = (from: Reader, isGuarded: boolean): Kysely<Tables> =>
    kyselyOver(dialect, async (sql, parameters) => {
      if (isGuarded && wasPartial) throw new PlatformError("database_unavailable", { cause: new Error("the database is being restored") });
      try {
        const found = await from.query(sql, parameters);
        // In a database that a dump is being loaded into, a row that is missing may only not be there yet.
        if (isGuarded && dialect.isWhole !== null && found.rows.length === 0 && READS.test(sql)) await position();
        return found;
      } catch (error) {
        const thrown = withFault(dialect, error);
        wasPartial ||= isPartial(thrown);
        throw thrown;
      }
    });
  const read = committedOnly(reader, true);
  const readAnyway = committedOnly(reader, false);
  const seen = createHighestPosition(clock);
  const checkpointer = backend.checkpointer();
  const files = backend.openFiles(() => onReplaced?.());
  let isFollowed = (): boolean => true;
  const writer = createGroupCommit({
    dialect,
    clock,
    seen,
    connect: () => backend.connect("write"),
    announcement: news.announcement,
    keep: recent.committed,
    verify: () => files?.verify(),
    committed: async (session, written) => {
      if (written !== null) tell(written);
      await checkpointer?.committed(session);
    },
    ...(checkpointer && { hasRoom: checkpointer.hasRoom }),
    isFollowed: () => isFollowed(),
  });
  const close = async (): Promise<void> => {
    // SQLite checkpoints the log when the last connection closes, which a read-only one cannot do, so the writer closes
    // last.
    await news.close();
    await scanner.close();
    await checkpointer?.close();
    await reader.close();
    await writer.close();
    await backend.close();
  };
  const writeUnlessDamaged: Store["write"] = async (work, options) => {
    // A write to a damaged file might be lost.
    if (isDamaged) throw new PlatformError("database_damaged");
    return writer.write(work, options);
  };
  const health = createStoreHealth({
    clock,
    write: async () =>
      void (await writeUnlessDamaged(({ db }) =>
        db
          .updateTable("counters")
          .set((eb) => ({ identity: eb.ref("identity") }))
          .where("name", "=", "rev")
          .execute(),
      )),
  });
  const write: Store["write"] = async (work, options) => {
    try {
      return await writeUnlessDamaged(fenced(work), options);
    } catch (error) {
      health.failed(error);
      throw error;
    }
  };
  let closing: Promise<void> | null = null;
  /** A write checks first whether the database was replaced. */
  const look = async (): Promise<void> => void (await writer.write(async () => {}));
  const readOwnPosition = async (db: Kysely<Tables>): Promise<Position | null> => {
    // Commits up to this query are included in the result.
    const before = seen.get();
    const stored = await readPosition(db, dialect);
    if (!isContinued(stored, before)) return null;
    const { history, rev } = stored;
    seen.note({ history, rev });
    return { history, rev };
  };
  const findPosition = async (): Promise<Position> => {
    const own = await readOwnPosition(readAnyway);
    if (own !== null) return own;
    await look();
    const { history, rev } = await readPosition(readAnyway, dialect);
    if (history === null) throw new Error("the database has no history");
    return { history, rev };
  };
  const position = async (): Promise<Position> => {
    try {
      const found = await findPosition();
      wasPartial = false;
      return found;
    } catch (error) {
      wasPartial = isPartial(error);
      throw error;
    }
  };
  return {
    dialect: dialect.name,
    read,
    scan: committedOnly(scanner, true),
    write,
    health: health.reason,
    readAt: async (work) => {
      // Detects a restore before data is read under the old history.
      await position();
      const session = await backend.connect("read").catch((error: unknown) => {
        throw withFault(dialect, error);
      });
      try {
        await session.query(dialect.beginSnapshot);
        const db = kyselyOver(dialect, session.query);
        const at = await readOwnPosition(db);
        if (at === null) throw new PlatformError("database_unavailable", { cause: new Error("the database was restored just now") });
        await writer.synced();
        return await work(db, at.rev, at.history);
      } catch (error) {
        throw withFault(dialect, error);
      } finally {
        // Closing ends the transaction, which was read-only.
        await session.close();
      }
    },
    revision: async () => (await position()).rev,
    position,
    changesSince: createChangeReader({
      ...{ db: readAnyway, dialect, seen, recent, look, synced: writer.synced },
      looked: (error) => {
        wasPartial = error !== null && isPartial(error);
      },
    }),
    renewHistory: async () => {
      seen.note({ history: (await position()).history, rev: Number.MAX_SAFE_INTEGER });
      return position();
    },
    followedBy: (asked) => {
      isFollowed = asked;
    },
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => (closing ??= close()),
  };
}
