import type { Position, SnapshotPages, FullCopy } from "./feed.ts";
import type { Delta } from "./entries.ts";

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
