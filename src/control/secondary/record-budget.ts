import { createShares } from "#kernel/shares.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import type { AheadMemory } from "./read-ahead.ts";

/** Limits the records, and the bytes that are not read yet, of all running transfers together, and those of one account among them. */
export interface RecordBudget {
  lease(accountId: string): RecordLease;
}

/** The share of one transfer. */
export interface RecordLease {
  /** Throws TransferError if the budget is used up, or the account's share of it. */
  take(records: number): void;
  /** For received bytes that are not read yet. */
  readonly ahead: AheadMemory;
  /** Returns everything to the budget. */
  release(): void;
}

/** Part of the records that are free which the transfers of one account can hold: endless ones leave the rest to others. */
const ACCOUNT_SHARE = 0.75;
/** Several million records in the form in which they arrive. */
const AHEAD_BYTES_MAX = 256 * 1024 * 1024;

export function createRecordBudget(recordsMax: number): RecordBudget {
  const shares = createShares({ total: recordsMax, share: ACCOUNT_SHARE });
  const bytes = createShares({ total: AHEAD_BYTES_MAX, share: ACCOUNT_SHARE });
  return {
    lease: (accountId) => {
      let mine = 0;
      let ahead = 0;
      return {
        take: (records) => {
          if (!shares.take(accountId, records)) throw new TransferError("this server is busy with other transfers");
          mine += records;
        },
        ahead: {
          take: (count) => {
            if (!bytes.take(accountId, count)) return false;
            ahead += count;
            return true;
          },
          release: (count) => {
            bytes.release(accountId, count);
            ahead -= count;
          },
        },
        release: () => {
          shares.release(accountId, mine);
          bytes.release(accountId, ahead);
          mine = ahead = 0;
        },
      };
    },
  };
}
