import { createHash } from "node:crypto";
import { type Clock, isoDate, type IsoDate } from "#kernel/clock.ts";
import { addRecordedCalls, deleteRecordedCalls, recordedCallsOf } from "#store/access/recorded-calls.ts";
import type { Store } from "#store/database/store.ts";

/** One form of call by one caller on one day. */
export interface RecordedCall {
  readonly account_id: string;
  readonly day: IsoDate;
  readonly token_id: string;
  readonly route: string;
  /** JSON; names of fields and placeholders, never values. */
  readonly shape: string;
  /** The caller's own API date, if it has one. */
  readonly api_date: IsoDate | null;
  readonly calls: number;
}

export interface NamedCall extends RecordedCall {
  /** Null for users, and for tokens that no longer exist. */
  readonly token_name: string | null;
}

/** The management calls of the last 30 days by their form. */
export interface RecordedCalls {
  add(rows: readonly RecordedCall[]): Promise<void>;
  /** The account's calls of the last days, today included; `isCut` if there are more than fit. */
  list(accountId: string, days: number): Promise<{ readonly calls: readonly NamedCall[]; readonly isCut: boolean }>;
  /** Forgets older ones. */
  forget(): Promise<void>;
}

/** An account's forms of one day. A client has some dozens. */
const FORMS_PER_DAY_MAX = 2_000;
const LISTED_MAX = 20_000;
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

export function createRecordedCalls({ store, clock }: { readonly store: Store; readonly clock: Clock }): RecordedCalls {
  const daysAgo = (days: number): IsoDate => isoDate(clock.nowMs() - days * DAY_MS);
  return {
    add: async (rows) => {
      const hashed = rows.map((row) => ({ ...row, shape_hash: hashOf(row) }));
      await store.write(({ db }) => addRecordedCalls(db, hashed, FORMS_PER_DAY_MAX));
    },
    list: async (accountId, days) => {
      const rows = await recordedCallsOf(store.scan, accountId, daysAgo(days - 1), LISTED_MAX + 1);
      const calls = rows.slice(0, LISTED_MAX).map(({ shape_hash: _hash, ...row }) => row as NamedCall);
      return { calls, isCut: rows.length > LISTED_MAX };
    },
    forget: async () => {
      await store.write(({ db }) => deleteRecordedCalls(db, daysAgo(KEPT_DAYS)));
    },
  };
}

const hashOf = ({ shape, api_date }: RecordedCall): string =>
  createHash("sha256")
    .update(`${api_date ?? ""} ${shape}`)
    .digest("hex")
    .slice(0, 32);
