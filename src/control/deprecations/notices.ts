import { deprecationAlert } from "#control/notifications/alerts/alert.ts";
import { enqueueAccountAlert } from "#control/notifications/policies/enqueue-alert.ts";
import { type Clock, isoDate, isoMicros, type IsoDate } from "#kernel/clock.ts";
import { policiesOfType } from "#store/events/notifications.ts";
import { addDeprecationNotice, callersOfEnding, type EndingCaller } from "#store/access/deprecation-calls.ts";
import type { Store } from "#store/database/store.ts";

/** As much of a row of the table as a notice needs. */
export interface EndingRow {
  readonly id: string;
  readonly date: IsoDate;
  readonly replacement: string | null;
  readonly protects?: string;
}

/** Notifies accounts of deprecated calls that they still make and that end soon. */
export interface DeprecationNotices {
  /** Notifies of each row once each 90, 30, 7 days and one day before its date. Returns the number of accounts and rows notified. */
  tellEnding(table: readonly EndingRow[]): Promise<number>;
}

const ALERT = "api_deprecation_ending";
/** Days before the date, the last first. */
const STAGES = [1, 7, 30, 90] as const;
/** A caller that has not called for so long has moved on. */
const CALLED_WITHIN_DAYS = 30;
const DAY_MS = 86_400_000;

export function createDeprecationNotices({ store, clock }: { readonly store: Store; readonly clock: Clock }): DeprecationNotices {
  /** One account and one row per unit: the units stay small, and a sent notice is not sent again. */
  async function tell(accountId: string, row: EndingRow, daysLeft: number, callers: readonly EndingCaller[]): Promise<boolean> {
    const stage = STAGES.find((days) => daysLeft <= days);
    if (stage === undefined || callers.length === 0) return false;
    const { result } = await store.write(async (unit) => {
      const notice = { account_id: accountId, deprecation_id: row.id, days_left: stage, told_on: isoMicros(clock.nowMicros()) };
      if (!(await addDeprecationNotice(unit.db, notice))) return false;
      await enqueueAccountAlert(unit, clock.nowMs(), ALERT, accountId, () => deprecationAlert(row, daysLeft, callers));
      return true;
    });
    return result;
  }
  return {
    tellEnding: async (table) => {
      const nowMs = clock.nowMs();
      const daysLeft = ({ date }: EndingRow): number => Math.ceil((Date.parse(`${date}T00:00:00Z`) - nowMs) / DAY_MS);
      const ending = table.filter((row) => daysLeft(row) > 0 && daysLeft(row) <= STAGES[STAGES.length - 1]!);
      if (ending.length === 0) return 0;
      const since = isoDate(nowMs - CALLED_WITHIN_DAYS * DAY_MS);
      const accounts = new Set((await policiesOfType(store.read, ALERT)).map(({ account_id }) => account_id));
      let told = 0;
      for (const accountId of accounts) {
        const callers = await callersOfEnding(
          store.scan,
          accountId,
          since,
          ending.map(({ id }) => id),
        );
        for (const row of ending) {
          const concerned = callers.filter(({ deprecation_id, pin }) => deprecation_id === row.id && isEnding(row, pin));
          if (await tell(accountId, row, daysLeft(row), concerned)) told++;
        }
      }
      return told;
    },
  };
}

/** For a caller pinned to a date before the row's, nothing ends. */
const isEnding = ({ date, protects }: EndingRow, pin: string | null): boolean => pin === null || pin >= date || protects !== undefined;
