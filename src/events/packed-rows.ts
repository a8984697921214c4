import type { EventTable, EventTables } from "./rows.ts";
import { type Cell, EVENT_SCHEMA, FACET_LEADS, facetColumns, type FacetName, storedColumns } from "./schema.ts";

/**
 * Rows of one table as they cross threads: a few flat values, because a copy of thousands of cells costs each of
 * them. Cells stand in the order of the table's stored columns.
 */
export interface PackedRows {
  readonly table: EventTable;
  readonly rows: number;
  /** For each facet of the table, the texts of the batch's combinations one after the other. */
  readonly facets: readonly (readonly string[])[];
  /** Which of these each row has, by facet. */
  readonly combinations: Uint32Array;
  /** The cells of text columns, one after the other. */
  readonly text: string;
  /** The lengths of these; `AS_BEFORE` where the row before has the same text, which is then not repeated. */
  readonly lengths: Uint32Array;
  /** The cells of all other columns; NaN is null. */
  readonly numbers: Float64Array;
}

const AS_BEFORE = 0xffff_ffff;
const FIRST_ROWS = 64;

type AnyRow = Readonly<Record<string, unknown>>;

/** Packs one row after the other. A class, because every request passes through it. */
export class RowPacker {
  rows = 0;
  private readonly table: EventTable;
  private readonly facets: readonly FacetPacker[];
  private readonly texts: readonly string[];
  private readonly numeric: readonly string[];
  /** What stands for an absent one: NaN, which is null, or zero. */
  private readonly absent: Float64Array;
  /** The texts of the last row, by column. */
  private before: string[] = [];
  private text = "";
  private combinations: Uint32Array;
  private lengths: Uint32Array;
  private numbers: Float64Array;

  constructor(table: EventTable) {
    const own = storedColumns(table).filter((column) => column.facet === null);
    this.table = table;
    this.facets = EVENT_SCHEMA[table].facets.map((name) => new FacetPacker(name));
    this.texts = own.filter(({ sql }) => sql === "TEXT").map(({ name }) => name);
    const numeric = own.filter(({ sql }) => sql !== "TEXT");
    this.numeric = numeric.map(({ name }) => name);
    this.absent = Float64Array.from(numeric, ({ nullable }) => (nullable ? Number.NaN : 0));
    this.combinations = new Uint32Array(this.facets.length * FIRST_ROWS);
    this.lengths = new Uint32Array(this.texts.length * FIRST_ROWS);
    this.numbers = new Float64Array(this.numeric.length * FIRST_ROWS);
  }

  push(given: EventTables[EventTable]): void {
    const row = given as unknown as AnyRow;
    const { facets, texts, numeric, before, rows } = this;
    this.makeRoom();
    const { combinations, lengths, numbers } = this;
    for (let i = 0, at = rows * facets.length; i < facets.length; i++, at++) combinations[at] = facets[i]!.numberOf(row);
    for (let i = 0, at = rows * texts.length; i < texts.length; i++, at++) {
      const text = cellText(row[texts[i]!]);
      if (text === before[i]) lengths[at] = AS_BEFORE;
      else {
        this.text += before[i] = text;
        lengths[at] = text.length;
      }
    }
    for (let i = 0, at = rows * numeric.length; i < numeric.length; i++, at++) {
      const value = row[numeric[i]!];
      numbers[at] = typeof value === "number" ? value : value === true ? 1 : this.absent[i]!;
    }
    this.rows = rows + 1;
  }

  /** What was pushed since the last time. */
  take(): PackedRows {
    const { table, rows, text } = this;
    const combinations = this.combinations.slice(0, rows * this.facets.length);
    const lengths = this.lengths.slice(0, rows * this.texts.length);
    const numbers = this.numbers.slice(0, rows * this.numeric.length);
    const facets = this.facets.map((facet) => facet.take());
    this.rows = 0;
    this.text = "";
    this.before = [];
    return { table, rows, facets, combinations, text, lengths, numbers };
  }

