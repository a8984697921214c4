import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { kyselyOver } from "./kysely-over.ts";
import { DIALECTS } from "./session.ts";
import { writtenBy } from "./written.ts";

test("the data that a query writes is read from its structure, and a query that cannot be read may write anything", async () => {
  const seen: string[] = [];
  const db = kyselyOver(
    DIALECTS.postgres,
    async () => ({ rows: [], affected: 0 }),
    (query) => seen.push(...writtenBy(query)),
  );
  const written = async (query: { execute(): Promise<unknown> }): Promise<string> => {
    seen.length = 0;
    await query.execute();
    return seen.join(" ");
  };
  assert.equal(await written(db.selectFrom("tokens").selectAll()), "");
  assert.equal(await written(db.deleteFrom("tokens").where("id", "=", "a")), "tokens");
  const row = { name: "a", value: "b", created_on: "" };
  assert.equal(await written(db.insertInto("secrets").values(row)), "secrets");
  const replace = db
    .insertInto("secrets")
    .values(row)
    .onConflict((at) => at.column("name").doUpdateSet({ value: "c" }));
  assert.equal(await written(replace), "secrets");
  assert.equal(
    await written(
      db
        .updateTable("zones")
        .set({ serial: 1, record_count: sql<number>`record_count + 1` })
        .where("id", "=", "a"),
    ),
    "zones.serial zones.record_count",
  );
  assert.equal(await written(db.updateTable("zones as z").set({ serial: 1 }).where("id", "=", "a")), "*.serial");
  const removed = db
    .with("gone", (of) => of.deleteFrom("tokens").where("id", "=", "a").returning("id"))
    .selectFrom("gone")
    .selectAll();
  assert.equal(await written(removed), "*");
  assert.equal(await written({ execute: () => sql`DELETE FROM tokens`.execute(db) }), "*");
});
