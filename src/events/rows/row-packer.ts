import { type AnyRow, cellText, FacetPacker, FIRST_ROWS, NumberPacker, TextPacker } from "./column-packers.ts";
import type { PackedRows } from "./packed-rows.ts";
import type { EventTable, EventTables } from "./rows.ts";
import { EVENT_SCHEMA, facetColumns, numberColumns, textColumns } from "./schema.ts";

/** Packs rows of any table, one after the other. Rows of requests have a special packer (request-packer.ts). */
export class RowPacker {
  rows = 0;
  /** Length of the waiting text in UTF-16 units, without the texts of combinations. */
  units = 0;
  private readonly table: EventTable;
  private readonly facets: readonly { readonly columns: readonly string[]; readonly packer: FacetPacker }[];
  private readonly texts: readonly { readonly name: string; readonly packer: TextPacker }[];
  private readonly numbers: readonly { readonly name: string; readonly absent: number; readonly packer: NumberPacker }[];
  private before: AnyRow | null = null;
  private room = FIRST_ROWS;

  constructor(table: EventTable) {
    this.table = table;
    this.facets = EVENT_SCHEMA[table].facets.map((name) => ({ columns: facetColumns(name), packer: new FacetPacker(name) }));
    this.texts = textColumns(table).map(({ name }) => ({ name, packer: new TextPacker() }));
    this.numbers = numberColumns(table).map(({ name, nullable }) => ({
      ...{ name, absent: nullable ? Number.NaN : 0 },
      packer: new NumberPacker(),
    }));
  }

  push(given: EventTables[EventTable]): void {
    const row = given as unknown as AnyRow;
    const { before, rows: at } = this;
    if (at === this.room) this.makeRoom();
    for (const { columns, packer } of this.facets) packer.push(row, at, before !== null && isSame(columns, row, before));
    for (const { name, packer } of this.texts) this.units += packer.push(cellText(row[name]), at);
    for (const { name, absent, packer } of this.numbers) packer.push(numberOf(row[name], absent), at);
    this.before = row;
    this.rows = at + 1;
  }

  /** The rows that were pushed since the last call. */
  take(): PackedRows {
    const { table, rows } = this;
    this.rows = this.units = 0;
    this.before = null;
    return {
      table,
      rows,
      facets: this.facets.map(({ packer }) => packer.take(rows)),
      texts: this.texts.map(({ packer }) => packer.take(rows)),
      numbers: this.numbers.map(({ packer }) => packer.take(rows)),
    };
  }

  private makeRoom(): void {
    this.room *= 2;
    for (const { packer } of [...this.facets, ...this.texts, ...this.numbers]) packer.grow(this.room);
  }
}

const isSame = (columns: readonly string[], a: AnyRow, b: AnyRow): boolean => columns.every((column) => a[column] === b[column]);

/** `absent` represents null, or is zero. */
const numberOf = (value: unknown, absent: number): number => (typeof value === "number" ? value : value === true ? 1 : absent);
