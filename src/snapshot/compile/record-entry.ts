import type { RecordEntry, RecordSettings, StagedEntry } from "../entries.ts";

/** Value of "automatic" in seconds (SPEC 2.2, SPEC 8). */
export const TTL_AUTOMATIC_SECONDS = 300;

export interface RecordColumns {
  readonly zone_id: string;
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly content: string;
  readonly rdata: string;
  readonly proxied: number;
  readonly settings: string;
}

export const recordEntry = (row: RecordColumns): RecordEntry => ({
  zone_id: row.zone_id,
  name: row.name,
  type: row.type,
  ttl: row.ttl === 1 ? TTL_AUTOMATIC_SECONDS : row.ttl,
  content: row.content,
  rdata: row.rdata,
  proxied: row.proxied === 1,
  // Nearly all records have none, and the snapshot stays small.
  ...(row.settings === "{}" ? {} : { settings: JSON.parse(row.settings) as RecordSettings }),
});

/** One chunk of a large change. */
export const stagedEntry = (
  importId: string,
  zone_id: string,
  rows: readonly (RecordColumns & { readonly id: string })[],
  removed: readonly string[] = [],
): StagedEntry => ({
  import_id: importId,
  zone_id,
  records: rows.map((row) => {
    const { zone_id: _, ...entry } = recordEntry(row);
    return { id: row.id, ...entry };
  }),
  ...(removed.length === 0 ? {} : { removed }),
});
