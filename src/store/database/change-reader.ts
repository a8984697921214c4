import type { Kysely } from "kysely";
import type { Dialect } from "#store/queries/session.ts";
import type { Tables } from "#store/queries/tables.ts";
import { type HighestPosition, isContinued } from "./history.ts";
import { type FoundChanges, readChanges, unbroken } from "./outbox.ts";
import { type RecentChanges, withoutSize } from "./recent-changes.ts";
import type { Store } from "./store.ts";

export interface ChangeReaderDeps {
  readonly db: Kysely<Tables>;
  readonly dialect: Dialect;
  readonly seen: HighestPosition;
  readonly recent: RecentChanges;
  /** Begins a history if the database was restored. */
  look(): Promise<void>;
  /** Called with each error of the database, and with null when it has answered. */
  looked(error: unknown): void;
  /** Resolves when everything that `db` can read is on disk. */
  synced(): Promise<void>;
}

/** See `Store.changesSince`. Readers that ask the same at the same time share one query, and a commit of this process needs none. */
export function createChangeReader({ db, dialect, seen, recent, look, looked, synced }: ChangeReaderDeps): Store["changesSince"] {
  let underWay: { readonly key: string; readonly found: Promise<FoundChanges> } | null = null;
  const ask = async (rev: number, limit: number): Promise<FoundChanges> => {
    // A commit from here on is in the answer, so the database is not behind what was seen before.
    const before = seen.get();
    const first = await readChanges(db, dialect, rev, limit);
    if (isContinued(first.at, before)) return first;
    await look();
    return readChanges(db, dialect, rev, limit);
  };
  const shared = (rev: number, limit: number): Promise<FoundChanges> => {
    const key = `${recent.generation()} ${rev} ${limit}`;
    if (underWay?.key === key) return underWay.found;
    const found = ask(rev, limit).finally(() => {
      if (underWay?.found === found) underWay = null;
    });
    underWay = { key, found };
    return found;
  };
  const read: Store["changesSince"] = async (rev, limit, history) => {
    const note = recent.asking();
    const found = await shared(rev, limit);
    const { at } = found;
    if (at.history === null) throw new Error("the database has no history");
    seen.note({ history: at.history, rev: at.rev });
    if (history !== undefined && at.history !== history) return null;
    const sets = unbroken(found, rev);
    // Planes, and the last good copy, must never be further than the database after a power cut.
    await synced();
    if (sets !== null) note(at.history, sets, at.rev);
    return sets?.map(withoutSize) ?? null;
  };
  const readOrSay: typeof read = async (...asked) => {
    try {
      const sets = await read(...asked);
      looked(null);
      return sets;
    } catch (error) {
      looked(error);
      throw error;
    }
  };
  return async (rev, limit, history) => {
    const known = history === undefined ? null : recent.after(history, rev, limit);
    const sets = known ?? (await readOrSay(rev, limit, history));
    // All nodes' commits are read here for this node's planes.
    for (const { changes } of sets ?? []) seen.noteSerials(changes);
    return sets;
  };
}
