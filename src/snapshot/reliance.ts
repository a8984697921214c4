import type { ZoneEntry } from "./entries.ts";

/**
 * Whether what this zone says of its names counts for an account that only points at them: its own active zones do, and
 * those of others once their ownership is proved. What is asked from outside looks at `status` alone.
 */
export const isReliedOn = (zone: Pick<ZoneEntry, "account_id" | "status" | "proof">, viewerAccountId: string): boolean =>
  zone.status === "active" && (zone.account_id === viewerAccountId || isProved(zone));

/** Whether something else than its account's word says that the zone is that account's. */
export const isProved = ({ proof = "operator" }: Pick<ZoneEntry, "proof">): boolean => proof !== "none";

/** Stands for all accounts at once: only zones that each of them relies on count. No account has this id. */
export const ANY_ACCOUNT = "";
