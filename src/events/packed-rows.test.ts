import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { numberRows, RowPacker, unpackRows } from "./packed-rows.ts";
import type { EventTable, EventTables } from "./rows.ts";
import { type Cell, decodeRow, EVENT_SCHEMA, EVENT_TABLES, facetColumns, storedColumns } from "./schema.ts";

/** What crosses threads, and back to rows. */
function carried<T extends EventTable>(table: T, packer: RowPacker): EventTables[T][] {
  const combinations: (readonly string[])[] = [];
  const cells = unpackRows(numberRows(structuredClone(packer.take()), (_, texts) => combinations.push(texts) - 1));
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

/** Any row that the schema allows: few texts, so that neighbours often have the same, of every width of character. */
function anyRow(table: EventTable): fc.Arbitrary<EventTables[EventTable]> {
  const text = fc.oneof(fc.constantFrom("", "GET", "a", "a\u0000b", "\u00ff", "\u20ac", "\ud83d\ude00"), fc.string({ maxLength: 40 }));
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constantFrom(0, 2 ** 53, -1));
  const cell = ({ sql, form, nullable }: (typeof EVENT_SCHEMA)[EventTable]["columns"][number]): fc.Arbitrary<unknown> => {
    if (form === "boolean") return fc.boolean();
    if (form === "json") return fc.array(fc.record({ count: fc.nat(), detector: text }, { noNullPrototype: true }), { maxLength: 3 });
    if (sql === "TEXT") return text;
    return nullable ? fc.option(number) : number;
  };
  const cells = Object.fromEntries(EVENT_SCHEMA[table].columns.map((column) => [column.name, cell(column)]));
  return fc.record(cells, { noNullPrototype: true }) as unknown as fc.Arbitrary<EventTables[EventTable]>;
}

for (const table of EVENT_TABLES) {
  test(`rows of ${table} arrive as they were, batch after batch`, () => {
    const batches = fc.array(fc.array(anyRow(table), { maxLength: 150 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(batches, (all) => {
        const packer = new RowPacker(table);
        for (const rows of all) {
          for (const row of rows) packer.push(row);
          assert.equal(packer.rows, rows.length);
          assert.deepEqual(carried(table, packer) as unknown[], rows);
        }
      }),
      { numRuns: 30 },
    );
  });
}

test("a text that stays the same from row to row travels once", () => {
  const packer = new RowPacker("dns_queries");
  const row = {
    at_ms: 1,
    account_id: "account",
    zone_id: "zone",
    query_name: "www.example.com",
    query_type: "A",
    response_code: "NOERROR",
    protocol: "udp",
    ip_version: 4,
    source_ip: "192.0.2.1",
    query_bytes: 30,
    response_bytes: 60,
    sample_interval: 1,
  };
  packer.push(row);
  packer.push({ ...row, query_name: "www.example.net" });
  packer.push({ ...row, query_name: "www.example.net" });
  const { texts, facets } = packer.take();
  assert.deepEqual(
    texts.map(({ text }) => text),
    ["www.example.comwww.example.net", "192.0.2.1"],
  );
  assert.deepEqual(
    facets.map((facet) => facet.texts),
    [
      ["account", "zone"],
      ["A", "NOERROR", "udp"],
    ],
  );
  for (const { combinations } of facets) assert.deepEqual([...combinations], [0, 0, 0]);
});
