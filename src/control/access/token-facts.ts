import type { Actor, Grant } from "#control/call.ts";
import { type CidrSet, createCidrSet } from "#kernel/net/cidr.ts";
import { ALL_PERMISSION_GROUPS, type PermissionGroupName } from "#model/access/permission-groups.ts";
import { roleGroups } from "#model/access/membership.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import type { TokenCondition, TokenPolicy, TokenStatus } from "#model/access/token.ts";
import type { TokenEntry } from "#snapshot/entries.ts";
import { acceptedMemberships } from "#store/access/memberships.ts";
import { zoneAccounts } from "#store/access/scopes.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { TokenRow } from "#store/access/tokens.ts";
import type { Kysely } from "kysely";
import { holdsInAccount } from "./grants.ts";
import { compileGrants, namedZones } from "./policies.ts";

export type Reach = ReadonlyMap<string, ReadonlySet<PermissionGroupName>>;

/** A token with everything that its use depends on, read from the store. */
export interface TokenFacts {
  readonly row: TokenRow;
  readonly grants: readonly Grant[];
  readonly reach: Reach;
  readonly not_before_ms: number;
  readonly expires_ms: number;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Permissions of the token's owner: an account's token has that account, a user's token the user's memberships. */
export async function ownerReach(
  db: Kysely<Tables>,
  owner: { readonly account_id: string | null; readonly user_id: string | null },
): Promise<Reach> {
  if (owner.account_id !== null) return new Map([[owner.account_id, ALL_PERMISSION_GROUPS]]);
  if (owner.user_id === null) return new Map();
  const memberships = await acceptedMemberships(db, owner.user_id);
  return new Map(memberships.map(({ account_id, roles }) => [account_id, roleGroups(JSON.parse(roles) as string[])]));
}

export async function readTokenFacts(db: Kysely<Tables>, row: TokenRow): Promise<TokenFacts> {
  const policies = JSON.parse(row.policies) as TokenPolicy[];
  const condition = row.condition === null ? {} : (JSON.parse(row.condition) as TokenCondition);
  return {
    row,
    grants: compileGrants(policies, await zoneAccounts(db, namedZones(policies))),
    reach: await ownerReach(db, row),
    not_before_ms: row.not_before === null ? Number.NEGATIVE_INFINITY : (parseTimestamp(row.not_before) ?? Number.POSITIVE_INFINITY),
    expires_ms: row.expires_on === null ? Number.POSITIVE_INFINITY : (parseTimestamp(row.expires_on) ?? Number.NEGATIVE_INFINITY),
    allow: condition.request_ip?.in ?? [],
    deny: condition.request_ip?.not_in ?? [],
  };
}

export const tokenActor = (facts: TokenFacts, ip: string): Actor => ({
  type: "token",
  id: facts.row.id,
  user_id: facts.row.account_id === null ? facts.row.user_id : null,
  name: facts.row.name,
  ip,
  grants: facts.grants,
  reach: facts.reach,
});

/** The token's entry for the gateways, or null if it may run no gateway. */
export function tokenEntry(facts: TokenFacts): TokenEntry | null {
  if (facts.row.status !== "active") return null;
  const actor = tokenActor(facts, "");
  const accounts = [...facts.reach.keys()].filter((id) => holdsInAccount(actor, id, ["AI Gateway Run"]));
  if (accounts.length === 0) return null;
  return {
    hash: facts.row.hash,
    accounts,
    not_before: facts.row.not_before,
    expires_on: facts.row.expires_on,
    addresses: { allow: facts.allow, deny: facts.deny },
  };
}

export function tokenStatus(row: Pick<TokenRow, "status" | "expires_on">, nowMs: number): TokenStatus {
  const expiresMs = row.expires_on === null ? undefined : parseTimestamp(row.expires_on);
  return expiresMs !== undefined && expiresMs <= nowMs ? "expired" : row.status === "disabled" ? "disabled" : "active";
}

/** Whether the condition permits an address; built once for many calls. */
export function addressGate(facts: Pick<TokenFacts, "allow" | "deny">): (ip: string) => boolean {
  if (facts.allow.length === 0 && facts.deny.length === 0) return () => true;
  const allow: CidrSet | null = facts.allow.length === 0 ? null : createCidrSet(facts.allow);
  const deny = createCidrSet(facts.deny);
  return (ip) => (allow === null || allow.has(ip)) && !deny.has(ip);
}
