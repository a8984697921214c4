import { CompiledQuery, type Kysely } from "kysely";
import { PlatformError } from "#kernel/errors/errors.ts";
import { kyselyOver } from "#store/queries/kysely-over.ts";
import { type Fault, DIALECTS, type DialectName } from "#store/queries/session.ts";
import type { CommitListener } from "#store/queries/written.ts";
import type { Store } from "./store.ts";
import type { Tables } from "#store/queries/tables.ts";

/** Why the database is unavailable, for any client: without paths and names. */
export interface Absence {
  readonly fault: Fault;
  readonly reason: string;
}

/** A store whose database is not available yet. Until `join`, every use throws the reason. */
export interface LazyStore extends Store {
  setAbsence(absence: Absence): void;
  /** Uses this store from now on. */
  join(store: Store): void;
}

export function createLazyStore(dialect: DialectName, first: Absence): LazyStore {
  const listeners = new Set<CommitListener>();
  let absence = first;
  let joined: Store | null = null;
  let closed = false;
  let isFollowed = (): boolean => true;
  const absent = (): PlatformError =>
    // While the server runs, a full disk refuses only writes; before it has started, reads fail too.
    new PlatformError(absence.fault === "database_damaged" ? "database_damaged" : "database_unavailable", {
      message: `The database is not available: ${absence.reason}`,
    });
  const store = (): Store => {
    if (joined === null) throw absent();
    return joined;
  };
  const over = (choose: (of: Store) => Kysely<Tables>): Kysely<Tables> =>
    kyselyOver(DIALECTS[dialect], async (sql, parameters) => {
      const { rows, numAffectedRows } = await choose(store()).executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(sql, [...parameters]),
      );
      return { rows, affected: Number(numAffectedRows ?? 0) };
    });
  return {
    dialect,
    read: over((of) => of.read),
    scan: over((of) => of.scan),
    write: async (work, options) => store().write(work, options),
    readAt: async (work) => store().readAt(work),
    revision: async () => store().revision(),
    position: async () => store().position(),
    changesSince: async (rev, limit, history) => store().changesSince(rev, limit, history),
    renewHistory: async () => store().renewHistory(),
    health: async () => (joined === null ? absence.reason : joined.health()),
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    followedBy: (asked) => {
      isFollowed = asked;
    },
    close: async () => {
      closed = true;
      await joined?.close();
    },
    setAbsence: (next) => {
      absence = next;
    },
    join: (opened) => {
      if (closed) return void opened.close();
      joined = opened;
      opened.followedBy(() => isFollowed());
      const tell: CommitListener = (written) => {
        for (const listener of listeners) listener(written);
      };
      opened.onCommit(tell);
      tell();
    },
  };
}
