/**
 * What shows that a zone's account owns its name: a delegation to us, a DS record of a key made here, a TXT record at
 * the name servers the name has today, the consent of the zone above, or the operator's word. `none` is a claim.
 */
export const ZONE_PROOFS = ["none", "delegation", "ds", "txt", "consent", "operator"] as const;

export type ZoneProof = (typeof ZONE_PROOFS)[number];
