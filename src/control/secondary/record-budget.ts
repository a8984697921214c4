import { createShares } from "#kernel/shares.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import type { ResourceRecord } from "#wire/dns/message.ts";
import type { AheadMemory } from "./read-ahead.ts";

/** Limits the memory of records, and the bytes that are not read yet, of all running transfers together, and those of one account among them. */
export interface RecordBudget {
  lease(accountId: string): RecordLease;
}

/** The share of one transfer. */
export interface RecordLease {
  /** Throws TransferError if the budget is used up, or the account's share of it. */
  take(records: readonly Pick<ResourceRecord, "name" | "rdata">[]): void;
  /** For received bytes that are not read yet. */
  readonly ahead: AheadMemory;
  /** Returns everything to the budget. */
  release(): void;
}

/** A record's memory beside its name and RDATA. */
const RECORD_BYTES = 260;
/** Part of the memory that is free which the transfers of one account can hold: endless ones leave the rest to others. */
const ACCOUNT_SHARE = 0.75;
/** Several million records in the form in which they arrive. */
const AHEAD_BYTES_MAX = 256 * 1024 * 1024;

/** Memory that these records take while a transfer holds them. */
export const memoryOf = (records: readonly Pick<ResourceRecord, "name" | "rdata">[]): number =>
  records.reduce((sum, { name, rdata }) => sum + RECORD_BYTES + name.length + rdata.length, 0);

export function createRecordBudget(memoryBytesMax: number): RecordBudget {
  const shares = createShares({ total: memoryBytesMax, share: ACCOUNT_SHARE });
  const bytes = createShares({ total: AHEAD_BYTES_MAX, share: ACCOUNT_SHARE });
  return {
    lease: (accountId) => {
      let mine = 0;
      let ahead = 0;
      return {
        take: (records) => {
          const memory = memoryOf(records);
          if (!shares.take(accountId, memory))
            throw new TransferError("this server is busy with other transfers, or the zone is larger than its memory for them");
          mine += memory;
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
