import { TransferError } from "#wire/dns/transfer-reader.ts";

/** Limits the records that all running transfers hold in memory together. */
export interface RecordBudget {
  lease(): RecordLease;
}

/** The share of one transfer. */
export interface RecordLease {
  /** Throws TransferError if the budget is used up. */
  take(records: number): void;
  /** Returns all records to the budget. */
  release(): void;
}

export function createRecordBudget(recordsMax: number): RecordBudget {
  let held = 0;
  return {
    lease: () => {
      let mine = 0;
      return {
        take: (records) => {
          if (held + records > recordsMax) throw new TransferError("this server is busy with other transfers");
          held += records;
          mine += records;
        },
        release: () => {
          held -= mine;
          mine = 0;
        },
      };
    },
  };
}
