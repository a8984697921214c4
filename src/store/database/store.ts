import type { Kysely } from "kysely";
import type { Clock } from "#kernel/clock.ts";
import type { Tables } from "#store/queries/tables.ts";

/**
 * One change to what the data planes see. The store keeps it as it is, in commit order; its meaning is
 * `Op` of snapshot/entries.ts, which this layer does not know.
 */
export interface Change {
  readonly kind: string;
  readonly id: string;
  readonly value: object | null;
}

/** Who did what to which object; written in the same transaction as the change. */
export interface AuditEntry {
  /** Dotted verb: `dns_record.create`. */
  readonly action: string;
  readonly actor: { readonly type: "token" | "user" | "system"; readonly id: string; readonly ip: string };
  readonly account_id: string | null;
  readonly zone_id: string | null;
  readonly resource: { readonly type: string; readonly id: string };
  /** The object before and after; secrets must not be in them. */
  readonly before?: object | null;
  readonly after?: object | null;
}

/** A unit of work: everything in it becomes durable together, or nothing does. */
export interface Unit {
  readonly db: Kysely<Tables>;
  readonly clock: Clock;
  /** Published to the planes after the commit, together with the unit's other changes. */
  change(change: Change): void;
  audit(entry: AuditEntry): void;
}

/** The changes of one committed unit. `rev` grows by one per unit, in commit order. */
export interface ChangeSet {
  readonly rev: number;
  readonly changes: readonly Change[];
}

export interface Written<T> {
  readonly result: T;
  /** The unit's revision, or null when it changed nothing that planes see. */
  readonly rev: number | null;
}

export interface WriteOptions {
  /** After which the unit is undone, since other units may wait for it; 10 s unless said. */
  readonly timeoutMs?: number;
}

export interface Store {
  readonly dialect: "sqlite" | "postgres";
  /** Committed data only. */
  readonly read: Kysely<Tables>;
  /** The same for queries that may read much: nobody but their own kind waits for them. */
  readonly scan: Kysely<Tables>;
  /** Runs `work` and resolves once it is on disk (fsynced). A throw undoes the unit and rejects. */
  write<T>(work: (unit: Unit) => Promise<T>, options?: WriteOptions): Promise<Written<T>>;
  /** A consistent view at one revision, for rebuilding snapshots. */
  readAt<T>(work: (db: Kysely<Tables>, rev: number, history: string) => Promise<T>): Promise<T>;
  revision(): Promise<number>;
  /** The newest revision with its history. A database that was restored has another one, from the first look at it. */
  position(): Promise<Position>;
  /** Change sets after `rev`, oldest first, at most `limit`; null when some of them are gone already, or are of another history than said. */
  changesSince(rev: number, limit: number, history?: string): Promise<readonly ChangeSet[] | null>;
  /** Says that the database was put back to an earlier time: what planes have is another history, and they take everything anew. */
  renewHistory(): Promise<Position>;
  /** Why nothing can be written at present, in words for anybody, or null. Writes, but no more than once a second. */
  health(): Promise<string | null>;
  /** A hint that `changesSince` may have news; other nodes' commits come by polling only. */
  onCommit(listener: () => void): () => void;
  close(): Promise<void>;
}

/**
 * A place in what an installation has committed. Revisions count within one history: a database that was restored goes on
 * with numbers that were given before, under a new history.
 */
export interface Position {
  /** The installation in 16 hexadecimal digits, then 16 that are new with each restore. */
  readonly history: string;
  readonly rev: number;
}
