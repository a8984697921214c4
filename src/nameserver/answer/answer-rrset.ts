import type { DnsName, NameKey } from "#wire/dns/name.ts";
import type { NameNode } from "#nameserver/zones/rrset.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/** One RRset of a response. */
export interface AnswerSet {
  readonly name: DnsName;
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  /** Absent if this zone may not sign the set: a delegation's NS set, and glue (RFC 4035 §2.2). */
  readonly origin?: SetOrigin;
}

/** The origin of a set, which signing needs. */
export interface SetOrigin {
  readonly zone: ZoneIndex;
  /** The name that owns the set in the zone: the set's own name, or the wildcard it was expanded from. */
  readonly source: NameKey;
}

/** A denial of existence, which a signed zone must prove; it cannot be signed in advance. */
export type Denial =
  /** The name does not exist. */
  | { readonly kind: "no_name"; readonly zone: ZoneIndex; readonly name: DnsName }
  /**
   * The name exists (possibly as an empty non-terminal, or through a wildcard) but has no data of the type. `source` and
   * `node` as in Lookup.
   */
  | {
      readonly kind: "no_data";
      readonly zone: ZoneIndex;
      readonly name: DnsName;
      readonly type: number;
      readonly source: NameKey;
      readonly node: NameNode | undefined;
    }
  /** The zone ends at `cut`. The proof shows the child's DS set, or that it has none. */
  | { readonly kind: "delegation"; readonly zone: ZoneIndex; readonly cut: NameKey };

/** The part of an answer that depends on lookups of external names. */
export interface ExternalShare {
  /** Names and types that must be looked up before the answer is complete. */
  readonly missing: readonly { readonly name: DnsName; readonly type: number }[];
  /** How long the answer may be cached, in milliseconds. */
  readonly keepMs: number;
  /** Why the answer is incomplete or stale (RFC 8914). */
  readonly extendedError?: number;
}

export interface Answer {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly answers: readonly AnswerSet[];
  readonly authorities: readonly AnswerSet[];
  /** Glue. If it does not fit, the response is truncated (RFC 9471). */
  readonly glue: readonly AnswerSet[];
  /** Records that may be omitted. */
  readonly additionals: readonly AnswerSet[];
  readonly denial: Denial | undefined;
  /** Present if external servers contributed. */
  readonly outside?: ExternalShare;
  /** The zones that contributed; a change of one of them makes the answer stale. */
  readonly zones: ReadonlySet<NameKey>;
}
