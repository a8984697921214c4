import { type NameOwner, type Cell, EVENT_SCHEMA, facetColumns, type FacetName, storedColumns } from "./schema.ts";
import type { EventTable } from "./rows.ts";

/**
 * Rows of one table as they cross threads: a column after the other, because a copy of thousands of cells costs each of
 * them. Facets, texts and numbers stand in the order of the table's stored columns.
 */
export interface PackedRows {
  readonly table: EventTable;
  readonly rows: number;
  readonly facets: readonly PackedFacet[];
  readonly texts: readonly PackedTexts[];
  /** NaN is null. */
  readonly numbers: readonly Float64Array[];
  /** What rules logged of rows of `requests`. */
  readonly events?: PackedEvents;
}

/** Security events by what they have beside their request, whose row is in the same batch (request-events.ts). */
export interface PackedEvents {
  readonly rows: number;
  /** The position of each one's request. */
  readonly requests: Uint32Array;
  readonly rule: PackedFacet;
  readonly matches: PackedTexts;
}

export interface PackedFacet {
  /** The texts of the batch's combinations one after the other. */
  readonly texts: readonly string[];
  /** Which of these each row has. */
  readonly combinations: Uint32Array;
}

export interface PackedTexts {
  /** The cells one after the other. */
  readonly text: string;
  /** The lengths of these; `AS_BEFORE` where the row before has the same text, which is then not repeated. */
  readonly lengths: Uint32Array;
}

export const AS_BEFORE = 0xffff_ffff;

/** Events of requests count as rows of their own. */
export const rowsIn = (tables: readonly PackedRows[]): number =>
  tables.reduce((sum, { rows, events }) => sum + rows + (events?.rows ?? 0), 0);

/** Of a row, beside its texts. */
const ROW_BYTES = 100;

/** What they take at most in the file, about: its texts are UTF-8, most of them ASCII. */
export const bytesIn = (tables: readonly PackedRows[]): number =>
  rowsIn(tables) * ROW_BYTES +
  tables.reduce(
    (sum, { texts, facets, events }) =>
      sum + unitsIn(texts, facets) + (events === undefined ? 0 : unitsIn([events.matches], [events.rule])),
    0,
  );

const unitsIn = (texts: readonly PackedTexts[], facets: readonly PackedFacet[]): number =>
  texts.reduce((sum, { text }) => sum + text.length, 0) +
  facets.reduce((sum, facet) => sum + facet.texts.reduce((units, { length }) => units + length, 0), 0);

/** The number in the file of a batch's combination, which is told by its facet and its texts. `owner`: of the first row that has it. */
export type FacetNumber = (facet: FacetName, texts: readonly string[], owner: () => NameOwner) => number;

/** Rows whose combinations have their numbers in the file. */
export interface NumberedRows extends PackedRows {
  /** For each facet, the number in the file of each combination of the batch. */
  readonly ids: readonly (readonly number[])[];
}

export function numberRows(packed: PackedRows, numberOf: FacetNumber): NumberedRows {
  const ids: number[][] = [];
  const facets = EVENT_SCHEMA[packed.table].facets;
  const siteAt = facets.indexOf("site");
  for (const [i, name] of facets.entries()) {
    const { texts, combinations } = packed.facets[i]!;
    const width = facetColumns(name).length;
    let row = 0;
    const ownerOf = (combination: number): NameOwner => {
      // They are numbered in the order of their first rows.
      row = Math.max(combinations.indexOf(combination, row), 0);
      const sites = packed.facets[siteAt]!;
      const site = sites.combinations[row]!;
      return { site: ids[siteAt]?.[site] ?? 0, account: sites.texts[site * SITE_WIDTH] ?? "" };
    };
    ids.push(
      Array.from({ length: texts.length / width }, (_, n) => numberOf(name, texts.slice(n * width, (n + 1) * width), () => ownerOf(n))),
    );
  }
  return { ...packed, ids };
}

const SITE_WIDTH = facetColumns("site").length;

/** The cells of all rows one after the other, as the file holds them. */
export function unpackRows({ table, rows, facets, texts, numbers, ids }: NumberedRows): Cell[] {
  const columns = storedColumns(table);
  const width = columns.length;
  const cells: Cell[] = Array(rows * width);
  let [nextText, nextNumber] = [0, 0];
  for (const [column, { facet, ...own }] of columns.entries()) {
    if (facet !== null) {
      const at = EVENT_SCHEMA[table].facets.indexOf(facet);
      const { combinations } = facets[at]!;
      for (let row = 0, cell = column; row < rows; row++, cell += width) cells[cell] = ids[at]![combinations[row]!]!;
    } else if ("sql" in own && own.sql === "TEXT") {
      const { text, lengths } = texts[nextText++]!;
      for (let row = 0, cell = column, at = 0; row < rows; row++, cell += width) {
        const length = lengths[row]!;
        if (length === AS_BEFORE) cells[cell] = cells[cell - width] ?? null;
        else cells[cell] = text.slice(at, (at += length));
      }
    } else {
      const values = numbers[nextNumber++]!;
      for (let row = 0, cell = column; row < rows; row++, cell += width) {
        const value = values[row]!;
        cells[cell] = Number.isNaN(value) ? null : value;
      }
    }
  }
  return cells;
}
