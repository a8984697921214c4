import { newId } from "#kernel/crypto/ids.ts";
import { createInstallation } from "#control/access/bootstrap.ts";
import { PERMISSION_GROUPS } from "#model/access/permission-groups.ts";
import type { TokenPolicy } from "#model/access/token.ts";
import type { TokenEntry } from "#snapshot/entries.ts";
import { insertToken } from "#store/access/tokens.ts";
import { oldestUser } from "#store/access/users.ts";
import { each, type RecoveryDeps, timeOf } from "./recovery.ts";

/** The only user, who owns every account. */
export interface RecoveredOwner {
  readonly email: string;
  readonly token?: string;
  readonly apiKey?: string;
}

/** Accounts under the identifiers in entries, with an owner, whose first token a start prints. */
export async function recoverAccounts(deps: RecoveryDeps, owner: RecoveredOwner): Promise<number> {
  const ids = accountsOf(deps);
  const accounts = [...ids].map((id, index) => ({ id, name: `Recovered account ${index + 1}` }));
  if (accounts.length > 0)
    await deps.store.write(async (unit) => void (await createInstallation(unit, { ...deps, ...owner }, accounts)), { timeoutMs: 60_000 });
  return accounts.length;
}

/** Owners of zones first, as the first start's account mostly is one. */
function accountsOf({ snapshot }: RecoveryDeps): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const kind of ["zone", "gateway", "list", "custom_provider", "dlp_profile"] as const)
    for (const [, { account_id }] of snapshot.entries(kind)) ids.add(account_id);
  for (const [, { level, owner_id }] of snapshot.entries("ruleset")) if (level === "account") ids.add(owner_id);
  for (const [, { accounts }] of snapshot.entries("token")) if (accounts !== "*") for (const id of accounts) ids.add(id);
  for (const [id] of snapshot.entries("detection")) if (snapshot.get("zone", id) === undefined) ids.add(id);
  return ids;
}

/** Tokens keep their secrets. Their other permissions are not in the copy, so they may only run gateways. */
export const recoverTokens = each("token", async ({ db }, id, entry, deps) => {
  const owner = await oldestUser(db);
  if (owner === undefined) return;
  const [only, ...others] = entry.accounts;
  const now = timeOf(deps);
  const { allow, deny } = entry.addresses;
  await insertToken(db, {
    id,
    // An account's own token outlives its maker's membership.
    account_id: only !== undefined && others.length === 0 ? only : null,
    user_id: owner.id,
    name: `Recovered token ${id.slice(0, 8)}`,
    hash: entry.hash,
    status: "active",
    policies: JSON.stringify([policyOf(entry)]),
    condition: allow.length + deny.length === 0 ? null : JSON.stringify({ request_ip: { in: allow, not_in: deny } }),
    not_before: entry.not_before,
    expires_on: entry.expires_on,
    issued_on: now,
    modified_on: now,
    bootstrap: 0,
  });
});

const policyOf = ({ accounts }: TokenEntry): TokenPolicy => ({
  id: newId(),
  effect: "allow",
  resources: Object.fromEntries((accounts === "*" ? ["*"] : accounts).map((account) => [`com.cloudflare.api.account.${account}`, "*"])),
  permission_groups: PERMISSION_GROUPS.filter(({ name }) => name === "AI Gateway Run").map(({ id, name }) => ({ id, name })),
});
