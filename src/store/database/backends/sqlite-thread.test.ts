import assert from "node:assert/strict";
import { sql } from "kysely";
import { storeTest } from "../../../../test/support/store.ts";

storeTest("a scan sees committed data, cannot write, and fails like a read", async ({ store, dialect }) => {
  await store.write(({ db }) => db.insertInto("secrets").values({ name: "ü", value: "v", created_on: "2026" }).execute());
  const scanned = await store.scan.selectFrom("secrets").selectAll().execute();
  assert.deepEqual(scanned, await store.read.selectFrom("secrets").selectAll().execute());
  assert.equal(scanned.length, 1);
  await assert.rejects(sql`SELECT nothing FROM secrets`.execute(store.scan), /nothing/);
  if (dialect === "sqlite")
    await assert.rejects(store.scan.deleteFrom("secrets").execute(), (error: Error) => /readonly/.test(String(error.cause)));
  assert.equal((await store.scan.selectFrom("secrets").selectAll().execute()).length, 1, "an error ends nothing but its own query");
});
