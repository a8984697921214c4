import { createCidrSet } from "#kernel/net/cidr.ts";
import { formatIp, parseIp } from "#kernel/net/ip.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { TransferSideEntry } from "#snapshot/entries.ts";
import type { Snapshot } from "#snapshot/feed.ts";
import { openTsigKey } from "#snapshot/tsig-key.ts";
import type { TsigKey } from "#wire/dns/tsig.ts";

/** The peers that may transfer a zone from here, or that may announce its changes. */
export interface TransferSide {
  /** The keys of these peers. */
  readonly keys: readonly TsigKey[];
  /**
   * Whether the client is one of them. `key` has verified the message. Without a key the address decides: it must be that
   * of a peer without a key, or match one of the account's ACLs if at least one peer of the zone needs no key.
   */
  admits(address: Uint8Array, key: TsigKey | undefined): boolean;
}

/** The transfer peers of each zone. */
export interface TransferPartners {
  outgoing(zoneId: string): TransferSide | undefined;
  incoming(zoneId: string): TransferSide | undefined;
  /** Keys that may sign messages about the zone. */
  keys(zoneId: string): readonly TsigKey[];
}

/** Reads the entries at each call, so that a change takes effect at once. */
export function createTransferPartners(snapshot: Snapshot, sealer: Sealer): TransferPartners {
  // Entries are frozen, so the value derived from one stays valid.
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
      // An ACL must not admit an address whose peer has a key.
      return keyless.has(text) || (!keyed.has(text) && ranges.has(text));
    },
  };
}

const canonical = (ip: string): string => {
  const address = parseIp(ip);
  return address ? formatIp(address) : "";
};
