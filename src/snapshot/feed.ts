import type { Delta, EntryKind, EntryTypes, Op, RecordEntry } from "#snapshot/entries.ts";
import type { StagedLayer } from "#snapshot/record-layers.ts";

/** A place in what an installation has committed. Revisions count within one history, and a restore of the database begins another one. */
export interface Position {
  readonly history: string;
  readonly rev: number;
}

/** What a publisher sends. `full` replaces everything; a `delta` that does not follow is a gap. */
export type FeedMessage =
  | ({ readonly type: "full"; readonly ops: readonly Op[] } & Position)
  | { readonly type: "delta"; readonly delta: Delta }
  /** The answer to `subscribe` ends here: the replica now has everything up to `rev`. */
  | { readonly type: "live"; readonly rev: number };

/** What a replica sends back. */
export type FeedReply =
  /** `kinds` are what the replica wants of it all; without them everything. A `rev` below 0 asks for a full copy. */
  | ({ readonly type: "subscribe"; readonly name: string; readonly kinds?: readonly EntryKind[] } & Position)
  /** Every listener of the replica has applied this revision, and those before but for what is `pending`. */
  | { readonly type: "applied"; readonly rev: number; readonly pending?: readonly number[] };

/** The two ends of a feed: in process a MessagePort, past one machine a bus (DESIGN.md §6). */
export interface FeedPort {
  send(message: FeedMessage | FeedReply): void;
  onMessage(listener: (message: FeedMessage | FeedReply) => void): void;
  /** The other end went away, or this one was closed. */
  onClose(listener: () => void): void;
  close(): void;
}

/** How publisher and replica report what went wrong; the thread decides where it goes. */
export type FeedLog = (level: "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Everything at one revision: the ops that make it out of nothing. */
export interface FullCopy extends Position {
  readonly ops: readonly Op[];
}

/** The ops that make everything out of nothing, a thousand or so at a time. */
export type SnapshotPages = AsyncIterable<readonly Op[]> | Iterable<readonly Op[]>;

/** The entries at one revision. */
export interface Snapshot {
  readonly rev: number;
  get<K extends EntryKind>(kind: K, id: string): EntryTypes[K] | undefined;
  /** What has been staged is in `staged` alone, and what was released counts at once. */
  entries<K extends EntryKind>(kind: K): IterableIterator<readonly [string, EntryTypes[K]]>;
  /** Large changes that are not released yet. */
  staged(): Iterable<StagedLayer>;
}

/** What the release of a large change will do to a record; `before` is what stands there until then. */
export interface StagedChange {
  readonly id: string;
  readonly value: RecordEntry | null;
  readonly before: RecordEntry | undefined;
}

/**
 * `before` is undefined where an op creates, and else the very object that was put before; `value` is null where it deletes.
 * Planes index the `changes` of what is staged as it comes, so that its release is one step, however many there are.
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
 * What a listener has left to do of a delta, of which nothing is visible yet. Does some of it, and returns whether there
 * is more; called once per turn of the event loop, and no delta is applied before it is done.
 */
export type Rest = () => boolean;

/** A plane's copy of the snapshot. */
export interface Replica {
  readonly snapshot: Snapshot;
  /**
   * Called synchronously, once per delta, with all of its ops; `null` means that everything may have
   * changed and the plane rebuilds from `snapshot`. The revision is acknowledged when all have returned
   * and nothing is left to do. A promise is for what may become visible later: until it resolves the revision is
   * pending, and later ones are applied and acknowledged.
   */
  onApplied(listener: (ops: readonly AppliedOp[] | null) => Rest | Promise<void> | undefined | void): void;
  close(): void;
}

/** Where committed changes come from. */
export interface FeedSource {
  /** Everything, at the newest revision. */
  full(): Promise<FullCopy>;
  /** The same, never all at once in memory; the pages are good until `use` resolves. */
  stream<T>(use: (at: Position, pages: SnapshotPages) => Promise<T>): Promise<T>;
  /** Some deltas after the position, oldest first; none when it is the newest; null when they are gone, or it is of another history. */
  since(at: Position): Promise<readonly Delta[] | null>;
  /** A hint that there is news; what other nodes commit is found by polling. */
  onCommit(listener: () => void): () => void;
}
