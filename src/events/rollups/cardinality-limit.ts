import type { DatabaseSync } from "node:sqlite";
import { facetColumns, type FacetName, facetTable, VISITORS_COLUMNS } from "#events/rows/schema.ts";

/** Limits how many names made up by visitors the counts of a site and an interval can have (ADR 0055). */
export interface CountedNames {
  /** Whether a new count of this combination may begin. */
  mayBegin(site: number, atMs: number, combination: number): boolean;
}

/** More than the methods and media types of any site, and few enough that a flood of them keeps counts short. */
const NAMES_MAX = 300;
/** Sites and intervals kept in memory; others are read again. */
const REMEMBERED_MAX = 1_000;
const SEPARATOR = "char(0)";

/** `table`: the counts, whose column `facet` contains the combinations. */
export function createCountedNames(db: DatabaseSync, table: string, facet: FacetName): CountedNames {
  const made = facetColumns(facet).filter((column) => VISITORS_COLUMNS[facet]?.includes(column));
  const name = made.map((column) => `f.${column}`).join(` || ${SEPARATOR} || `);
  const nameOf = db.prepare(`SELECT ${name} AS name FROM ${facetTable(facet)} AS f WHERE id = ?`);
  const namesOf = db.prepare(
    `SELECT DISTINCT ${name} AS name FROM ${table} AS c JOIN ${facetTable(facet)} AS f ON f.id = c.${facet} WHERE c.site = ? AND c.at_ms = ? LIMIT ?`,
  );
  let remembered = new Map<string, Set<string>>();

  const counted = (site: number, atMs: number): Set<string> => {
    const key = `${site} ${atMs}`;
    let names = remembered.get(key);
    if (names === undefined) {
      if (remembered.size >= REMEMBERED_MAX) remembered = new Map();
      names = new Set(namesOf.all(site, atMs, NAMES_MAX).map((row) => String(row["name"])));
      remembered.set(key, names);
    }
    return names;
  };
  return {
    mayBegin: (site, atMs, combination) => {
      const names = counted(site, atMs);
      const made = String(nameOf.get(combination)?.["name"]);
      if (names.has(made)) return true;
      if (names.size >= NAMES_MAX) return false;
      names.add(made);
      return true;
    },
  };
}
