import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Store } from "#store/database/store.ts";
import { activeZoneNames, zonesBelow, zonesOfName } from "#store/zones/zone-claimants.ts";
import { lockZone, type ZoneRow } from "#store/zones/zones.ts";
import { type ZoneConflict, zoneConflicts } from "./conflicts.ts";
import type { OwnershipPolicy } from "./policy.ts";
import { carryOut, type TransitionDeps } from "./transitions.ts";

/** The operator's decisions about ownership. Not part of the API, because every token belongs to an account. */
export interface ZoneSettling {
  /**
   * Activates the account's zone of the name by the operator's decision; another account's zone becomes moved. Returns
   * descriptions of the changes. Throws `zone_not_found`, and `invalid_input` if several accounts have such a zone and
   * none is given.
   */
  prove(call: Call, name: string, accountId?: string): Promise<readonly string[]>;
  /** The same; also, unproved zones of other accounts below it become pending. */
  settle(call: Call, name: string, accountId: string): Promise<readonly string[]>;
  /** Active zones whose names may belong to another account. */
  conflicts(): Promise<readonly ZoneConflict[]>;
  /** Notices for the operator about the conflicts found last. */
  notices(): readonly string[];
}

export interface SettlingDeps extends TransitionDeps {
  readonly store: Store;
  readonly policy: OwnershipPolicy;
}

export function createZoneSettling(deps: SettlingDeps): ZoneSettling {
  const { store } = deps;
  let known = 0;
  const decide = (call: Call, name: string, accountId: string | undefined, andBelow: boolean): Promise<readonly string[]> =>
    commit(deps, call, async (unit) => {
      const zone = chosen(await zonesOfName(unit.db, name), name, accountId);
      await lockZone(unit.db, zone.id);
      const below = andBelow ? await zonesBelow(unit.db, name) : [];
      const refused = below.filter(
        ({ account_id, status, proof }) => account_id !== zone.account_id && status === "active" && proof === "none",
      );
      const changes: string[] = [];
      for (const one of refused) changes.push(await carryOut(deps, unit, call, one, { kind: "refused", proof: "none" }));
      if (zone.status !== "active" || zone.proof !== "operator")
        changes.push(await carryOut(deps, unit, call, zone, { kind: "proved", proof: "operator" }));
      return changes;
    });
  return {
    prove: (call, name, accountId) => decide(call, name, accountId, false),
    settle: (call, name, accountId) => decide(call, name, accountId, true),
    conflicts: async () => {
      const found = zoneConflicts(await activeZoneNames(store.read), await reservedFor(deps));
      known = found.length;
      return found;
    },
    notices: () =>
      known === 0
        ? []
        : [`${known} ${known === 1 ? "zone has a disputed name" : "zones have disputed names"}: selvedge zone settle lists them`],
  };
}

function chosen(zones: readonly ZoneRow[], name: string, accountId: string | undefined): ZoneRow {
  const own = zones.filter((zone) => accountId === undefined || zone.account_id === accountId);
  const [zone, ...others] = own;
  if (zone === undefined)
    throw new PlatformError("zone_not_found", {
      message: accountId === undefined ? `No account has a zone ${name}.` : `The account ${accountId} has no zone ${name}.`,
    });
  if (others.length > 0)
    throw new PlatformError("invalid_input", {
      message: `Several accounts have a zone ${name}; choose one with --account: ${own.map(({ account_id }) => account_id).join(", ")}.`,
    });
  return zone;
}

/** Decides whether a name is reserved against an account. */
async function reservedFor({ store, policy }: SettlingDeps): Promise<(name: string, accountId: string) => boolean> {
  const trusted = new Set(await policy.trustedAccounts(store.read));
  return (name, accountId) => policy.isReserved(name) && !trusted.has(accountId);
}
