import type { Actor } from "#control/call.ts";
import type { Clock, IsoDate } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type AccountRow, findAccount } from "#store/access/accounts.ts";
import { type ZoneScope, zoneScope } from "#store/access/scopes.ts";
import type { Store } from "#store/database/store.ts";
import { createCommitInvalidatedCache } from "./commit-invalidated-cache.ts";
import { type Groups, holdsAnywhere, holdsForUser, holdsInAccount, holdsInZone, touchesAccount, touchesZone } from "./grants.ts";

/** The account and zone of a route's path, as far as they were resolved. */
export interface ResolvedScope {
  readonly account: { readonly id: string; readonly name: string; readonly api_date: IsoDate | null } | null;
  readonly zone: { readonly id: string; readonly name: string; readonly account_id: string; readonly plan: string } | null;
}

export type RequestedScope =
  | { readonly type: "open" | "user" }
  | { readonly type: "account"; readonly account_id: string }
  | { readonly type: "zone"; readonly zone_id: string };

export interface Authorizer {
  /**
   * Resolves the account or zone in the path and checks that the caller has any of `groups` for it. Throws
   * `unauthorized_resource` for a foreign or unknown account and `zone_not_found` for a foreign or unknown zone, which
   * the caller cannot tell apart; `authentication_error` if only the permission is missing.
   */
  authorize(actor: Actor, asked: RequestedScope, groups: Groups): Promise<ResolvedScope>;
  /** Drops the zone or account from caches. */
  invalidate(id: string): void;
  close(): void;
}

const SCOPES_KEPT_MAX = 10_000;
const NOTHING: ResolvedScope = { account: null, zone: null };

export function createAuthorizer({ store, clock }: { readonly store: Store; readonly clock: Clock }): Authorizer {
  const zones = createCommitInvalidatedCache<ResolvedScope & { readonly zone: NonNullable<ResolvedScope["zone"]> }>({
    store,
    clock,
    entriesMax: SCOPES_KEPT_MAX,
    load: async (id) => {
      const row = await zoneScope(store.read, id);
      return row && zoneResolved(row);
    },
  });
  const accounts = createCommitInvalidatedCache<AccountRow>({
    store,
    clock,
    entriesMax: SCOPES_KEPT_MAX,
    load: (id) => findAccount(store.read, id),
  });

  async function inAccount(actor: Actor, accountId: string, groups: Groups): Promise<ResolvedScope> {
    const account = await accounts.get(accountId);
    if (!account || !touchesAccount(actor, accountId)) throw new PlatformError("unauthorized_resource");
    if (groups.length > 0 && !holdsInAccount(actor, accountId, groups)) throw missing(groups);
    return { account: { id: account.id, name: account.name, api_date: account.api_date as IsoDate | null }, zone: null };
  }

  async function inZone(actor: Actor, zoneId: string, groups: Groups): Promise<ResolvedScope> {
    const resolved = await zones.get(zoneId);
    if (!resolved || !touchesZone(actor, resolved.zone)) throw new PlatformError("zone_not_found");
    if (groups.length > 0 && !holdsInZone(actor, resolved.zone, groups)) throw missing(groups);
    return resolved;
  }

  return {
    authorize: async (actor, asked, groups) => {
      if (asked.type === "zone") return inZone(actor, asked.zone_id, groups);
      if (asked.type === "account") return inAccount(actor, asked.account_id, groups);
      const allowed = asked.type === "user" ? holdsForUser(actor, groups) : holdsAnywhere(actor, groups);
      if (!allowed) throw missing(groups);
      return NOTHING;
    },
    invalidate: (id) => {
      zones.drop((resolved) => resolved.zone.id === id || resolved.zone.account_id === id);
      accounts.drop((account) => account.id === id);
    },
    close: () => {
      zones.close();
      accounts.close();
    },
  };
}

const zoneResolved = (row: ZoneScope) => ({
  account: { id: row.account_id, name: row.account_name, api_date: row.account_api_date as IsoDate | null },
  zone: { id: row.id, name: row.name, account_id: row.account_id, plan: row.plan },
});

/** Names what would suffice; the route's reference does so too. */
const missing = (groups: Groups): PlatformError =>
  new PlatformError(
    "authentication_error",
    groups.length === 0 ? {} : { message: `Authentication error: the credential needs ${groups.join(" or ")}.` },
  );
