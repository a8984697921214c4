import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createInserter } from "./inserter.ts";
import { type Cell, storedColumns, tableStatements } from "./schema.ts";

test("the inserter stores each of several identical rows", () => {
  const db = new DatabaseSync(":memory:");
  for (const statement of tableStatements()) db.exec(statement);
  const cells = storedColumns("dns_queries").map((column): Cell => (column.facet !== null || column.sql === "INTEGER" ? 7 : "same"));
  createInserter(db, "dns_queries")(Array.from({ length: 45 }, () => cells).flat());
  assert.equal(db.prepare("SELECT COUNT(*) AS n FROM dns_queries").get()?.["n"], 45);
  db.close();
});

test("property: rows are stored unchanged, with consecutive numbers, whatever values they share", () => {
  const columns = storedColumns("dns_queries");
  const cells = columns.map((column): readonly Cell[] =>
    column.facet !== null || column.sql === "INTEGER" ? [7, 1, 2] : ["same", "", "?1"],
  );
  /** In some columns all rows have the same, in others hardly any. */
  const rows = fc.tuple(...columns.map(() => fc.integer({ min: 0, max: 3 }))).chain((kinds) =>
    fc.array(fc.tuple(...cells.map((known, i) => (kinds[i] === 0 ? fc.constantFrom(...known) : fc.constant(known[0]!)))), {
      minLength: 15,
      maxLength: 90,
      size: "max",
    }),
  );
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
