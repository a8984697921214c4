/**
 * Proofs that a zone's account owns its name: a delegation to us, a DS record of a key made here, a TXT record at the
 * name's current name servers, the consent of the zone above, or the operator's decision. `none`: the zone is only
 * claimed.
 */
export const ZONE_PROOFS = ["none", "delegation", "ds", "txt", "consent", "operator"] as const;

export type ZoneProof = (typeof ZONE_PROOFS)[number];
