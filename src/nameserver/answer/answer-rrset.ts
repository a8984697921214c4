import type { DnsName, NameKey } from "#wire/dns/name.ts";
import type { NameNode } from "#nameserver/zones/rrset.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/** One RRset of a response. */
export interface AnswerSet {
  readonly name: DnsName;
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  /** Absent where nobody here may sign it: what a parent says of its child, and glue (RFC 4035 §2.2). */
  readonly origin?: SetOrigin;
}

/** Where a set comes from, which signatures need to know. */
export interface SetOrigin {
  readonly zone: ZoneIndex;
  /** The name that holds it in the zone: the set's own, or the wildcard that it was made of. */
  readonly source: NameKey;
}

/** What an answer denies. A signed zone has to prove it; what does not exist cannot be signed beforehand. */
export type Denial =
  /** There is no such name. */
  | { readonly kind: "no_name"; readonly zone: ZoneIndex; readonly name: DnsName }
  /**
   * The name exists, maybe only because one below it does or because a wildcard covers it, but has nothing of the
   * type. `source` and `node` as in Lookup.
   */
  | {
      readonly kind: "no_data";
      readonly zone: ZoneIndex;
      readonly name: DnsName;
      readonly type: number;
      readonly source: NameKey;
      readonly node: NameNode | undefined;
    }
  /** The zone's say ends at `cut`. Whether the child is signed says its DS set, or that there is none. */
  | { readonly kind: "delegation"; readonly zone: ZoneIndex; readonly cut: NameKey };

/** What an answer owes to look-ups of names elsewhere. */
export interface OutsideShare {
  /** Names and types that have to be looked up before the answer is whole. */
  readonly missing: readonly { readonly name: DnsName; readonly type: number }[];
  /** How long the answer may be kept, in milliseconds. */
  readonly keepMs: number;
  /** Why the answer is not as good as it should be (RFC 8914). */
  readonly extendedError?: number;
}

export interface Answer {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly answers: readonly AnswerSet[];
  readonly authorities: readonly AnswerSet[];
  /** Addresses without which a referral leads nowhere: they do not fit → truncation (RFC 9471). */
  readonly glue: readonly AnswerSet[];
  /** Help that may be left out. */
  readonly additionals: readonly AnswerSet[];
  readonly denial: Denial | undefined;
  /** Present where servers elsewhere had a say. */
  readonly outside?: OutsideShare;
  /** The zones that had a say, whose changes make the answer stale. */
  readonly zones: ReadonlySet<NameKey>;
}
