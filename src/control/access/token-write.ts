import { assertWithinLimits } from "./token-limits.ts";
import type { Actor, Grant } from "#control/call.ts";
import { parseCidr } from "#kernel/net/cidr.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { parseTimestamp, timestampSeconds } from "#kernel/timestamp.ts";
import type { TokenCondition, TokenCreate } from "#model/access/token.ts";
import { zoneAccounts } from "#store/access/scopes.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { TokenOwner } from "#store/access/tokens.ts";
import type { Kysely } from "kysely";
import { compileGrants, missingGrant, namedZones, policyResources, storedPolicies } from "./policies.ts";

/** The columns that the caller controls. */
export interface TokenWrite {
  readonly name: string;
  readonly policies: string;
  readonly condition: string | null;
  readonly not_before: string | null;
  readonly expires_on: string | null;
}

/**
 * Validates the body of a token write. Throws `invalid_input` with the location, or `authentication_error` if the token
 * would have more permissions than the caller.
 */
export async function readTokenWrite(
  db: Kysely<Tables>,
  actor: Actor,
  owner: TokenOwner,
  body: TokenCreate,
  nowMs: number,
): Promise<TokenWrite> {
  const policies = storedPolicies(body.policies, newId);
  assertOwnResources(body, owner);
  assertMayGrant(actor, compileGrants(policies, await zoneAccountsOfAll(db, body)), owner);
  const notBefore = readTime(body.not_before, "/not_before");
  const expiresOn = readTime(body.expires_on, "/expires_on");
  if (expiresOn !== null && expiresOn <= nowMs)
    throw new PlatformError("invalid_input", { message: "expires_on must be in the future.", source: "/expires_on" });
  if (expiresOn !== null && notBefore !== null && expiresOn <= notBefore)
    throw new PlatformError("invalid_input", { message: "expires_on must be after not_before.", source: "/expires_on" });
  const limits = {
    condition: readCondition(body.condition ?? null),
    not_before: notBefore === null ? null : timestampSeconds(notBefore),
    expires_on: expiresOn === null ? null : timestampSeconds(expiresOn),
  };
  await assertWithinLimits(db, actor, limits);
  return { name: body.name, policies: JSON.stringify(policies), ...limits };
}

/** Throws if `actor` does not have all of `grants`; a wildcard in an account's token means that account. */
export function assertMayGrant(actor: Actor, grants: readonly Grant[], owner: TokenOwner): void {
  const wanted = "account_id" in owner ? grants.map((grant) => withinAccount(grant, owner.account_id)) : grants;
  const missing = missingGrant(actor, wanted);
  if (missing)
    throw new PlatformError("authentication_error", {
      message: `A token cannot have more permissions than the credential that creates it: "${missing.group}" is missing.`,
    });
}

function withinAccount(grant: Grant, accountId: string): Grant {
  if (grant.level === "account" && grant.id === "*") return { ...grant, id: accountId };
  return grant.level === "zone" && grant.account === "*" ? { ...grant, account: accountId } : grant;
}

/** Unknown zones are treated like zones without permission, so that their existence is not revealed. */
async function zoneAccountsOfAll(db: Kysely<Tables>, body: Pick<TokenCreate, "policies">): Promise<ReadonlyMap<string, string>> {
  const named = namedZones(body.policies);
  const accounts = await zoneAccounts(db, named);
  return new Map(named.map((id) => [id, accounts.get(id) ?? NO_ACCOUNT]));
}

const NO_ACCOUNT = "0".repeat(32);

/** Throws unless a user's token refers to that user only, and an account's token to that account and no user. */
function assertOwnResources(body: Pick<TokenCreate, "policies">, owner: TokenOwner): void {
  body.policies.forEach((policy, index) => {
    const pointer = `/policies/${index}`;
    for (const resource of policyResources(policy, pointer)) {
      const foreignUser = resource.level === "user" && !("user_id" in owner && resource.id === owner.user_id);
      const account = resource.level === "account" ? resource.id : resource.level === "zone" ? resource.account : "*";
      const foreignAccount = "account_id" in owner && account !== "*" && account !== owner.account_id;
      if (foreignUser || foreignAccount)
        throw new PlatformError("invalid_input", {
          message: "The policy names a resource outside the owner of the token.",
          source: `${pointer}/resources`,
        });
    }
  });
}

function readTime(text: string | null | undefined, source: string): number | null {
  if (text === null || text === undefined) return null;
  const ms = parseTimestamp(text);
  if (ms === undefined)
    throw new PlatformError("invalid_input", { message: `${source.slice(1)} must be a time such as 2030-01-01T00:00:00Z.`, source });
  return ms;
}

function readCondition(condition: TokenCondition | null): string | null {
  const lists = { in: condition?.request_ip?.in ?? [], not_in: condition?.request_ip?.not_in ?? [] };
  for (const [list, blocks] of Object.entries(lists)) {
    blocks.forEach((block, index) => {
      if (!parseCidr(block))
        throw new PlatformError("invalid_input", {
          message: `"${block}" is not an address or CIDR block.`,
          source: `/condition/request_ip/${list}/${index}`,
        });
    });
  }
  if (lists.in.length === 0 && lists.not_in.length === 0) return null;
  return JSON.stringify({
    request_ip: { ...(lists.in.length === 0 ? {} : { in: lists.in }), ...(lists.not_in.length === 0 ? {} : { not_in: lists.not_in }) },
  });
}
