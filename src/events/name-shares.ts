import type { DatabaseSync } from "node:sqlite";
import { type FacetName, facetTable } from "./schema.ts";

/** Whose row brought a name. */
export interface NameOwner {
  /** Number of its site in the file; 0 for what is nobody's. */
  readonly site: number;
  readonly account: string;
}

/** How many names of a facet there are, and whose (ADR 0055). */
export interface NameShares {
  mayAdd(owner: NameOwner): boolean;
  /** Gives what undoes it. */
  add(owner: NameOwner): () => void;
  /** Counts anew, once some have been deleted. */
  recount(): void;
}

/**
 * A site may have as many names as there are places left, and its account twice as many: one that floods alone is given half, two are given a
 * third each, and however many they are, as much as each of them has is left for who comes new.
 */
const ACCOUNT_TIMES = 2;

export function createNameShares(db: DatabaseSync, facet: FacetName, namesMax: number): NameShares {
  const names = db.prepare(
    `SELECT n.site, IFNULL(s.account_id, '') AS account, COUNT(*) AS size FROM ${facetTable(facet)} AS n LEFT JOIN facet_site AS s ON s.id = n.site GROUP BY n.site`,
  );
  let size = 0;
  let sites = new Map<number, number>();
  let accounts = new Map<string, number>();

  const change = ({ site, account }: NameOwner, by: number): void => {
    size += by;
    sites.set(site, (sites.get(site) ?? 0) + by);
    accounts.set(account, (accounts.get(account) ?? 0) + by);
  };
  const recount = (): void => {
    [size, sites, accounts] = [0, new Map(), new Map()];
    for (const row of names.all()) change({ site: Number(row["site"]), account: String(row["account"]) }, Number(row["size"]));
  };
  recount();
  return {
    recount,
    mayAdd: ({ site, account }) => {
      const free = namesMax - size;
      return (sites.get(site) ?? 0) < free && (accounts.get(account) ?? 0) < ACCOUNT_TIMES * free;
    },
    add: (owner) => {
      change(owner, 1);
      return () => change(owner, -1);
    },
  };
}
