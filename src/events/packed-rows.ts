import { type CellPacker, cellText, OWN_CELLS, sameFacet } from "./row-cells.ts";
import type { EventTable, EventTables } from "./rows.ts";
import { type Cell, EVENT_SCHEMA, FACET_LEADS, facetColumns, type FacetName, storedColumns } from "./schema.ts";

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
const FIRST_ROWS = 64;

type AnyRow = Readonly<Record<string, unknown>>;

/** Packs one row after the other. A class, because every request passes through it. */
export class RowPacker {
  rows = 0;
  private readonly table: EventTable;
  private readonly facets: readonly FacetPacker[];
  private readonly texts: readonly TextPacker[];
  private readonly numbers: readonly NumberPacker[];
  private readonly ownCells: (
    row: never,
    texts: readonly CellPacker<string>[],
    numbers: readonly CellPacker<unknown>[],
    at: number,
  ) => void;
  private room = FIRST_ROWS;

  constructor(table: EventTable) {
    const own = storedColumns(table).filter((column) => column.facet === null);
    const texts = own.filter(({ sql }) => sql === "TEXT");
    const numbers = own.filter(({ sql }) => sql !== "TEXT");
    this.table = table;
    this.facets = EVENT_SCHEMA[table].facets.map((name) => new FacetPacker(name));
    this.texts = texts.map(() => new TextPacker());
    this.numbers = numbers.map(({ nullable }) => new NumberPacker(nullable ? Number.NaN : 0));
    this.ownCells =
      OWN_CELLS[table] ??
      namedCells(
        texts.map(({ name }) => name),
        numbers.map(({ name }) => name),
      );
  }

  push(row: EventTables[EventTable]): void {
    const { facets, rows } = this;
    if (rows === this.room) this.makeRoom();
    for (let i = 0; i < facets.length; i++) facets[i]!.push(row as unknown as AnyRow, rows);
    this.ownCells(row as never, this.texts, this.numbers, rows);
    this.rows = rows + 1;
  }

  /** How much text waits, in UTF-16 units. */
  textUnits(): number {
    let units = 0;
    for (let i = 0; i < this.texts.length; i++) units += this.texts[i]!.text.length;
    return units;
  }

  /** What was pushed since the last time. */
  take(): PackedRows {
    const { table, rows } = this;
    this.rows = 0;
    return {
      table,
      rows,
      facets: this.facets.map((facet) => facet.take(rows)),
      texts: this.texts.map((text) => text.take(rows)),
      numbers: this.numbers.map((number) => number.take(rows)),
    };
  }

  private makeRoom(): void {
    this.room *= 2;
    for (const column of [...this.facets, ...this.texts, ...this.numbers]) column.grow(this.room);
  }
}

/** The cells of a table whose rows are too few to have a list of their own. */
const namedCells =
  (textNames: readonly string[], numberNames: readonly string[]) =>
  (row: AnyRow, texts: readonly CellPacker<string>[], numbers: readonly CellPacker<unknown>[], at: number): void => {
    for (let i = 0; i < texts.length; i++) texts[i]!.push(cellText(row[textNames[i]!]), at);
    for (let i = 0; i < numbers.length; i++) numbers[i]!.push(row[numberNames[i]!], at);
  };

class TextPacker implements CellPacker<string> {
  text = "";
  private before: string | undefined = undefined;
  private lengths = new Uint32Array(FIRST_ROWS);

  push(text: string, at: number): void {
    if (text === this.before) this.lengths[at] = AS_BEFORE;
    else {
      this.text += text;
      this.before = text;
      this.lengths[at] = text.length;
    }
  }

  take(rows: number): PackedTexts {
    const { text } = this;
    this.text = "";
    this.before = undefined;
    return { text, lengths: this.lengths.slice(0, rows) };
  }

  grow(rows: number): void {
    this.lengths = grown(this.lengths, new Uint32Array(rows));
  }
}

class NumberPacker implements CellPacker<unknown> {
  /** What stands for an absent one: NaN, which is null, or zero. */
  private readonly absent: number;
  private values = new Float64Array(FIRST_ROWS);

  constructor(absent: number) {
    this.absent = absent;
  }

  push(value: unknown, at: number): void {
    this.values[at] = typeof value === "number" ? value : value === true ? 1 : this.absent;
  }

  take(rows: number): Float64Array {
    return this.values.slice(0, rows);
  }

  grow(rows: number): void {
    this.values = grown(this.values, new Float64Array(rows));
  }
}

/** Numbers the combinations of one facet within a batch. */
class FacetPacker {
  private readonly columns: readonly string[];
  private readonly lead: string;
  private readonly isSame: (a: AnyRow, b: AnyRow) => boolean;
  private texts: string[] = [];
  /** Numbers by the text of the leading column: joining all texts to one key would cost more than comparing them. */
  private numbers = new Map<string, number[]>();
  private lastRow: AnyRow | null = null;
  private last = 0;
  private combinations = new Uint32Array(FIRST_ROWS);

  constructor(name: FacetName) {
    this.columns = facetColumns(name);
    this.lead = FACET_LEADS[name];
    this.isSame = sameFacet(name);
  }

  push(row: AnyRow, at: number): void {
    if (this.lastRow === null || !this.isSame(this.lastRow, row)) this.last = this.numberOf(row);
    this.lastRow = row;
    this.combinations[at] = this.last;
  }

  take(rows: number): PackedFacet {
    const { texts } = this;
    this.texts = [];
    this.numbers = new Map();
    this.lastRow = null;
    return { texts, combinations: this.combinations.slice(0, rows) };
  }

  grow(rows: number): void {
    this.combinations = grown(this.combinations, new Uint32Array(rows));
  }

  private numberOf(row: AnyRow): number {
    const lead = textOf(row[this.lead]);
    let alike = this.numbers.get(lead);
    if (alike === undefined) this.numbers.set(lead, (alike = []));
    for (const number of alike) if (this.is(number, row)) return number;
    const number = this.texts.length / this.columns.length;
    for (const column of this.columns) this.texts.push(textOf(row[column]));
    alike.push(number);
    return number;
  }

  private is(number: number, row: AnyRow): boolean {
    const { columns, texts } = this;
    for (let i = 0, at = number * columns.length; i < columns.length; i++, at++) if (texts[at] !== (row[columns[i]!] ?? "")) return false;
    return true;
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function grown<A extends Uint32Array | Float64Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

/** The number in the file of a batch's combination, which is told by its facet and its texts. */
export type FacetNumber = (facet: FacetName, texts: readonly string[]) => number;

/** Rows whose combinations have their numbers in the file. */
export interface NumberedRows extends PackedRows {
  /** For each facet, the number in the file of each combination of the batch. */
  readonly ids: readonly (readonly number[])[];
}

export function numberRows(packed: PackedRows, numberOf: FacetNumber): NumberedRows {
  const ids = EVENT_SCHEMA[packed.table].facets.map((name, i) => {
    const { texts } = packed.facets[i]!;
    const width = facetColumns(name).length;
    return Array.from({ length: texts.length / width }, (_, n) => numberOf(name, texts.slice(n * width, (n + 1) * width)));
  });
  return { ...packed, ids };
}

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
