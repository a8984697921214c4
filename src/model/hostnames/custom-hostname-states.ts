/** Statuses of a custom hostname (SPEC 3.2; custom-hostnames.md §1). `caa_error` is displayed instead of any of these. */
export const HOSTNAME_STATUSES = ["pending", "active", "moved", "blocked"] as const;
export type HostnameStatus = (typeof HOSTNAME_STATUSES)[number];

/** Events that can change the status: results of checks, a PATCH, the end of the checks. */
export type HostnameEvent = "valid" | "invalid" | "held" | "checks_over" | "lost" | "edited";

/**
 * The next status; absent: the event changes nothing. `lost`: another zone has validated the name since. A blocked name
 * waits for its owner and then for a PATCH (SPEC 3.2); later holds do not affect an active one.
 */
export const HOSTNAME_MOVES: Readonly<Record<HostnameStatus, Readonly<Partial<Record<HostnameEvent, HostnameStatus>>>>> = {
  pending: { valid: "active", held: "blocked", checks_over: "moved" },
  active: { invalid: "moved", lost: "moved" },
  moved: { edited: "pending" },
  blocked: { edited: "pending" },
};

export const nextStatus = (status: HostnameStatus, event: HostnameEvent): HostnameStatus => HOSTNAME_MOVES[status][event] ?? status;

/** SPEC 8: "Moved custom hostname retention". */
export const MOVED_RETENTION_MS = 7 * 86_400_000;

/** Checks of a pending hostname before it becomes moved: the first, and 75 more. */
export const CHECKS_MAX = 76;
const STEP_SECONDS_FIRST = 60;
const STEP_SECONDS_MAX = 14_400;
const STEEPER_FROM = 10;

/**
 * Milliseconds to wait after so many checks, or attempts of an order: from one minute to four hours; all checks together
 * take a week (custom-hostnames.md §1).
 */
export function checkDelayMs(checks: number): number {
  const factor = checks < STEEPER_FROM ? 1.05 : 1.15;
  return Math.min(Math.floor(STEP_SECONDS_FIRST * factor ** checks), STEP_SECONDS_MAX) * 1000;
}

export const SSL_STATUSES = [
  "initializing",
  "pending_validation",
  "deleted",
  "pending_issuance",
  "pending_deployment",
  "pending_deletion",
  "pending_expiration",
  "expired",
  "active",
  "initializing_timed_out",
  "validation_timed_out",
  "issuance_timed_out",
  "deployment_timed_out",
  "deletion_timed_out",
  "pending_cleanup",
  "staging_deployment",
  "staging_active",
  "deactivating",
  "inactive",
  "backup_issued",
  "holding_deployment",
] as const;
export type SslStatus = (typeof SSL_STATUSES)[number];

const STEPS = ["initializing", "pending_validation", "pending_issuance", "pending_deployment"] as const satisfies readonly SslStatus[];
const TIMED_OUT = {
  initializing: "initializing_timed_out",
  pending_validation: "validation_timed_out",
  pending_issuance: "issuance_timed_out",
  pending_deployment: "deployment_timed_out",
} as const satisfies Record<(typeof STEPS)[number], SslStatus>;

/** Allowed changes of a certificate's status; a status without a row is final. Every order begins with `initializing`. */
export const SSL_MOVES: Readonly<Partial<Record<SslStatus, readonly SslStatus[]>>> = {
  // Steps may be skipped, or repeated if an authority requires validation again.
  ...Object.fromEntries(STEPS.map((step) => [step, [...STEPS, TIMED_OUT[step], "active", "pending_deletion"]])),
  ...Object.fromEntries(Object.values(TIMED_OUT).map((over) => [over, ["initializing", "pending_deletion"]])),
  active: ["initializing", "pending_expiration", "expired", "pending_deletion", "active"],
  pending_expiration: ["initializing", "active", "expired", "pending_deletion"],
  expired: ["initializing", "active", "pending_deletion"],
  pending_deletion: ["deleted", "deletion_timed_out"],
  deleted: ["initializing"],
};

export const sslMayBecome = (from: SslStatus, to: SslStatus): boolean => from === to || (SSL_MOVES[from]?.includes(to) ?? false);
