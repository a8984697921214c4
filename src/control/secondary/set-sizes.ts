import { SET_BYTES_MAX } from "#model/dns/dns-conflicts.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import { typeName } from "./copied-record.ts";

/** Sizes of a transferred zone's RRsets, limited like those of records written here. */
export interface SetSizes {
  /**
   * Adds a record's size to its set; negative to remove it. Throws TransferError if the set is too large; `name` is in
   * lower case.
   */
  add(name: string, type: number, rdataBytes: number): void;
}

/**
 * A primary's sets are limited too: larger ones would make truncated answers for every client, and slow down the servers
 * of all zones.
 */
export function createSetSizes(): SetSizes {
  const bytes = new LargeMap<number>();
  return {
    add: (name, type, rdataBytes) => {
      const set = `${name} ${type}`;
      const size = (bytes.get(set) ?? 0) + rdataBytes;
      bytes.set(set, size);
      if (size > SET_BYTES_MAX)
        throw new TransferError(
          `the records of ${name} of type ${typeName(type)} have more than ${SET_BYTES_MAX} bytes together, the limit for an RRset`,
        );
    },
  };
}
