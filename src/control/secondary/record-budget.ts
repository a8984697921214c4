import { createShares } from "#kernel/shares.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";

/** Limits the records that all running transfers hold in memory together, and those of one account among them. */
export interface RecordBudget {
  lease(accountId: string): RecordLease;
}

/** The share of one transfer. */
export interface RecordLease {
  /** Throws TransferError if the budget is used up, or the account's share of it. */
  take(records: number): void;
  /** Returns all records to the budget. */
  release(): void;
}

/** Part of the records that are free which the transfers of one account can hold: endless ones leave the rest to others. */
const ACCOUNT_SHARE = 0.75;

export function createRecordBudget(recordsMax: number): RecordBudget {
  const shares = createShares({ total: recordsMax, share: ACCOUNT_SHARE });
  return {
    lease: (accountId) => {
      let mine = 0;
      return {
        take: (records) => {
          if (!shares.take(accountId, records)) throw new TransferError("this server is busy with other transfers");
          mine += records;
        },
        release: () => {
          shares.release(accountId, mine);
          mine = 0;
        },
      };
    },
  };
}
