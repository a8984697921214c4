import type { CommitListener } from "#store/queries/written.ts";
import type { Kysely } from "kysely";
import type { Clock } from "#kernel/clock.ts";
import type { Tables } from "#store/queries/tables.ts";

/**
 * One change of the planes' data. The store keeps it unchanged, in commit order; its meaning is `Op` of
 * snapshot/entries.ts, which this layer does not know.
 */
export interface Change {
  readonly kind: string;
  readonly id: string;
  readonly value: object | null;
}

/** The record of a change: actor, action and object. Written in the transaction of the change. */
export interface AuditEntry {
  /** Dotted verb, such as `dns_record.create`. */
  readonly action: string;
  readonly actor: {
    readonly type: "token" | "user" | "system";
    readonly id: string;
    readonly ip: string;
    /** The API date of the call, if it was not the operator's. */
    readonly api_date?: string;
  };
  readonly account_id: string | null;
  readonly zone_id: string | null;
  readonly resource: { readonly type: string; readonly id: string };
  /** The object before and after, without secrets. */
  readonly before?: object | null;
  readonly after?: object | null;
}

/** A unit of work: all its changes become durable together, or none. */
export interface Unit {
  readonly db: Kysely<Tables>;
  readonly clock: Clock;
  /** Adds a change that is published to the planes after the commit. */
  change(change: Change): void;
  audit(entry: AuditEntry): void;
}

/** The changes of one committed unit. `rev` increases by one per unit, in commit order. */
export interface ChangeSet {
  readonly rev: number;
  readonly changes: readonly Change[];
}

export interface Written<T> {
  readonly result: T;
  /** The unit's revision; null if the planes see no change. */
  readonly rev: number | null;
}

export interface WriteOptions {
  /** Timeout after which the unit is undone, because other units wait for it; default 10 s. */
  readonly timeoutMs?: number;
  /**
   * One of the many units of a large change, and the account of the change: other units go before it, accounts take turns, and it waits
   * while the database is behind. Empty for duties of the installation.
   */
  readonly bulkOf?: string | undefined;
}

export interface Store {
  readonly dialect: "sqlite" | "postgres";
  /** Committed data only. */
  readonly read: Kysely<Tables>;
  /** The same for expensive queries, which do not delay those of `read`. */
  readonly scan: Kysely<Tables>;
  /** Runs `work` and resolves when its changes are on disk (fsynced). An exception undoes the unit and rejects. */
  write<T>(work: (unit: Unit) => Promise<T>, options?: WriteOptions): Promise<Written<T>>;
  /** A consistent view at one revision, for rebuilding snapshots. */
  readAt<T>(work: (db: Kysely<Tables>, rev: number, history: string) => Promise<T>): Promise<T>;
  revision(): Promise<number>;
  /** The newest revision and its history. A restored database gets another history, from the first access on. */
  position(): Promise<Position>;
  /**
   * Change sets after `rev`, oldest first, at most `limit`. Null if some were trimmed, or belong to another history than
   * the given one.
   */
  changesSince(rev: number, limit: number, history?: string): Promise<readonly ChangeSet[] | null>;
  /** Declares that the database was restored to an earlier time: begins a new history, so planes take a full copy. */
  renewHistory(): Promise<Position>;
  /** Why writes fail at present, for any client; null if they work. Writes a row, but at most once a second. */
  health(): Promise<string | null>;
  /** Notifies that `changesSince` may have news; commits of other nodes are only found by polling. */
  onCommit(listener: CommitListener): () => void;
  /** While it returns false, for planes that are behind, units of large changes wait: for a second each, at most. */
  followedBy(isFollowed: () => boolean): void;
  close(): Promise<void>;
}

/**
 * A position in the committed changes of an installation. Revisions count within one history: a restored database repeats
 * numbers that were used before, under a new history.
 */
export interface Position {
  /** 16 hexadecimal digits for the installation, then 16 that change with each restore. */
  readonly history: string;
  readonly rev: number;
}
