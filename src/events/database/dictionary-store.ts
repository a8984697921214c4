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

/** The writer's side of the facets: numbers for combinations of texts, given once and kept while rows have them. */
export interface FacetStore {
  /**
   * The number of a combination, new or known; where a facet has no place left for its owner, that of the one in which `OTHER_TEXT` stands for
   * what a visitor wrote. To be called within the transaction of the rows that have it.
   */
  numberOf(facet: FacetName, texts: readonly string[], owner: () => NameOwner): number;
  /** The number of the combination in which `OTHER_TEXT` stands for what a visitor wrote in this one; to be called as `numberOf` is. */
  otherOf(facet: FacetName, id: number): number;
  /** What was numbered or deleted since the last settling is in the file, or not: what a transaction that failed has changed is forgotten. */
  settle(isCommitted: boolean): void;
  /** Deletes at most `rowsMax` combinations of each facet that no row has had since the day; gives their number. To be called within a transaction. */
  deleteUnusedSince(dayMs: (facet: FacetName) => number, rowsMax: number): number;
}

/** Combinations that are remembered of each facet. Others are looked up again, so that no flood of texts fills the memory. */
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
  /** Of a facet that visitors fill. */
  readonly visitors: Visitors | null;
  known: Map<string, Known>;
  /** All names that were last used before this day have been deleted. */
  checkedDay: number;
}

interface Visitors {
  readonly shares: NameShares;
  /** What stands for these texts once there is no place for them. */
  other(texts: readonly string[]): readonly string[];
}

/** Owns what stands for others, which nobody is to have fewer places for. */
const nobody = (): NameOwner => ({ site: 0, account: "" });

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

  /** Remembered by its texts. */
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
    // What is refused to one may be given to another: only what stands for it is remembered.
    const others = visitors!.other(texts);
    return kept(facet, others, () => found(facet, others) ?? added(facet, others, day, nobody))!;
  };

  const numberOf: FacetStore["numberOf"] = (name, texts, owner) => {
    const facet = facets.get(name)!;
    const day = today();
    const entry = entryOf(facet, texts, day, owner);
    if (entry.day < day) {
      facet.use.run(day, entry.id);
      // A day that is not committed has to be written again.
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
  // Names get no day that is over: to look through all of them once for each is enough.
  if (day === before) return 0;
  // A clock that was ahead is to keep no name until then.
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
