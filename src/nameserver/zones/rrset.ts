import type { RecordSettings, RecordEntry } from "#snapshot/entries.ts";

/** All records of one owner name and type. */
export interface RecordSet {
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  /** Any of its records is proxied. */
  readonly proxied: boolean;
  /** Those that any of its records has. */
  readonly settings?: RecordSettings;
}

/** Sets by type; never changed once made. */
export type RecordSets = ReadonlyMap<number, RecordSet>;

/**
 * What a name holds: entries that have been found good. Their RDATA is decoded when somebody asks for the name, since a
 * million records would be held twice otherwise.
 */
export type StoredRecord = Omit<RecordEntry, "zone_id">;

/** One owner name, or a name that exists only because one below it does (RFC 8020). */
export interface NameNode {
  readonly sets: RecordSets;
}
