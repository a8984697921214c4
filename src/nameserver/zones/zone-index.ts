import type { ZoneNodes } from "./zone-nodes.ts";
import type { DnssecEntry, ZoneEntry } from "#snapshot/entries.ts";
import type { RRset } from "./rrset.ts";
import type { CertifiedNames } from "./certified-names.ts";
import type { NameKey, DnsName } from "#wire/dns/name.ts";

/** A zone as queries read it. */
export interface ZoneIndex {
  readonly id: string;
  readonly key: NameKey;
  readonly name: DnsName;
  readonly entry: ZoneEntry;
  /** RRsets that settings create at the apex: SOA, NS, and DNSKEY with CDS and CDNSKEY. */
  readonly apex: ReadonlyMap<number, RRset>;
  /** TTL of negative answers in seconds (RFC 2308 §5). */
  readonly negativeTtl: number;
  readonly nodes: Pick<ZoneNodes, "get" | "borders" | "size" | "walk">;
  /** Undefined if the zone is not signed. */
  readonly dnssec: DnssecEntry | undefined;
  /** Names for which the edge has certificates, including wildcards; one object for all states of the zone. */
  readonly certified: Pick<CertifiedNames, "has">;
}
