import type { DatabaseSync, StatementSync } from "node:sqlite";
import { createNameShares, type NameShares } from "#events/rollups/name-quota.ts";
import {
  type NameOwner,
  FACET_NAMES,
  facetColumns,
  type FacetName,
  facetTable,
  OTHER_TEXT,
  VISITORS_COLUMNS,
} from "#events/rows/schema.ts";

/** The writer's side of the facets: combinations of texts get a number once and keep it while rows use them. */
export interface FacetStore {
  /**
   * The number of a combination, new or known; if a facet has no place left for its owner, the number of the combination
   * with `OTHER_TEXT` in place of the visitor's text. Must be called within the transaction of the rows that use it.
   */
  numberOf(facet: FacetName, texts: readonly string[], owner: () => NameOwner): number;
  /** The number of the combination with `OTHER_TEXT` in place of this one's visitor text; must be called as `numberOf` is. */
  otherOf(facet: FacetName, id: number): number;
  /** Whether numbers given or deleted since the last settling are in the file: changes of a failed transaction are forgotten. */
  settle(isCommitted: boolean): void;
  /**
   * Deletes at most `rowsMax` combinations of each facet that no row has used since the day; returns their number. Must
   * be called within a transaction.
   */
  deleteUnusedSince(dayMs: (facet: FacetName) => number, rowsMax: number): number;
}

/** Combinations of each facet kept in memory. Others are looked up again, so that a flood of texts cannot fill the memory. */
const REMEMBERED_MAX = 20_000;
const DAY_MS = 86_400_000;
const SEPARATOR = "\u0000";

interface Facet {
  readonly find: StatementSync;
  readonly read: StatementSync;
  readonly add: StatementSync;
  readonly use: StatementSync;
  readonly drop: StatementSync;
  readonly redate: StatementSync;
  /** Set for a facet that visitors fill. */
  readonly visitors: Visitors | null;
  known: Map<string, Known>;
  /** All names last used before this day have been deleted. */
  checkedDay: number;
}

interface Visitors {
  readonly shares: NameShares;
  /** The replacement for these texts when no place is left for them. */
  other(texts: readonly string[]): readonly string[];
}

/** Owner of the replacement texts, which never loses places. */
const nobody = (): NameOwner => ({ site: 0, account: "" });

interface Known {
  readonly id: number;
  day: number;
}

/** Names of each facet that visitors fill: 100,000 of the longest take about 100 MB. */
const NAMES_MAX = 100_000;
/** Bytes of a long name: its text, the text in the index, and the row around it. */
const NAME_BYTES = 1_100;

/** Number of names of each facet in a database of that size: all together take a third of it. */
export const namesMaxOf = (bytes: number): number => Math.min(NAMES_MAX, Math.floor(bytes / 16 / NAME_BYTES));

