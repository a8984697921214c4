import type { Page, PageRequest } from "#control/call.ts";
import type { DeprecationCall } from "#model/access/deprecation-call.ts";
import { addDeprecationCalls, deprecationCallsOfAccount } from "#store/access/deprecation-calls.ts";
import type { Store } from "#store/database/store.ts";
import type { DeprecationCallsTable } from "#store/queries/tables.ts";

/** Calls of deprecated features: counts by account, day, row, caller and route. */
export interface DeprecationCalls {
  add(rows: readonly DeprecationCallsTable[]): Promise<void>;
  list(accountId: string, page: PageRequest): Promise<Page<DeprecationCall>>;
}

export const createDeprecationCalls = ({ store }: { readonly store: Store }): DeprecationCalls => ({
  add: async (rows) => {
    await store.write((unit) => addDeprecationCalls(unit.db, rows));
  },
  list: async (accountId, { page, per_page }) => {
    const { rows, total } = await deprecationCallsOfAccount(store.read, accountId, { offset: (page - 1) * per_page, limit: per_page });
    const items = rows.map(({ day, deprecation_id, token_id, token_name, api_date, route, calls }) => ({
      ...{ day, deprecation_id, token_id, route, calls },
      ...(token_name === null ? {} : { token_name }),
      ...(api_date === null ? {} : { api_date }),
    }));
    return { items, page, per_page, total_count: total };
  },
});
