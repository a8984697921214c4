import type { Delta, EntryKind, EntryTypes, Op, RecordEntry } from "#snapshot/entries.ts";
import type { StagedLayer } from "#snapshot/record-layers.ts";

/** A place in an installation's commits. Revisions count within one history, and a restore of the database begins another one. */
export interface Position {
  readonly history: string;
  readonly rev: number;
}

/**
 * A message from a publisher. `full` replaces everything; it may come in pages: those after the first one have `continues`, those before the
 * last one `more`, and the replica asks for each. A `delta` that does not follow is a gap.
 */
export type FeedMessage =
  | ({ readonly type: "full"; readonly ops: readonly Op[]; readonly continues?: true; readonly more?: true } & Position)
  | { readonly type: "delta"; readonly delta: Delta }
  /** The answer to `subscribe` ends here: the replica now has everything up to `rev`. */
  | { readonly type: "live"; readonly rev: number };

/** A message from a replica. */
export type FeedReply =
  /** `kinds` are the kinds that the replica wants; absent: all. A `rev` below 0 asks for a full copy. */
  | ({ readonly type: "subscribe"; readonly name: string; readonly kinds?: readonly EntryKind[] } & Position)
  /** The replica wants the next page of a full copy. */
  | { readonly type: "next" }
  /** Every listener of the replica has applied this revision, and earlier ones except those in `pending`. */
  | { readonly type: "applied"; readonly rev: number; readonly pending?: readonly number[] };

/** The two ends of a feed: in process a MessagePort, past one machine a bus (DESIGN.md §6). */
export interface FeedPort {
  send(message: FeedMessage | FeedReply): void;
  onMessage(listener: (message: FeedMessage | FeedReply) => void): void;
  /** The other end went away, or this one was closed. */
  onClose(listener: () => void): void;
  close(): void;
}

/** How publisher and replica report errors; the thread decides where they go. */
export type FeedLog = (level: "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Everything at one revision: the ops that build it from an empty state. */
export interface FullCopy extends Position {
  readonly ops: readonly Op[];
}

/** The ops that build everything from an empty state, about a thousand at a time. */
export type SnapshotPages = AsyncIterable<readonly Op[]> | Iterable<readonly Op[]>;

/** The entries at one revision. */
export interface Snapshot {
  readonly rev: number;
  get<K extends EntryKind>(kind: K, id: string): EntryTypes[K] | undefined;
  /** Staged entries are only in `staged`; released ones count at once. */
  entries<K extends EntryKind>(kind: K): IterableIterator<readonly [string, EntryTypes[K]]>;
  /** Large changes that are not yet released. */
  staged(): Iterable<StagedLayer>;
}

/** The effect of a large change's release on a record; `before` is the current record until then. */
export interface StagedChange {
  readonly id: string;
  readonly value: RecordEntry | null;
  readonly before: RecordEntry | undefined;
}

/**
 * `before` is undefined if an op creates, and otherwise the same object that was put before; `value` is null if it
 * deletes. Planes index the `changes` of staged entries as they arrive, so that the release is one step, regardless of
 * their number.
 */
export type AppliedOp = {
  readonly [K in EntryKind]: {
    readonly kind: K;
    readonly id: string;
    readonly value: EntryTypes[K] | null;
    readonly before: EntryTypes[K] | undefined;
  } & (K extends "staged" ? { readonly changes: readonly StagedChange[] } : unknown);
}[EntryKind];

/**
 * The remaining work of a listener for a delta that is not visible yet. Does a part, and returns whether more remains;
 * called once per tick, and no further delta is applied before it is done.
 */
export type Rest = () => boolean;

/** A plane's copy of the snapshot. */
export interface Replica {
  readonly snapshot: Snapshot;
  /**
   * Called synchronously, once per delta, with all of its ops; `null` means that everything may have changed and the
   * plane rebuilds from `snapshot`. The revision is acknowledged when all listeners have returned and no work remains. A
   * promise is for changes that may become visible later: until it resolves the revision is pending, and later ones are
   * applied and acknowledged.
   */
  onApplied(listener: (ops: readonly AppliedOp[] | null) => Rest | Promise<void> | undefined | void): void;
  close(): void;
}

/** The source of committed changes. */
export interface FeedSource {
  /** Everything, at the newest revision. */
  full(): Promise<FullCopy>;
  /** The same, never all at once in memory; the pages are valid until `use` resolves. */
  stream<T>(use: (at: Position, pages: SnapshotPages) => Promise<T>): Promise<T>;
  /**
   * Some deltas after the position, oldest first; empty at the newest position; null if they are gone, or the position is
   * of another history.
   */
  since(at: Position): Promise<readonly Delta[] | null>;
  /** `since` returns fewer deltas only if they reach the newest position; absent: any number may be followed by more. */
  readonly deltasAtOnce?: number;
  /** A hint that the source has news; commits of other nodes are found by polling. */
  onCommit(listener: () => void): () => void;
}
