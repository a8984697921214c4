import type { ShownRow } from "#control/dns/record-view.ts";

/** One record before and after a write, or before and after several; null where it did not exist. */
export interface VersionedChange<Row extends ShownRow = ShownRow> {
  readonly before: Row | null;
  readonly after: Row | null;
}

/** The text that is stored: only what a record says, since what is made from it may be made differently one day. */
export const encodeChanges = (changes: readonly VersionedChange[]): string =>
  JSON.stringify(changes.map(({ before, after }) => ({ before: before && said(before), after: after && said(after) })));

export const decodeChanges = (text: string): readonly VersionedChange[] => JSON.parse(text) as VersionedChange[];

const said = (row: ShownRow): ShownRow => ({
  id: row.id,
  name: row.name,
  type: row.type,
  content: row.content,
  data: row.data,
  priority: row.priority,
  ttl: row.ttl,
  proxied: row.proxied,
  settings: row.settings,
  comment: row.comment,
  tags: row.tags,
  comment_modified_on: row.comment_modified_on,
  tags_modified_on: row.tags_modified_on,
  created_on: row.created_on,
  modified_on: row.modified_on,
});

/** Whether they are the same record but for when it was last written. */
export function sameRecord(a: ShownRow | null, b: ShownRow | null): boolean {
  if (a === null || b === null) return a === b;
  return JSON.stringify({ ...said(a), modified_on: "" }) === JSON.stringify({ ...said(b), modified_on: "" });
}

/** Several writes as one: each record before the first of them and after the last, by its id. */
export function foldChanges(into: Map<string, VersionedChange>, changes: readonly VersionedChange[]): void {
  for (const change of changes) {
    const id = (change.after ?? change.before)?.id ?? "";
    into.set(id, { before: (into.get(id) ?? change).before, after: change.after });
  }
}
