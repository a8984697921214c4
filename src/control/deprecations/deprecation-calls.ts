import type { Page, PageRequest } from "#control/call.ts";
import type { DeprecationCall } from "#model/access/deprecation-call.ts";
import { type Clock, isoDate } from "#kernel/clock.ts";
import { addDeprecationCalls, deleteDeprecationCalls, deprecationCallsOfAccount } from "#store/access/deprecation-calls.ts";
import type { Store } from "#store/database/store.ts";
import type { DeprecationCallsTable } from "#store/tables/deprecations.ts";

/** Calls of deprecated features: counts by account, day, row, caller and route. */
export interface DeprecationCalls {
  add(rows: readonly DeprecationCallsTable[]): Promise<void>;
  list(accountId: string, page: PageRequest): Promise<Page<DeprecationCall>>;
  /** Deletes counts older than a year. */
  forget(): Promise<void>;
}

/** The longest notice of an end is a year. */
const KEPT_DAYS = 366;
const DAY_MS = 86_400_000;

export interface DeprecationCallsDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export const createDeprecationCalls = ({ store, clock }: DeprecationCallsDeps): DeprecationCalls => ({
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
  forget: async () => {
    await store.write(({ db }) => deleteDeprecationCalls(db, isoDate(clock.nowMs() - KEPT_DAYS * DAY_MS)));
  },
});
