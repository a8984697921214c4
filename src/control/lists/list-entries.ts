import type { RuleListKind } from "#model/rulesets/rule-list.ts";
import type { Op } from "#snapshot/entries.ts";
import { itemValues, type RuleListRow } from "#store/rulesets/rule-lists.ts";
import type { Unit } from "#store/database/store.ts";

/** Items per entry. A list is published in parts, so that a change of one item does not resend a hundred thousand. */
const ITEMS_PER_PART = 4096;
const BUCKETS = 65_536;

/** A power of two, so that the first bits of a bucket give its part. */
export const partsOf = (items: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, Math.ceil(items / ITEMS_PER_PART))));

export const partOf = (bucket: number, parts: number): number => Math.floor((bucket * parts) / BUCKETS);

/** The entries of these parts of a list; null: all parts. */
export async function listOps(db: Unit["db"], row: RuleListRow, wanted: Iterable<number> | null): Promise<Op[]> {
  const parts = partsOf(row.num_items);
  const ops: Op[] = [];
  for (const part of wanted ?? Array.from({ length: parts }, (_, index) => index)) {
    const width = BUCKETS / parts;
    const values = await itemValues(db, row.id, part * width, (part + 1) * width);
    const items = values.map((value) => JSON.parse(value) as string);
    ops.push({
      kind: "list",
      id: listEntryId(row.id, part),
      value: { account_id: row.account_id, list_id: row.id, name: row.name, kind: row.kind as RuleListKind, part, items },
    });
  }
  return ops;
}

export const listEntryId = (listId: string, part: number): string => `${listId}/${part}`;
