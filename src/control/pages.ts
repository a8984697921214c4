import { createPageEnds } from "#control/page-ends.ts";
import { createTotals } from "#control/list-totals.ts";
import type { Page, PageRequest } from "#control/call.ts";
import type { ListPart, ListState, RowKey } from "#store/queries/list-pages.ts";

export interface ListQuery<Row, Item> {
  /** Identifies the list by owner, filter and order; plain data. */
  readonly list: unknown;
  readonly state: ListState;
  /** Whether nothing is filtered out, so that the state contains the total. */
  readonly isWhole: boolean;
  readonly page: PageRequest;
  items(part: ListPart): Promise<readonly Row[]>;
  /** Called if the state does not contain the total, once per state of the list. */
  count(): Promise<number>;
  /** The values by which the list is sorted; null if no index has the order. */
  keyOf: ((row: Row) => RowKey) | null;
  view(row: Row): Item;
}

/** Number of rows that can be filtered quickly. */
const QUICK_ROWS_MAX = 2_000;

/** Whether reading the list is fast enough for `store.read`; otherwise use `store.scan`. */
export const isQuick = ({ rows }: ListState, isWhole: boolean): boolean => isWhole || rows <= QUICK_ROWS_MAX;

/**
 * Pages by number, each at the cost of its rows: totals are maintained with each write or counted once, and a page begins
 * where an earlier one ended. Both are valid while the list's state is unchanged.
 */
export function createPages(): <Row, Item>(asked: ListQuery<Row, Item>) => Promise<Page<Item>> {
  const totals = createTotals();
  const places = createPageEnds<RowKey>();
  return async ({ list, state, isWhole, page: { page, per_page }, items, count, keyOf, view }) => {
    const key = JSON.stringify([list, state]);
    const offset = (page - 1) * per_page;
    const total = isWhole ? state.rows : (totals.get(key) ?? (await count()));
    if (!isWhole) totals.set(key, total);
    const from = keyOf === null ? null : places.before(key, offset);
    const rows = offset >= total ? [] : await items({ limit: per_page, offset, from });
    const last = rows.at(-1);
    if (last !== undefined && keyOf !== null) places.add(key, { position: offset + rows.length, row: keyOf(last) });
    return { items: rows.map(view), page, per_page, total_count: total };
  };
}
