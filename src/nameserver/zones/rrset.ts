import type { RecordSettings, RecordEntry } from "#snapshot/entries.ts";

/** All records of one owner name and type (RRset, RFC 9499). */
export interface RRset {
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  /** At least one record is proxied. */
  readonly proxied: boolean;
  /** Settings that at least one record has. */
  readonly settings?: RecordSettings;
}

/** RRsets by type; immutable. */
export type RRsets = ReadonlyMap<number, RRset>;

/** A validated record entry. Its RDATA is decoded when the name is queried, to avoid storing a million records twice. */
export type StoredRecord = Omit<RecordEntry, "zone_id">;

/** One owner name, or an empty non-terminal (RFC 8020). */
export interface NameNode {
  readonly sets: RRsets;
}
