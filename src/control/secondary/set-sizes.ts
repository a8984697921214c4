import { SET_BYTES_MAX } from "#model/dns/dns-conflicts.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import { typeName } from "./copied-record.ts";

/** Adds up the sets of a zone that is copied, which may be as long as those that are written here. */
export interface SetSizes {
  /** A record of the set, or one less. Throws TransferError where the set is too long; `name` is its text in small letters. */
  add(name: string, type: number, rdataBytes: number): void;
}

/**
 * A primary's sets are bounded like everybody's: of one name, answers would be cut for every client, and the servers of
 * all zones would work for it.
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
