import { type NameOwner, type Cell, EVENT_SCHEMA, facetColumns, type FacetName, storedColumns } from "./schema.ts";
import type { EventTable } from "./rows.ts";

/**
 * Rows of one table as they cross threads: column by column, because a copy of thousands of cells would cost each of
 * them. Facets, texts and numbers are in the order of the table's stored columns.
 */
export interface PackedRows {
  readonly table: EventTable;
  readonly rows: number;
  readonly facets: readonly PackedFacet[];
  readonly texts: readonly PackedTexts[];
  /** NaN is null. */
  readonly numbers: readonly Float64Array[];
  /** Security events that rules logged for rows of `requests`. */
  readonly events?: PackedEvents;
}

/** Security events by their data beyond the request, whose row is in the same batch (request-events.ts). */
export interface PackedEvents {
  readonly rows: number;
  /** The position of each event's request. */
  readonly requests: Uint32Array;
  readonly rule: PackedFacet;
  readonly matches: PackedTexts;
}

export interface PackedFacet {
  /** The texts of the batch's combinations one after the other. */
  readonly texts: readonly string[];
  /** The combination of each row. */
  readonly combinations: Uint32Array;
}

export interface PackedTexts {
  /** The cells one after the other. */
  readonly text: string;
  /** The lengths of these; `AS_BEFORE` if the row before has the same text, which is then not repeated. */
  readonly lengths: Uint32Array;
}

export const AS_BEFORE = 0xffff_ffff;

/** Events of requests count as separate rows. */
export const rowsIn = (tables: readonly PackedRows[]): number =>
  tables.reduce((sum, { rows, events }) => sum + rows + (events?.rows ?? 0), 0);

/** Bytes of a row without its texts. */
const ROW_BYTES = 100;

/** Approximate maximum of their bytes in the file: its texts are UTF-8, most of them ASCII. */
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

/** The number of a batch's combination in the file, by its facet and texts. `owner`: the owner of the first row that uses it. */
export type FacetNumber = (facet: FacetName, texts: readonly string[], owner: () => NameOwner) => number;

/** Rows whose combinations have their file numbers. */
export interface NumberedRows extends PackedRows {
  /** Per facet, the file number of each combination of the batch. */
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
      // Combinations are numbered in the order of their first rows.
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

/** The cells of all rows one after the other, as stored in the file. */
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
