import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { RecordContentRow } from "./record-view.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";

/** One record before and after one or several writes; null if it did not exist. */
export interface VersionedChange<Row extends RecordContentRow = RecordContentRow> {
  readonly before: Row | null;
  readonly after: Row | null;
}

/** Encodes changes for storage. Contains the defining columns only, because the derivation of the others may change. */
export const encodeChanges = (changes: readonly VersionedChange[]): string => encode(changes, COLUMNS);

/** The same compressed to a tenth, for versions of many thousand changes. */
export const packChanges = (changes: readonly VersionedChange[]): string =>
  PACKED + deflateRawSync(encodeChanges(changes), { level: 1 }).toString("base64");

/** Also contains derived columns, so that the change can be undone exactly. */
export const packWholeChanges = (changes: readonly VersionedChange<DnsRecordRow>[]): string =>
  PACKED + deflateRawSync(encode(changes, WHOLE_COLUMNS), { level: 1 }).toString("base64");

const encode = <Row extends RecordContentRow>(changes: readonly VersionedChange<Row>[], columns: readonly (keyof Row)[]): string =>
  JSON.stringify(
    changes.map(({ before, after }) => ({ before: before && encodeRow(before, columns), after: after && encodeRow(after, columns) })),
  );

/** Decodes the result of `packWholeChanges`. */
export const decodeWholeChanges = (text: string, zone_id: string): readonly VersionedChange<DnsRecordRow>[] =>
  decodeChanges(text).map(({ before, after }) => ({
    before: before && ({ ...before, zone_id } as DnsRecordRow),
    after: after && ({ ...after, zone_id } as DnsRecordRow),
  }));

/** A prefix that JSON never has. */
const PACKED = "~";

const unpacked = (text: string): string =>
  text.startsWith(PACKED) ? inflateRawSync(Buffer.from(text.slice(PACKED.length), "base64")).toString() : text;

export const decodeChanges = (text: string): readonly VersionedChange[] =>
  (JSON.parse(unpacked(text)) as { before: Partial<RecordContentRow> | null; after: Partial<RecordContentRow> | null }[]).map(
    ({ before, after }) => ({
      before: before && decodeRow(before),
      after: after && decodeRow(after),
    }),
  );

/** Usual values of these columns, which are omitted to keep the text of every write short. */
const USUAL = {
  data: null,
  priority: null,
  ttl: 1,
  proxied: 0,
  settings: "{}",
  comment: null,
  tags: "[]",
  comment_modified_on: null,
  tags_modified_on: null,
} as const satisfies Partial<RecordContentRow>;
const COLUMNS = ["id", "name", "type", "content", "created_on", "modified_on", ...(Object.keys(USUAL) as (keyof typeof USUAL)[])] as const;

const WHOLE_COLUMNS = [...COLUMNS, "content_key", "rdata"] as const;

function encodeRow<Row extends RecordContentRow>(row: Row, columns: readonly (keyof Row)[]): Partial<Row> {
  const told: Partial<Row> = {};
  for (const column of columns) if (row[column] !== (USUAL as Partial<Row>)[column]) told[column] = row[column];
  return told;
}

const decodeRow = (told: Partial<RecordContentRow>): RecordContentRow => ({ ...USUAL, ...told }) as RecordContentRow;

/** Whether both are equal except for the time of modification. */
export function sameRecord(a: RecordContentRow | null, b: RecordContentRow | null): boolean {
  if (a === null || b === null) return a === b;
  return COLUMNS.every((column) => column === "modified_on" || a[column] === b[column]);
}

/** Combines several writes: each record before the first and after the last of them, by id. */
export function foldChanges(into: Map<string, VersionedChange>, changes: readonly VersionedChange[]): void {
  for (const change of changes) {
    const id = (change.after ?? change.before)?.id ?? "";
    into.set(id, { before: (into.get(id) ?? change).before, after: change.after });
  }
}
