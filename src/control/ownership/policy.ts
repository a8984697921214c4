import { isWithin } from "#kernel/net/hostname.ts";
import { hasSeveralAccounts, oldestAccount } from "#store/access/accounts.ts";
import type { Unit } from "#store/database/store.ts";

type Db = Unit["db"];

/** The operator's settings for ownership of names. */
export interface OwnershipConfig {
  /**
   * at_once: zones are active immediately; delegation: after a proof of ownership; auto: `delegation` if several accounts
   * exist and a plane is reachable from other machines.
   */
  readonly activation: "at_once" | "delegation" | "auto";
  /** Accounts whose zones need no proof; by default the first account. */
  readonly trustedAccounts: readonly string[];
  /** Whether all planes are reachable from this machine only. */
  readonly isPrivate: boolean;
  /** The installation's own names: only trusted accounts may have zones at, above or below them. */
  readonly ownNames: readonly string[];
  /** Zones of an account that is not trusted; 0: no limit. */
  readonly zonesMax: number;
}

export const OWNERSHIP_DEFAULTS: OwnershipConfig = { activation: "auto", trustedAccounts: [], isPrivate: true, ownNames: [], zonesMax: 0 };

export interface OwnershipPolicy {
  mode(db: Db): Promise<"at_once" | "delegation">;
  trustedAccounts(db: Db): Promise<readonly string[]>;
  isTrusted(db: Db, accountId: string): Promise<boolean>;
  isReserved(name: string): boolean;
  /** Whether the operator has explicitly configured that no account's zones need a proof. */
  readonly vouchesForAll: boolean;
  /** Zones of an account that is not trusted. */
  readonly zonesMax: number;
}

export function createOwnershipPolicy({
  activation,
  trustedAccounts: named,
  isPrivate,
  ownNames,
  zonesMax,
}: OwnershipConfig): OwnershipPolicy {
  const trustedAccounts = async (db: Db): Promise<readonly string[]> => {
    if (named.length > 0) return named;
    const first = await oldestAccount(db);
    return first === undefined ? [] : [first.id];
  };
  return {
    mode: async (db) => {
      if (activation !== "auto") return activation;
      return isPrivate || !(await hasSeveralAccounts(db)) ? "at_once" : "delegation";
    },
    trustedAccounts,
    isTrusted: async (db, accountId) => (await trustedAccounts(db)).includes(accountId),
    isReserved: (name) => ownNames.some((own) => isWithin(name, own) || isWithin(own, name)),
    vouchesForAll: activation === "at_once",
    zonesMax: zonesMax === 0 ? Infinity : zonesMax,
  };
}
