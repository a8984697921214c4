import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { createInserter } from "./inserter.ts";
import { type Cell, storedColumns, tableStatements } from "./schema.ts";

test("rows lie as they were given, whatever columns neighbours share, and count on from the first number", () => {
  const columns = storedColumns("dns_queries");
  const cell = columns.map((column): fc.Arbitrary<Cell> => {
    if (column.facet !== null || column.sql === "INTEGER") return fc.oneof({ weight: 8, arbitrary: fc.constant(7) }, fc.nat(3));
    return fc.oneof({ weight: 8, arbitrary: fc.constant("same") }, fc.constantFrom("", "?1", "other"));
  });
  const rows = fc.array(fc.tuple(...cell), { maxLength: 90, size: "max" });
  fc.assert(
    fc.property(rows, fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }), (given, firstRow) => {
      const db = new DatabaseSync(":memory:");
      for (const statement of tableStatements()) db.exec(statement);
      createInserter(db, "dns_queries")(given.flat(), firstRow);
      const found = db.prepare(`SELECT row_id, ${columns.map(({ name }) => name).join(", ")} FROM dns_queries ORDER BY row_id`).all();
      db.close();
      assert.deepEqual(
        found.map((row) => Object.values(row)),
        given.map((cells, i) => [(firstRow ?? 1) + i, ...cells]),
      );
    }),
    { numRuns: 60 },
  );
});
