import { createListPlaces } from "#control/list-places.ts";
import { createTotals } from "#control/list-totals.ts";
import type { Page, PageRequest } from "#control/call.ts";
import type { ListPart, ListState, RowKey } from "#store/queries/list-pages.ts";

export interface AskedList<Row, Item> {
  /** Which list this is: whose, with which filter and in which order; plain data. */
  readonly list: unknown;
  readonly state: ListState;
  /** Whether nothing is filtered out, so that the state says how many there are. */
  readonly isWhole: boolean;
  readonly page: PageRequest;
  items(part: ListPart): Promise<readonly Row[]>;
  /** Only asked where the state does not say it, once for each state of the list. */
  count(): Promise<number>;
  /** The values that the list is sorted by; null for an order that no index has. */
  keyOf: ((row: Row) => RowKey) | null;
  view(row: Row): Item;
}

/** Rows that a filter judges in no time. */
const QUICK_ROWS_MAX = 2_000;

/** Whether a list may be read where others wait for it; `store.scan` is for the others. */
export const isQuick = ({ rows }: ListState, isWhole: boolean): boolean => isWhole || rows <= QUICK_ROWS_MAX;

/**
 * Pages by their numbers at the cost of their own rows: totals are kept with each write or counted once, and a page begins where
 * an earlier one ended. Both hold as long as the list is in the same state.
 */
export function createPages(): <Row, Item>(asked: AskedList<Row, Item>) => Promise<Page<Item>> {
  const totals = createTotals();
  const places = createListPlaces<RowKey>();
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
