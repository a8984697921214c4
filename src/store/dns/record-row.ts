import type { DnsRecordsTable } from "#store/tables/dns.ts";
import type { Selectable } from "kysely";

/** A record without the columns that only filters read. */
export type DnsRecordRow = Omit<Selectable<DnsRecordsTable>, keyof RecordKeys>;

/** Columns that only filters read, derived from the visible fields in record-keys.ts. */
export interface RecordKeys {
  /** `www.example.test` as `tset.elpmaxe.www`, so that "ends with" is a range of an index. */
  readonly name_reversed: string;
  /** The first characters of `content_key`, and its last characters reversed. */
  readonly content_head: string;
  readonly content_reversed: string;
  /** The comment as filters compare it; null if none. */
  readonly comment_key: string | null;
  readonly comment_head: string | null;
  readonly comment_reversed: string | null;
  /** 0 or 1: whether the record has a comment, and a tag. */
  readonly commented: number;
  readonly tagged: number;
}
