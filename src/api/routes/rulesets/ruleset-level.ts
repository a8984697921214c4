import type { Req } from "#api/route.ts";
import { groupsOfLevel } from "#control/rulesets/phase-permissions.ts";
import type { RulesetScope } from "#control/rulesets/ruleset-scope.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";

/** The level of rulesets, and the groups that may read or write some of them there: each phase has separate permissions. */
export interface RulesetLevel {
  readonly scope: "account" | "zone";
  readonly id: string;
  readonly read: readonly PermissionGroupName[];
  readonly write: readonly PermissionGroupName[];
}

const levelOf = (scope: RulesetLevel["scope"]): RulesetLevel => ({
  scope,
  id: scope,
  read: groupsOfLevel(scope, "read"),
  write: groupsOfLevel(scope, "write"),
});

export const ACCOUNT = levelOf("account");
export const ZONE = levelOf("zone");

/** Routes of both scopes are called with the account or the zone resolved. */
export function scopeOf({ resolved, call: { actor } }: Pick<Req<string, unknown, unknown>, "resolved" | "call">): RulesetScope {
  if (resolved.zone)
    return { actor, level: "zone", account_id: resolved.zone.account_id, zone_id: resolved.zone.id, plan: resolved.zone.plan };
  if (resolved.account) return { actor, level: "account", account_id: resolved.account.id, zone_id: null, plan: null };
  throw new PlatformError("unauthorized_resource");
}

/** Paths of the two levels; the routes below them are the same. */
export type RulesetBase = "/accounts/:account_id" | "/zones/:zone_id";
