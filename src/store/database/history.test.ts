import assert from "node:assert/strict";
import { someAudit } from "../../../test/support/audit.ts";
import { storeTest } from "../../../test/support/store.ts";
import { isSameInstallation } from "./history.ts";
import type { Store } from "./store.ts";

const change = (store: Store, id: string) =>
  store.write(async (unit) => {
    unit.change({ kind: "zone", id, value: {} });
    unit.audit(someAudit);
  });

/** As a restore from a dump leaves the counter, in the same database. */
const putBack = (store: Store, rev: number) =>
  store.write(async ({ db }) => {
    await db.deleteFrom("changes").where("rev", ">", rev).execute();
    await db.updateTable("counters").set({ value: rev }).where("name", "=", "rev").execute();
  });

storeTest("a history is created with the database, and survives restarts on all nodes", async ({ store, open }) => {
  const { history, rev } = await store.position();
  assert.match(history, /^[0-9a-f]{32}$/);
  assert.equal(rev, 0);
  await change(store, "a");
  const other = await open();
  assert.deepEqual(await other.position(), { history, rev: 1 });
  assert.deepEqual(await store.readAt(async (_db, at, of) => [at, of]), [1, history]);
  assert.equal((await store.changesSince(0, 10, history))?.length, 1);
  assert.equal(await store.changesSince(0, 10, "0".repeat(32)), null, "another history's revision means nothing here");
});

storeTest("the first node that reads a rolled-back database starts a new history", async ({ store, open }) => {
  const other = await open();
  for (const id of ["a", "b", "c"]) await change(store, id);
  const before = await other.position();
  assert.equal(before.rev, 3);
  await putBack(store, 1);
  let told = 0;
  other.onCommit(() => told++);
  assert.equal(await other.changesSince(3, 10, before.history), null);
  const after = await other.position();
  assert.notEqual(after.history, before.history);
  assert.ok(isSameInstallation(after.history, before.history));
  assert.deepEqual(after.rev, 1);
  assert.equal(told, 1, "planes have to hear of it");
  assert.deepEqual(await store.position(), after, "one restore is one history, on every node");
  await change(store, "d");
  assert.deepEqual(await other.position(), { history: after.history, rev: 2 });
});

storeTest("a write that finds the database rolled back belongs to the new history", async ({ store }) => {
  for (const id of ["a", "b"]) await change(store, id);
  const before = await store.position();
  await putBack(store, 0);
  const { rev } = await change(store, "c");
  assert.equal(rev, 1);
  const after = await store.position();
  assert.notEqual(after.history, before.history);
  assert.equal(await store.changesSince(1, 10, before.history), null);
});

storeTest("a copy of the database elsewhere starts a new history", async ({ store, open }) => {
  await change(store, "a");
  const before = await store.position();
  await store.write(({ db }) => db.updateTable("counters").set({ identity: "another database" }).where("name", "=", "rev").execute());
  // Further than anybody had seen, as where it was used elsewhere in between.
  const node = await open();
  const after = await node.position();
  assert.notEqual(after.history, before.history);
  assert.equal(await store.changesSince(1, 10, before.history), null);
  assert.deepEqual(await store.position(), after);
});

storeTest("an operator can declare that the database was restored", async ({ store }) => {
  await change(store, "a");
  const before = await store.position();
  const after = await store.renewHistory();
  assert.notEqual(after.history, before.history);
  assert.deepEqual(await store.position(), after);
  await change(store, "b");
  assert.deepEqual(await store.position(), { history: after.history, rev: 2 });
});
