import type { Actor, Grant } from "#control/call.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";

export type Groups = readonly PermissionGroupName[];

export interface ZoneRef {
  readonly id: string;
  readonly account_id: string;
}

/** Whether the credential has any of `groups` for the zone; with an empty array, whether it has any permission there. */
export function holdsInZone(actor: Actor, zone: ZoneRef, groups: Groups): boolean {
  return decide(actor, zone.account_id, groups, (grant) => coversZone(grant, zone));
}

/** The same for resources of the account itself, such as its gateways. */
export function holdsInAccount(actor: Actor, accountId: string, groups: Groups): boolean {
  return decide(actor, accountId, groups, (grant) => grant.level === "account" && matches(grant.id, accountId));
}

/** The same for every zone of the account, including future ones, which creating a zone requires. */
export function holdsInEveryZone(actor: Actor, accountId: string, groups: Groups): boolean {
  return decide(actor, accountId, groups, (grant) => (grant.effect === "deny" ? coversSomeZone : coversAllZones)(grant, accountId));
}

/** The same for the caller's own user. An account's token has no user. */
export function holdsForUser(actor: Actor, groups: Groups): boolean {
  if (actor.type === "system") return true;
  if (actor.user_id === null) return false;
  const covers = (grant: Grant): boolean => grant.level === "user" && grant.id === actor.user_id;
  return groups.length === 0 || groups.some((group) => allowed(actor.grants, group, covers));
}

/** The account that owns the credential; undefined if a user does. */
export function ownAccount({ type, user_id, reach }: Actor): string | undefined {
  if (type !== "token" || user_id !== null) return undefined;
  const [account] = reach.keys();
  return account;
}

/**
 * Whether the credential has any permission for the account or one of its zones. Otherwise the caller must not learn that
 * the account exists.
 */
export function touchesAccount(actor: Actor, accountId: string): boolean {
  if (actor.type === "system") return true;
  return actor.reach.has(accountId) && actor.grants.some((grant) => grant.effect === "allow" && coversSomeZone(grant, accountId));
}

/** Whether the credential has any permission for the zone or its account. */
export function touchesZone(actor: Actor, zone: ZoneRef): boolean {
  if (actor.type === "system") return true;
  return actor.reach.has(zone.account_id) && actor.grants.some((grant) => grant.effect === "allow" && coversZone(grant, zone));
}

/**
 * Whether the credential has any of `groups` for anything. Required to read collections that only contain what the
 * credential may see.
 */
export function holdsAnywhere(actor: Actor, groups: Groups): boolean {
  return (
    groups.length === 0 ||
    actor.type === "system" ||
    groups.some((group) => actor.grants.some((grant) => grant.effect === "allow" && grant.groups.has(group)))
  );
}

/** Accounts in which the credential has any permission. */
export const touchedAccounts = (actor: Actor): readonly string[] => [...actor.reach.keys()].filter((id) => touchesAccount(actor, id));

/**
 * The zones in a collection: all zones of the accounts in `every`, and those in `some` whose account is in `accounts`,
 * without those in `not`. Null: all zones.
 */
export interface ZoneReach {
  readonly every: readonly string[];
  readonly some: readonly string[];
  readonly accounts: readonly string[];
  readonly not: readonly string[];
}

export function zoneReach(actor: Actor, groups: Groups): ZoneReach | null {
  if (actor.type === "system") return null;
  const accounts = [...actor.reach.keys()];
  const named = new Map(
    actor.grants.flatMap((grant) =>
      grant.level === "zone" && grant.id !== "*" ? [[grant.id, { id: grant.id, account_id: grant.account }] as const] : [],
    ),
  );
  const [some, not] = [
    [...named.values()].filter((zone) => holdsInZone(actor, zone, groups)),
    [...named.values()].filter((zone) => !holdsInZone(actor, zone, groups)),
  ];
  return {
    every: accounts.filter((id) => decide(actor, id, groups, (grant) => coversAllZones(grant, id))),
    some: some.map(({ id }) => id),
    accounts,
    not: not.map(({ id }) => id),
  };
}

function decide(actor: Actor, accountId: string, groups: Groups, covers: (grant: Grant) => boolean): boolean {
  if (actor.type === "system") return true;
  const held = actor.reach.get(accountId);
  if (!held) return false;
  if (groups.length === 0) return actor.grants.some((grant) => grant.effect === "allow" && covers(grant));
  return groups.some((group) => held.has(group) && allowed(actor.grants, group, covers));
}

/** A deny overrides every allow. */
function allowed(grants: readonly Grant[], group: PermissionGroupName, covers: (grant: Grant) => boolean): boolean {
  let found = false;
  for (const grant of grants) {
    if (!grant.groups.has(group) || !covers(grant)) continue;
    if (grant.effect === "deny") return false;
    found = true;
  }
  return found;
}

const matches = (pattern: string, id: string): boolean => pattern === "*" || pattern === id;

const coversAllZones = (grant: Grant, accountId: string): boolean =>
  grant.level === "account"
    ? matches(grant.id, accountId)
    : grant.level === "zone" && grant.id === "*" && matches(grant.account, accountId);

function coversZone(grant: Grant, zone: ZoneRef): boolean {
  if (grant.level === "account") return matches(grant.id, zone.account_id);
  return grant.level === "zone" && matches(grant.account, zone.account_id) && matches(grant.id, zone.id);
}

const coversSomeZone = (grant: Grant, accountId: string): boolean =>
  grant.level === "account" ? matches(grant.id, accountId) : grant.level === "zone" && matches(grant.account, accountId);
