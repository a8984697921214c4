import assert from "node:assert/strict";
import { sql } from "kysely";
import { someAudit } from "../../../test/support/audit.ts";
import { storeTest } from "../../../test/support/store.ts";
import { REVISIONS_RETAINED } from "./outbox.ts";
import type { Store } from "./store.ts";

const commit = (store: Store, ids: readonly string[]) =>
  store.write(async (unit) => {
    for (const id of ids) unit.change({ kind: "serial", id, value: { serial: 1 } });
    unit.audit(someAudit);
  });

storeTest("changesSince pages through revisions and keeps units whole", async ({ store }) => {
  const wide = Array.from({ length: 200 }, (_, i) => `wide-${i}`);
  await commit(store, ["a"]);
  await commit(store, wide);
  await commit(store, ["b", "c"]);
  const ids = async (rev: number, limit: number) =>
    (await store.changesSince(rev, limit))?.map(({ changes }) => changes.map(({ id }) => id));
  assert.deepEqual(await ids(0, 2), [["a"], wide]);
  assert.deepEqual(await ids(2, 2), [["b", "c"]]);
  assert.deepEqual(await ids(3, 2), []);
});

storeTest("trimmed changes and unknown revisions give null", async ({ store }) => {
  for (const id of ["a", "b", "c", "d"]) await commit(store, [id]);
  await store.write(({ db }) => sql`DELETE FROM changes WHERE rev <= 2`.execute(db));
  assert.equal(await store.changesSince(0, 10), null);
  assert.equal(await store.changesSince(1, 10), null);
  assert.equal(await store.changesSince(0, 1), null, "every row of the range is gone");
  assert.equal((await store.changesSince(2, 10))?.length, 2);
  assert.deepEqual(await store.changesSince(4, 10), []);
  assert.equal(await store.changesSince(5, 10), null, "a copy from a history that this database does not have");
});

storeTest("the outbox keeps the newest revisions and deletes older ones", async ({ store }) => {
  await commit(store, ["first"]);
  const nearTrim = REVISIONS_RETAINED + 999;
  await store.write(({ db }) => db.updateTable("counters").set({ value: nearTrim }).where("name", "=", "rev").execute());
  assert.equal((await commit(store, ["last"])).rev, nearTrim + 1);
  assert.deepEqual(await store.read.selectFrom("changes").select("id").execute(), [{ id: "last" }]);
});
