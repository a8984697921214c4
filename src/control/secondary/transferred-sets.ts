import { SET_BYTES_MAX } from "#model/dns/dns-conflicts.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import { typeName } from "./copied-record.ts";

/** The RRsets of a transferred zone, limited like those of records written here. */
export interface TransferredSets {
  /**
   * Adds a record that is not a duplicate; `name` is in lower case. Throws TransferError if its set is too large, or if it
   * stands beside a CNAME (RFC 1034 §3.6.2) or a second DNAME (RFC 6672 §2.4).
   */
  add(name: string, type: number, rdataBytes: number): void;
}

/** Bits for the records of a name. */
const HAS = { alias: 1, other: 2, dname: 4 } as const;
const hasOf = (type: number): number => (type === TYPE.CNAME ? HAS.alias : type === TYPE.DNAME ? HAS.other | HAS.dname : HAS.other);

/**
 * Larger sets would make truncated answers for every client, and slow down the servers of all zones; beside an alias,
 * resolvers would see one record or the other, by what they asked first.
 */
export function createTransferredSets(): TransferredSets {
  const bytes = new LargeMap<number>();
  const names = new LargeMap<number>();
  return {
    add: (name, type, rdataBytes) => {
      const [before, has] = [names.get(name) ?? 0, hasOf(type)];
      if ((before & HAS.alias) !== 0 || (before !== 0 && has === HAS.alias))
        throw new TransferError(`${name} has a CNAME record beside another one`);
      if ((before & has & HAS.dname) !== 0) throw new TransferError(`${name} has more than one DNAME record`);
      names.set(name, before | has);
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
