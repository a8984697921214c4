export const DNSSEC_STATUSES = ["active", "pending", "disabled", "pending-disabled", "error"] as const;

export type DnssecStatus = (typeof DNSSEC_STATUSES)[number];
