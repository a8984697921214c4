import type { DatabaseSync, StatementSync } from "node:sqlite";
import { FACET_NAMES, facetColumns, type FacetName, facetTable, OTHER_TEXT, VISITORS_COLUMNS } from "./schema.ts";

/** The writer's side of the facets: numbers for combinations of texts, given once and kept while rows have them. */
export interface FacetStore {
  /**
   * The number of a combination, new or known; where a facet is full, that of the one in which `OTHER_TEXT` stands for what a visitor
   * wrote. To be called within the transaction of the rows that have it.
   */
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
  readonly count: StatementSync;
  /** Combinations in the file. */
  size: number;
  /** What stands for these texts once the facet is full; null where it is never full. */
  readonly other: ((texts: readonly string[]) => readonly string[]) | null;
  known: Map<string, Known>;
}

interface Known {
  readonly id: number;
  day: number;
}

/** Names of each facet that visitors fill: of the longest, these are some 100 MB. */
const NAMES_MAX = 100_000;
/** Of a long name: its text, that in the index, and the row around it. */
const NAME_BYTES = 1_100;

/** How many names of each facet a database keeps that may have so many bytes: all together take a third of it. */
export const namesMaxOf = (bytes: number): number => Math.min(NAMES_MAX, Math.floor(bytes / 16 / NAME_BYTES));

/** `sizeMax`: combinations of a facet of which visitors write a part. */
export function createFacetStore(db: DatabaseSync, nowMs: () => number, sizeMax: number): FacetStore {
  const facets = new Map(FACET_NAMES.map((name): [FacetName, Facet] => [name, createFacet(db, name)]));
  const fresh: (() => void)[] = [];

  const found = (facet: Facet, texts: readonly string[]): Known | undefined => {
    const row = facet.find.get(...texts);
    return row && { id: Number(row["id"]), day: Number(row["used_day"]) };
  };

  const added = (facet: Facet, texts: readonly string[], day: number): Known => {
    facet.size++;
    fresh.push(() => facet.size--);
    return { id: Number(facet.add.run(...texts, day).lastInsertRowid), day };
  };

  const numbered = (facet: Facet, texts: readonly string[], day: number): Known => {
    const kept = found(facet, texts);
    if (kept !== undefined) return kept;
    if (facet.other === null || facet.size < sizeMax) return added(facet, texts, day);
    const others = facet.other(texts);
    return found(facet, others) ?? added(facet, others, day);
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
        if (Number(changes) > 0) {
          facet.known = new Map();
          facet.size = sizeOf(facet);
        }
        deleted += Number(changes);
      }
      return deleted;
    },
  };
}

function createFacet(db: DatabaseSync, name: FacetName): Facet {
  const table = facetTable(name);
  const columns = facetColumns(name);
  const visitors = VISITORS_COLUMNS[name];
  const facet: Facet = {
    find: db.prepare(`SELECT id, used_day FROM ${table} WHERE ${columns.map((column) => `${column} = ?`).join(" AND ")}`),
    add: db.prepare(`INSERT INTO ${table} (${columns.join(", ")}, used_day) VALUES (${columns.map(() => "?").join(", ")}, ?)`),
    use: db.prepare(`UPDATE ${table} SET used_day = ? WHERE id = ?`),
    drop: db.prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE used_day < ? LIMIT ?)`),
    count: db.prepare(`SELECT COUNT(*) AS size FROM ${table}`),
    size: 0,
    other: visitors ? (texts) => texts.map((text, i) => (visitors.includes(columns[i]!) ? OTHER_TEXT : text)) : null,
    known: new Map(),
  };
  facet.size = sizeOf(facet);
  return facet;
}

const sizeOf = ({ count }: Facet): number => Number(count.get()?.["size"]);
