import { addDeprecationCalls, listDeprecationCalls } from "#store/deprecation-calls.ts";
import type { Store } from "#store/store.ts";
import type { DeprecationCallsTable } from "#store/tables.ts";

/** Who still calls what will end: counts by day, row, caller and route. */
export interface DeprecationCalls {
  add(rows: readonly DeprecationCallsTable[]): Promise<void>;
  list(): Promise<readonly DeprecationCallsTable[]>;
}

export const createDeprecationCalls = ({ store }: { readonly store: Store }): DeprecationCalls => ({
  add: async (rows) => {
    await store.write((unit) => addDeprecationCalls(unit.db, rows));
  },
  list: () => listDeprecationCalls(store.read),
});
