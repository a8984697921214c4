import type { ZoneNodes } from "./zone-nodes.ts";
import type { DnssecEntry, ZoneEntry } from "#snapshot/entries.ts";
import type { RecordSet } from "./rrset.ts";
import type { CertifiedNames } from "./certified-names.ts";
import type { NameKey, DnsName } from "#wire/dns/name.ts";

/** A zone as answers read it. */
export interface ZoneIndex {
  readonly id: string;
  readonly key: NameKey;
  readonly name: DnsName;
  readonly entry: ZoneEntry;
  /** The apex sets that entries make: SOA, NS and what announces the keys. */
  readonly apex: ReadonlyMap<number, RecordSet>;
  /** TTL of negative answers in seconds (RFC 2308 §5). */
  readonly negativeTtl: number;
  readonly nodes: Pick<ZoneNodes, "get" | "borders" | "size" | "walk">;
  /** Undefined where the zone is not signed. */
  readonly dnssec: DnssecEntry | undefined;
  /** Names that the edge has certificates for, wildcards as such; kept in place, for all states of the zone. */
  readonly certified: Pick<CertifiedNames, "has">;
}
