import type { DatabaseSync, StatementSync } from "node:sqlite";
import { FACET_NAMES, facetColumns, type FacetName, facetTable } from "./schema.ts";

/** The writer's side of the facets: numbers for combinations of texts, given once and kept while rows have them. */
export interface FacetStore {
  /** The number of a combination, new or known. To be called within the transaction of the rows that have it. */
  numberOf(facet: FacetName, texts: readonly string[]): number;
  /** What was numbered since the last settling is in the file, or not: numbers of a transaction that failed are forgotten. */
  settle(isCommitted: boolean): void;
  /** Deletes at most `rowsMax` combinations of each facet that no row has had since the day; gives their number. */
  deleteUnusedSince(dayMs: (facet: FacetName) => number, rowsMax: number): number;
}

/** Combinations that are remembered of each facet. Others are looked up again, so that no flood of texts fills the memory. */
const REMEMBERED_MAX = 20_000;
const DAY_MS = 86_400_000;
const SEPARATOR = "\u0000";

interface Facet {
  readonly find: StatementSync;
  readonly add: StatementSync;
  readonly use: StatementSync;
  readonly drop: StatementSync;
  known: Map<string, { readonly id: number; day: number }>;
}

export function createFacetStore(db: DatabaseSync, nowMs: () => number): FacetStore {
  const facets = new Map(FACET_NAMES.map((name): [FacetName, Facet] => [name, createFacet(db, name)]));
  const fresh: (() => void)[] = [];

  const numbered = (facet: Facet, texts: readonly string[], day: number): { readonly id: number; day: number } => {
    const found = facet.find.get(...texts);
    if (found === undefined) return { id: Number(facet.add.run(...texts, day).lastInsertRowid), day };
    return { id: Number(found["id"]), day: Number(found["used_day"]) };
  };

  return {
    numberOf: (name, texts) => {
      const facet = facets.get(name)!;
      const key = texts.join(SEPARATOR);
      const day = Math.floor(nowMs() / DAY_MS);
      let entry = facet.known.get(key);
      if (entry === undefined) {
        entry = numbered(facet, texts, day);
        if (facet.known.size >= REMEMBERED_MAX) facet.known = new Map();
        facet.known.set(key, entry);
        fresh.push(() => facet.known.delete(key));
      }
      if (entry.day < day) {
        facet.use.run(day, entry.id);
        entry.day = day;
        fresh.push(() => facet.known.delete(key));
      }
      return entry.id;
    },
    settle: (isCommitted) => {
      if (!isCommitted) for (const forget of fresh) forget();
      fresh.length = 0;
    },
    deleteUnusedSince: (dayMs, rowsMax) => {
      let deleted = 0;
      for (const [name, facet] of facets) {
        const { changes } = facet.drop.run(Math.floor(dayMs(name) / DAY_MS), rowsMax);
        if (Number(changes) > 0) facet.known = new Map();
        deleted += Number(changes);
      }
      return deleted;
    },
  };
}

function createFacet(db: DatabaseSync, name: FacetName): Facet {
  const table = facetTable(name);
  const columns = facetColumns(name);
  return {
    find: db.prepare(`SELECT id, used_day FROM ${table} WHERE ${columns.map((column) => `${column} = ?`).join(" AND ")}`),
    add: db.prepare(`INSERT INTO ${table} (${columns.join(", ")}, used_day) VALUES (${columns.map(() => "?").join(", ")}, ?)`),
    use: db.prepare(`UPDATE ${table} SET used_day = ? WHERE id = ?`),
    drop: db.prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE used_day < ? LIMIT ?)`),
    known: new Map(),
  };
}
