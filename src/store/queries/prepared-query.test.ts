import assert from "node:assert/strict";
import { storeTest } from "../../../test/support/store.ts";
import { prepareQuery } from "./prepared-query.ts";

storeTest("parameters are filled in per call, wherever and however often the query uses them", async ({ store }) => {
  let built = 0;
  const query = prepareQuery((db, name: string, value: string) => {
    built++;
    return db
      .selectFrom("secrets")
      .select(["name", "value"])
      .where((eb) => eb.or([eb("name", "=", name), eb("value", "=", value), eb("value", "=", name)]))
      .where("created_on", "=", "2026-01-01")
      .orderBy("name");
  });
  for (const name of ["a", "b", "c"]) {
    await store.write(({ db }) => db.insertInto("secrets").values({ name, value: name.toUpperCase(), created_on: "2026-01-01" }).execute());
  }
  const names = async (...parameters: [string, string]) => (await query(store.read, ...parameters)).map((row) => row.name);
  assert.deepEqual(await names("a", "C"), ["a", "c"]);
  assert.deepEqual(await names("B", "nothing"), ["b"]);
  assert.deepEqual(await names("nothing", "nothing"), []);
  assert.equal((await store.write(({ db }) => query(db, "c", ""))).result.length, 1);
  assert.equal(built, 1, "the query was built again");
});
