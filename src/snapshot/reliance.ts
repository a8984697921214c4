import type { ZoneEntry } from "./entries.ts";

/**
 * Whether this zone's data counts for an account that only points at its names: the account's own active zones count, and
 * zones of others once their ownership is proved. Queries from outside look at `status` alone.
 */
export const isReliedOn = (zone: Pick<ZoneEntry, "account_id" | "status" | "proof">, viewerAccountId: string): boolean =>
  zone.status === "active" && (zone.account_id === viewerAccountId || isProved(zone));

/** Whether more than its account's claim shows that the zone belongs to that account. */
export const isProved = ({ proof = "operator" }: Pick<ZoneEntry, "proof">): boolean => proof !== "none";

/** Represents all accounts at once: only zones that each of them relies on count. No account has this id. */
export const ANY_ACCOUNT = "";
