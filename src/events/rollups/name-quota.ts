import type { DatabaseSync } from "node:sqlite";
import { type NameOwner, type FacetName, facetTable } from "#events/rows/schema.ts";

/** How many names of a facet there are, and whose (ADR 0055). */
export interface NameShares {
  mayAdd(owner: NameOwner): boolean;
  /** Gives what undoes it. */
  add(owner: NameOwner): () => void;
  /** For a name that has been deleted; gives what undoes it. */
  remove(site: number): () => void;
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
  const sites = new Map<number, { readonly account: string; names: number }>();
  const accounts = new Map<string, number>();

  const change = (site: number, by: number): void => {
    const known = sites.get(site)!;
    size += by;
    known.names += by;
    accounts.set(known.account, accounts.get(known.account)! + by);
  };
  const add = ({ site, account }: NameOwner, by: number): void => {
    if (!sites.has(site)) sites.set(site, { account, names: 0 });
    const { account: known } = sites.get(site)!;
    if (!accounts.has(known)) accounts.set(known, 0);
    change(site, by);
  };
  for (const row of names.all()) add({ site: Number(row["site"]), account: String(row["account"]) }, Number(row["size"]));
  return {
    mayAdd: ({ site, account }) => {
      const free = namesMax - size;
      return (sites.get(site)?.names ?? 0) < free && (accounts.get(account) ?? 0) < ACCOUNT_TIMES * free;
    },
    add: (owner) => {
      add(owner, 1);
      return () => change(owner.site, -1);
    },
    remove: (site) => {
      change(site, -1);
      return () => change(site, 1);
    },
  };
}
