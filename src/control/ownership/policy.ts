import { isWithin } from "#kernel/net/hostname.ts";
import { hasSeveralAccounts, oldestAccount } from "#store/access/accounts.ts";
import type { Unit } from "#store/database/store.ts";

type Db = Unit["db"];

/** What the operator says of who owns names. */
export interface OwnershipConfig {
  /**
   * at_once: zones are active as soon as they are made; delegation: once something shows that the account owns the name;
   * auto: the latter where several accounts meet and a plane is reached from other machines.
   */
  readonly activation: "at_once" | "delegation" | "auto";
  /** Accounts whose word is the operator's own; the first account where none is named. */
  readonly trustedAccounts: readonly string[];
  /** Whether nobody but this machine reaches any plane. */
  readonly isPrivate: boolean;
  /** Names that the installation itself is reached by: only trusted accounts have zones at, above or below them. */
  readonly ownNames: readonly string[];
}

export const OWNERSHIP_DEFAULTS: OwnershipConfig = { activation: "auto", trustedAccounts: [], isPrivate: true, ownNames: [] };

export interface OwnershipPolicy {
  mode(db: Db): Promise<"at_once" | "delegation">;
  trustedAccounts(db: Db): Promise<readonly string[]>;
  isTrusted(db: Db, accountId: string): Promise<boolean>;
  isReserved(name: string): boolean;
  /** Whether the operator wrote down that every account's word counts. */
  readonly vouchesForAll: boolean;
}

export function createOwnershipPolicy({ activation, trustedAccounts: named, isPrivate, ownNames }: OwnershipConfig): OwnershipPolicy {
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
  };
}
