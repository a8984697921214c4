import { createCidrSet } from "#kernel/net/cidr.ts";
import { formatIp, parseIp } from "#kernel/net/ip.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { TransferSideEntry } from "#snapshot/entries.ts";
import type { Snapshot } from "#snapshot/feed.ts";
import { openTsigKey } from "#snapshot/tsig-key.ts";
import type { TsigKey } from "#wire/dns/tsig.ts";

/** Who may fetch a zone from here, or announce it to us. */
export interface TransferSide {
  /** The keys of the side's peers. */
  readonly keys: readonly TsigKey[];
  /**
   * Whether the client is one of them. `key` has signed its message. Without one it is its address that counts: a peer's
   * that has no key, or one of the account's ACLs, where at least one of the zone's peers needs none.
   */
  admits(address: Uint8Array, key: TsigKey | undefined): boolean;
}

/** The other servers of each zone. */
export interface TransferPartners {
  outgoing(zoneId: string): TransferSide | undefined;
  incoming(zoneId: string): TransferSide | undefined;
  /** Keys that a message about the zone may be signed with. */
  keys(zoneId: string): readonly TsigKey[];
}

/** Reads the entries when they are asked for, so that a change counts at once. */
export function createTransferPartners(snapshot: Snapshot, sealer: Sealer): TransferPartners {
  // Entries are frozen: what has been made of one holds for as long as it is there.
  const sides = new WeakMap<TransferSideEntry, TransferSide>();
  const sideOf = (entry: TransferSideEntry | null | undefined): TransferSide | undefined => {
    if (!entry) return undefined;
    let side = sides.get(entry);
    if (!side) sides.set(entry, (side = createSide(entry, sealer)));
    return side;
  };
  const outgoing = (zoneId: string): TransferSide | undefined => sideOf(snapshot.get("transfer", zoneId)?.outgoing);
  const incoming = (zoneId: string): TransferSide | undefined => sideOf(snapshot.get("transfer", zoneId)?.incoming);
  return {
    outgoing,
    incoming,
    keys: (zoneId) => [...(outgoing(zoneId)?.keys ?? []), ...(incoming(zoneId)?.keys ?? [])],
  };
}

function createSide({ peers, acl }: TransferSideEntry, sealer: Sealer): TransferSide {
  const keys = peers.flatMap(({ tsig }) => (tsig ? (openTsigKey(tsig, sealer) ?? []) : []));
  const addresses = (keyed: boolean): ReadonlySet<string> =>
    new Set(peers.filter(({ tsig }) => (tsig !== null) === keyed).map(({ ip }) => canonical(ip)));
  const [keyed, keyless] = [addresses(true), addresses(false)];
  const ranges = createCidrSet(keyless.size === 0 ? [] : acl);
  return {
    keys,
    admits: (address, key) => {
      if (key) return keys.includes(key);
      const text = formatIp({ family: address.length === 4 ? 4 : 6, bytes: address });
      // An ACL must not open what a peer's key closes.
      return keyless.has(text) || (!keyed.has(text) && ranges.has(text));
    },
  };
}

const canonical = (ip: string): string => {
  const address = parseIp(ip);
  return address ? formatIp(address) : "";
};
