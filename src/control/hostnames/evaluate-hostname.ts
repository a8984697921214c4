import { isWithin } from "#kernel/net/hostname.ts";

/** Results of the lookups for a custom hostname. Null: a lookup failed. */
export interface HostnameFacts {
  readonly zoneName: string;
  /** The names of its CNAME chain, in order, as far as known. */
  readonly aliases: readonly string[];
  /** Whether the chain is complete. */
  readonly isChainKnown: boolean;
  readonly addresses: readonly string[] | null;
  /** TXT records at the names of the ownership token. */
  readonly texts: readonly string[] | null;
  /** Whether the hostname's current server returned the token. */
  readonly httpToken: boolean;
  readonly token: string;
  /** Whether a CNAME into the zone counts as a proof; not if another account may own the zone's name. */
  readonly countsAliases: boolean;
  /** Whether the address belongs to the edge. */
  isOurs(address: string): boolean;
  /** Whether addresses count as a proof, since all accounts share them. */
  readonly countsAddresses: boolean;
  /** The zone that contains the name has a hold on it. */
  readonly isHeld: boolean;
  readonly hasOrigin: boolean;
  /** An active hostname without an origin stays active: visitors get error 1016, and its errors explain why. */
  readonly isActive: boolean;
}

export type HostnameEvaluation =
  | { readonly verdict: "valid" | "invalid" | "held"; readonly errors: readonly string[] }
  /** Lookups failed, or the hostname cannot be checked yet. */
  | { readonly verdict: "unknown" | "waiting"; readonly errors: readonly string[] };

/** Texts that published clients look for (custom-hostnames.md §1; SPEC 7). */
export const VERIFICATION_ERRORS = {
  held: "The hostname is associated with a held zone. Please contact the owner of this domain to have the hold removed.",
  cname: "custom hostname does not CNAME to this zone.",
  addresses: "None of the A or AAAA records are owned by this account and the pre-generated ownership verification token was not found.",
  origin: "Zone does not have a fallback origin set.",
  originRecord: "The fallback origin of the zone has no proxied A, AAAA or CNAME record.",
  unproved:
    "The ownership of this zone is not proved, so a CNAME to it does not validate the hostname. Prove the zone or publish the ownership verification token.",
  inactive: "This zone is not active; it serves custom hostnames only when it is active.",
} as const;

/** Whether the hostname's owner has assigned it to the zone (SPEC 3.2, SPEC 7). */
export function evaluateHostname(facts: HostnameFacts): HostnameEvaluation {
  if (facts.isHeld) return { verdict: "held", errors: [VERIFICATION_ERRORS.held] };
  const ownership = ownershipErrors(facts);
  const errors = facts.hasOrigin ? ownership : [VERIFICATION_ERRORS.origin, ...ownership];
  if (errors.length === 0 || (facts.isActive && ownership.length === 0)) return { verdict: "valid", errors };
  const isKnown = facts.isChainKnown && facts.addresses !== null && facts.texts !== null;
  return { verdict: isKnown ? "invalid" : "unknown", errors };
}

function ownershipErrors(facts: HostnameFacts): readonly string[] {
  const { aliases, addresses, texts, token, zoneName } = facts;
  const leadsHere = aliases.some((alias) => isWithin(alias, zoneName));
  if (leadsHere && facts.countsAliases) return [];
  if (texts?.includes(token) === true || facts.httpToken) return [];
  if (facts.countsAddresses && addresses?.some(facts.isOurs) === true) return [];
  if (leadsHere) return [VERIFICATION_ERRORS.unproved];
  // A CNAME elsewhere explains the failure; its addresses belong to another name.
  return aliases.length > 0 ? [VERIFICATION_ERRORS.cname] : [VERIFICATION_ERRORS.cname, VERIFICATION_ERRORS.addresses];
}
