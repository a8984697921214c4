import type { EventTable, EventTables } from "./rows.ts";
import { type Cell, type Column, EVENT_SCHEMA } from "./schema.ts";

/**
 * Rows of one table as they cross threads: three flat values, because a copy of thousands of cells costs each of
 * them. Cells stand in the order of the schema's columns.
 */
export interface PackedRows {
  readonly table: EventTable;
  readonly rows: number;
  /** The cells of text columns, one after the other. */
  readonly text: string;
  /** The lengths of these; `AS_BEFORE` where the row before has the same text, which is then not repeated. */
  readonly lengths: Uint32Array;
  /** The cells of all other columns; NaN is null. */
  readonly numbers: Float64Array;
}

const AS_BEFORE = 0xffff_ffff;
const FIRST_ROWS = 64;

/** Packs one row after the other. A class, because every request passes through it. */
export class RowPacker {
  rows = 0;
  private readonly table: EventTable;
  private readonly columns: readonly Column[];
  /** The texts of the last row, by column. */
  private before: string[] = [];
  private text = "";
  private lengths: Uint32Array;
  private numbers: Float64Array;
  private lengthsUsed = 0;
  private numbersUsed = 0;

  constructor(table: EventTable) {
    this.table = table;
    this.columns = EVENT_SCHEMA[table].columns as readonly Column[];
    this.lengths = new Uint32Array(this.columns.length * FIRST_ROWS);
    this.numbers = new Float64Array(this.columns.length * FIRST_ROWS);
  }

  push(row: EventTables[EventTable]): void {
    const { columns, before } = this;
    this.makeRoom();
    for (let column = 0; column < columns.length; column++) {
      const described = columns[column]!;
      const value = (row as unknown as Readonly<Record<string, unknown>>)[described.name];
      if (described.sql !== "TEXT") {
        this.numbers[this.numbersUsed++] = numberOf(described, value);
        continue;
      }
      const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
      if (text === before[column]) this.lengths[this.lengthsUsed++] = AS_BEFORE;
      else {
        this.text += before[column] = text;
        this.lengths[this.lengthsUsed++] = text.length;
      }
    }
    this.rows++;
  }

  /** What was pushed since the last time. */
  take(): PackedRows {
    const { table, rows, text } = this;
    const lengths = this.lengths.slice(0, this.lengthsUsed);
    const numbers = this.numbers.slice(0, this.numbersUsed);
    this.rows = this.lengthsUsed = this.numbersUsed = 0;
    this.text = "";
    this.before = [];
    return { table, rows, text, lengths, numbers };
  }

  /** For one more row. */
  private makeRoom(): void {
    const { length } = this.columns;
    if (this.lengthsUsed + length > this.lengths.length) this.lengths = grown(this.lengths, new Uint32Array(this.lengths.length * 2));
    if (this.numbersUsed + length > this.numbers.length) this.numbers = grown(this.numbers, new Float64Array(this.numbers.length * 2));
  }
}

/** An absent optional field is false, or null, or zero. */
function numberOf({ form, nullable }: Column, value: unknown): number {
  if (form === "boolean") return value === true ? 1 : 0;
  return typeof value === "number" ? value : nullable ? Number.NaN : 0;
}

function grown<A extends Uint32Array | Float64Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

/** The cells of all rows one after the other. */
export function unpackRows({ table, rows, text, lengths, numbers }: PackedRows): Cell[] {
  const { columns } = EVENT_SCHEMA[table];
  const isText = columns.map((column) => column.sql === "TEXT");
  const cells: Cell[] = [];
  let at = 0;
  let nextLength = 0;
  let nextNumber = 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns.length; column++) {
      if (isText[column] !== true) {
        const number = numbers[nextNumber++]!;
        cells.push(Number.isNaN(number) ? null : number);
        continue;
      }
      const length = lengths[nextLength++]!;
      if (length === AS_BEFORE) cells.push(cells[cells.length - columns.length] ?? null);
      else cells.push(text.slice(at, (at += length)));
    }
  }
  return cells;
}
