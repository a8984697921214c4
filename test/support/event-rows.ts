import { fc } from "./property.ts";
import { numberRows, type PackedRows, unpackRows } from "#events/rows/packed-rows.ts";
import type { EventTable, EventTables } from "#events/rows/rows.ts";
import { type Cell, type Column, columnsOf, decodeRow, facetColumns, storedColumns } from "#events/rows/schema.ts";

/** The rows unpacked from packed rows of the table. */
export function unpacked<T extends EventTable>(table: T, packed: PackedRows): EventTables[T][] {
  const combinations: (readonly string[])[] = [];
  const cells = unpackRows(numberRows(packed, (_, texts) => combinations.push(texts) - 1));
  const columns = storedColumns(table);
  const rows: EventTables[T][] = [];
  for (let at = 0; at < cells.length; at += columns.length) {
    const row = columns.flatMap((column, i): [string, Cell][] => {
      const cell = cells[at + i] ?? null;
      if (column.facet === null) return [[column.name, cell]];
      return facetColumns(column.facet).map((name, text) => [name, combinations[Number(cell)]?.[text] ?? null]);
    });
    rows.push(decodeRow(table, Object.fromEntries(row)));
  }
  return rows;
}

/** Any row that the schema allows, with few texts, so that adjacent rows often have the same one, and characters of every width. */
export function anyRow<T extends EventTable>(table: T): fc.Arbitrary<EventTables[T]> {
  const text = fc.oneof(fc.constantFrom("", "GET", "a", "a\u0000b", "\u00ff", "\u20ac", "\ud83d\ude00"), fc.string({ maxLength: 40 }));
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constantFrom(0, 2 ** 53, -1));
  const cell = ({ name, sql, form, nullable }: Column): fc.Arbitrary<unknown> => {
    if (form === "boolean") return fc.boolean();
    if (form === "json") return fc.array(fc.record({ count: fc.nat(), detector: text }, { noNullPrototype: true }), { maxLength: 3 });
    if (sql === "TEXT") return text;
    if (name === "at_ms") return fc.integer({ min: 0, max: 2 ** 48 - 1 });
    return nullable ? fc.option(number) : number;
  };
  const cells = Object.fromEntries(columnsOf(table).map((column) => [column.name, cell(column)]));
  return fc.record(cells, { noNullPrototype: true }) as unknown as fc.Arbitrary<EventTables[T]>;
}