/** `sizeMax`: combinations of a facet that visitors partly write. */
export function createFacetStore(db: DatabaseSync, nowMs: () => number, sizeMax: number): FacetStore {
  const facets = new Map(FACET_NAMES.map((name): [FacetName, Facet] => [name, createFacet(db, name, sizeMax)]));
  const fresh: (() => void)[] = [];
  const today = (): number => Math.floor(nowMs() / DAY_MS);

  const found = (facet: Facet, texts: readonly string[]): Known | undefined => {
    const row = facet.find.get(...texts);
    return row && { id: Number(row["id"]), day: Number(row["used_day"]) };
  };

  const added = ({ visitors, add }: Facet, texts: readonly string[], day: number, owner: () => NameOwner): Known => {
    if (visitors === null) return { id: Number(add.run(...texts, day).lastInsertRowid), day };
    const whose = owner();
    fresh.push(visitors.shares.add(whose));
    return { id: Number(add.run(...texts, day, whose.site).lastInsertRowid), day };
  };

  /** Kept in memory by its texts. */
  const kept = (facet: Facet, texts: readonly string[], make: () => Known | undefined): Known | undefined => {
    const key = texts.join(SEPARATOR);
    const known = facet.known.get(key);
    if (known !== undefined) return known;
    const entry = make();
    if (entry === undefined) return undefined;
    if (facet.known.size >= REMEMBERED_MAX) facet.known = new Map();
    facet.known.set(key, entry);
    fresh.push(() => facet.known.delete(key));
    return entry;
  };

  const entryOf = (facet: Facet, texts: readonly string[], day: number, owner: () => NameOwner): Known => {
    const { visitors } = facet;
    const entry = kept(facet, texts, () => {
      const there = found(facet, texts);
      if (there !== undefined) return there;
      return visitors === null || visitors.shares.mayAdd(owner()) ? added(facet, texts, day, owner) : undefined;
    });
    if (entry !== undefined) return entry;
    // A combination refused for one owner may be allowed for another, so only the replacement is kept in memory.
    const others = visitors!.other(texts);
    return kept(facet, others, () => found(facet, others) ?? added(facet, others, day, nobody))!;
  };

  const numberOf: FacetStore["numberOf"] = (name, texts, owner) => {
    const facet = facets.get(name)!;
    const day = today();
    const entry = entryOf(facet, texts, day, owner);
    if (entry.day < day) {
      facet.use.run(day, entry.id);
      // A day that was not committed must be written again.
      const before = entry.day;
      entry.day = day;
      fresh.push(() => (entry.day = before));
    }
    return entry.id;
  };

  return {
    numberOf,
    otherOf: (name, id) => {
      const { read, visitors } = facets.get(name)!;
      return numberOf(name, visitors!.other(Object.values(read.get(id)!).map(String)), nobody);
    },
    settle: (isCommitted) => {
      if (!isCommitted) for (const forget of fresh) forget();
      fresh.length = 0;
    },
    deleteUnusedSince: (dayMs, rowsMax) => {
      let deleted = 0;
      for (const [name, facet] of facets) deleted += deleteUnused(facet, Math.floor(dayMs(name) / DAY_MS), rowsMax, fresh, today());
      return deleted;
    },
  };
}

function deleteUnused(facet: Facet, day: number, rowsMax: number, undo: (() => void)[], today: number): number {
  const before = facet.checkedDay;
  // Names do not get past days, so one pass over all of them per day is enough.
  if (day === before) return 0;
  // A clock that was ahead must not keep names until that day.
  const isRedated = Number(facet.redate.run(today, today + 1).changes) > 0;
  const gone = facet.drop.all(day, rowsMax);
  if (isRedated || gone.length > 0) facet.known = new Map();
  if (gone.length < rowsMax) facet.checkedDay = day;
  undo.push(() => (facet.checkedDay = before));
  for (const { site } of gone) if (facet.visitors !== null) undo.push(facet.visitors.shares.remove(Number(site)));
  return gone.length;
}

function createFacet(db: DatabaseSync, name: FacetName, sizeMax: number): Facet {
  const table = facetTable(name);
  const columns = facetColumns(name);
  const visitors = VISITORS_COLUMNS[name];
  const added = [...columns, "used_day", ...(visitors === undefined ? [] : ["site"])];
  return {
    find: db.prepare(`SELECT id, used_day FROM ${table} WHERE ${columns.map((column) => `${column} = ?`).join(" AND ")}`),
    read: db.prepare(`SELECT ${columns.join(", ")} FROM ${table} WHERE id = ?`),
    add: db.prepare(`INSERT INTO ${table} (${added.join(", ")}) VALUES (${added.map(() => "?").join(", ")})`),
    use: db.prepare(`UPDATE ${table} SET used_day = ? WHERE id = ?`),
    drop: db.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE used_day < ? LIMIT ?) RETURNING ${visitors === undefined ? "0 AS site" : "site"}`,
    ),
    redate: db.prepare(`UPDATE ${table} SET used_day = ? WHERE used_day > ?`),
    visitors:
      visitors === undefined
        ? null
        : {
            shares: createNameShares(db, name, sizeMax),
            other: (texts) => texts.map((text, i) => (visitors.includes(columns[i]!) ? OTHER_TEXT : text)),
          },
    known: new Map(),
    checkedDay: -1,
  };
}
