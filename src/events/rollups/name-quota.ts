import type { DatabaseSync } from "node:sqlite";
import { type NameOwner, type FacetName, facetTable } from "#events/rows/schema.ts";

/** Number of names of a facet, and their owners (ADR 0055). */
export interface NameShares {
  mayAdd(owner: NameOwner): boolean;
  /** Returns a function that undoes it. */
  add(owner: NameOwner): () => void;
  /** Counts a deleted name; returns a function that undoes it. */
  remove(site: number): () => void;
}

/**
 * A site may have as many names as places are left, and its account twice as many: a single flooding site gets half, two
 * get a third each, and with any number of them, a newcomer can have as many as each of them has.
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
