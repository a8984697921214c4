import type { Actor } from "#control/call.ts";
import { holdsInAccount, holdsInZone } from "#control/access/grants.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";
import type { PhaseName, RulesetLevel } from "#rules/phases.ts";

type Groups = readonly PermissionGroupName[];

/** Permission groups for a phase; a group that may write may also read. */
interface PhaseGroups {
  readonly read: Groups;
  readonly write: Groups;
}

const groups = (...names: readonly Family[]): PhaseGroups => {
  const write = names.map((name): PermissionGroupName => `${name} Write`);
  return { read: [...names.map((name): PermissionGroupName => `${name} Read`), ...write], write };
};

/** Names of permission groups without "Read" or "Write". */
type Family = PermissionGroupName extends infer N ? (N extends `${infer F} Write` ? F : never) : never;

const ZONE_WAF = groups("Zone WAF");
const ZONE_FIREWALL = groups("Zone WAF", "Firewall Services");
const ZONE_TRANSFORM = groups("Zone Transform Rules");
const ZONE_CACHE = groups("Cache Settings");

/** The groups for a zone's phases. Permission for one phase does not imply permission for another. */
const ZONE: Readonly<Partial<Record<PhaseName, PhaseGroups>>> = {
  http_request_dynamic_redirect: groups("Dynamic URL Redirects"),
  http_request_transform: ZONE_TRANSFORM,
  http_config_settings: groups("Config Settings"),
  http_request_origin: groups("Origin"),
  http_request_firewall_custom: ZONE_FIREWALL,
  http_ratelimit: ZONE_FIREWALL,
  http_request_firewall_managed: ZONE_WAF,
  http_request_late_transform: ZONE_TRANSFORM,
  http_request_cache_settings: ZONE_CACHE,
  http_response_cache_settings: ZONE_CACHE,
  http_custom_errors: groups("Custom Errors"),
  http_response_headers_transform: ZONE_TRANSFORM,
  http_response_compression: groups("Response Compression"),
  http_response_firewall_managed: ZONE_WAF,
  http_log_custom_fields: groups("Logs"),
};

const ACCOUNT_WAF = groups("Account Rulesets", "Account WAF");
const ACCOUNT_TRANSFORM = groups("Account Rulesets", "Transform Rules");

/** The groups for an account's phases. Account Rulesets covers all of them. */
const ACCOUNT: Readonly<Partial<Record<PhaseName, PhaseGroups>>> = {
  http_request_firewall_custom: ACCOUNT_WAF,
  http_ratelimit: ACCOUNT_WAF,
  http_request_firewall_managed: ACCOUNT_WAF,
  http_response_firewall_managed: ACCOUNT_WAF,
  http_request_redirect: groups("Account Rulesets", "Mass URL Redirects"),
  http_request_late_transform: ACCOUNT_TRANSFORM,
  http_response_headers_transform: ACCOUNT_TRANSFORM,
};

/** Groups of phases without a row. */
const OTHERS: Readonly<Record<RulesetLevel, PhaseGroups>> = { zone: ZONE_WAF, account: groups("Account Rulesets") };

const phaseGroups = (level: RulesetLevel, phase: string): PhaseGroups =>
  (level === "zone" ? ZONE : ACCOUNT)[phase as PhaseName] ?? OTHERS[level];

/** Every group that applies to any phase of a level. */
export const groupsOfLevel = (level: RulesetLevel, use: keyof PhaseGroups): Groups => [
  ...new Set([OTHERS[level], ...Object.values(level === "zone" ? ZONE : ACCOUNT)].flatMap((row) => row[use])),
];

export function mayUse(actor: Actor, scope: RulesetScope, phase: string, use: keyof PhaseGroups): boolean {
  const allowed = phaseGroups(scope.level, phase)[use];
  if (scope.zone_id === null) return holdsInAccount(actor, scope.account_id, allowed);
  return holdsInZone(actor, { id: scope.zone_id, account_id: scope.account_id }, allowed);
}

/** Throws `authentication_error`, which names the missing permission. */
export function checkUse(actor: Actor, scope: RulesetScope, phase: string, use: keyof PhaseGroups): void {
  if (mayUse(actor, scope, phase, use)) return;
  const names = phaseGroups(scope.level, phase)[use];
  throw new PlatformError("authentication_error", {
    message: `Authentication error: to ${use} rulesets of phase ${phase} a credential needs ${names.join(" or ")}.`,
  });
}