  /** For one more row. */
  private makeRoom(): void {
    const rows = this.rows + 1;
    if (rows * this.facets.length > this.combinations.length) this.combinations = grown(this.combinations, Uint32Array);
    if (rows * this.texts.length > this.lengths.length) this.lengths = grown(this.lengths, Uint32Array);
    if (rows * this.numeric.length > this.numbers.length) this.numbers = grown(this.numbers, Float64Array);
  }
}

/** Numbers the combinations of one facet within a batch. */
class FacetPacker {
  private readonly columns: readonly string[];
  private readonly lead: string;
  private texts: string[] = [];
  /** Numbers by the text of the leading column: joining all texts to one key would cost more than comparing them. */
  private numbers = new Map<string, number[]>();
  private last = -1;

  constructor(name: FacetName) {
    this.columns = facetColumns(name);
    this.lead = FACET_LEADS[name];
  }

  numberOf(row: AnyRow): number {
    if (this.last >= 0 && this.is(this.last, row)) return this.last;
    const lead = textOf(row[this.lead]);
    let alike = this.numbers.get(lead);
    if (alike === undefined) this.numbers.set(lead, (alike = []));
    for (const number of alike) if (this.is(number, row)) return (this.last = number);
    const number = this.texts.length / this.columns.length;
    for (const column of this.columns) this.texts.push(textOf(row[column]));
    alike.push(number);
    return (this.last = number);
  }

  private is(number: number, row: AnyRow): boolean {
    const { columns, texts } = this;
    for (let i = 0, at = number * columns.length; i < columns.length; i++, at++) if (texts[at] !== (row[columns[i]!] ?? "")) return false;
    return true;
  }

  take(): readonly string[] {
    const { texts } = this;
    this.texts = [];
    this.numbers = new Map();
    this.last = -1;
    return texts;
  }
}

/** What most rows have where it is not a text needs no call. */
function cellText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  if (value === null) return "null";
  return Array.isArray(value) && value.length === 0 ? "[]" : JSON.stringify(value);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function grown<A extends Uint32Array | Float64Array>(from: A, Wider: new (length: number) => A): A {
  const to = new Wider(from.length * 2);
  to.set(from);
  return to;
}

/** The number in the file of a batch's combination, which is told by its facet and its texts. */
export type FacetNumber = (facet: FacetName, texts: readonly string[]) => number;

/** The cells of all rows one after the other, as the file holds them. */
export function unpackRows({ table, rows, facets, combinations, text, lengths, numbers }: PackedRows, numberOf: FacetNumber): Cell[] {
  const columns = storedColumns(table);
  const width = columns.length;
  const names = EVENT_SCHEMA[table].facets;
  const known = facets.map((texts, i) => facetNumbers(names[i]!, texts, numberOf));
  /** For each column: the position of its facet, or -1 for a text, or -2 for a number. */
  const kinds = columns.map((column) => (column.facet === null ? (column.sql === "TEXT" ? -1 : -2) : names.indexOf(column.facet)));
  const cells: Cell[] = Array(rows * width);
  let at = 0;
  let nextLength = 0;
  let nextNumber = 0;
  for (let row = 0, cell = 0; row < rows; row++) {
    for (let column = 0; column < width; column++, cell++) {
      const kind = kinds[column]!;
      if (kind >= 0) cells[cell] = known[kind]![combinations[row * names.length + kind]!]!;
      else if (kind === -1) {
        const length = lengths[nextLength++]!;
        if (length === AS_BEFORE) cells[cell] = cells[cell - width] ?? null;
        else cells[cell] = text.slice(at, (at += length));
      } else {
        const number = numbers[nextNumber++]!;
        cells[cell] = Number.isNaN(number) ? null : number;
      }
    }
  }
  return cells;
}

function facetNumbers(facet: FacetName, texts: readonly string[], numberOf: FacetNumber): readonly number[] {
  const width = facetColumns(facet).length;
  return Array.from({ length: texts.length / width }, (_, i) => numberOf(facet, texts.slice(i * width, (i + 1) * width)));
}
