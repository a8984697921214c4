import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { someAudit } from "../../../test/support/audit.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createRecentChanges } from "./recent-changes.ts";
import type { Store } from "./store.ts";

const set = (rev: number) => ({ rev, changes: [{ kind: "serial", id: `${rev}`, value: `{"serial":${rev}}` }] });
const found = (rev: number) => ({ rev, changes: [{ kind: "serial", id: `${rev}`, value: { serial: rev } }], chars: 12 });

test("recent changes have no gap, and none of another history", () => {
  const recent = createRecentChanges();
  const revs = (after: number, limit = 10, history = "h") => recent.after(history, after, limit)?.map(({ rev }) => rev) ?? null;
  assert.equal(revs(0), null);
  recent.committed("h", [set(1), set(2), set(3)]);
  assert.deepEqual([revs(0), revs(1), revs(1, 1)], [[1, 2, 3], [2, 3], [2]]);
  assert.deepEqual(recent.after("h", 2, 10), [{ rev: 3, changes: [{ kind: "serial", id: "3", value: { serial: 3 } }] }]);
  assert.deepEqual([revs(3), revs(9), revs(0, 10, "other")], [null, null, null], "only the database knows");
  recent.committed("h", [set(5)]);
  assert.deepEqual([revs(2), revs(3), revs(4)], [null, null, [5]], "another process has revision 4");
  recent.committed("h2", []);
  assert.deepEqual([revs(4), revs(4, 10, "h2")], [null, null]);
  recent.committed("h2", [set(6)]);
  assert.deepEqual(revs(5, 10, "h2"), [6]);
});

test("after another process may have committed, the database is asked, and its newest answer counts", () => {
  const recent = createRecentChanges();
  const revs = (after: number) => recent.after("h", after, 10)?.map(({ rev }) => rev) ?? null;
  recent.committed("h", [set(1)]);
  recent.othersCommitted();
  assert.equal(revs(0), null);
  const before = recent.asking();
  recent.othersCommitted();
  before("h", [found(2)], 2);
  assert.equal(revs(0), null, "it was asked before the second one");
  const part = recent.asking();
  part("h", [found(3)], 7);
  assert.equal(revs(0), null, "it has more");
  const other = recent.asking();
  other("h2", [found(4)], 4);
  assert.equal(revs(0), null);
  recent.asking()("h", [found(3), found(4)], 4);
  assert.deepEqual(revs(0), [1, 2, 3, 4]);
  recent.committed("h", [set(4), set(5)]);
  assert.deepEqual(revs(3), [4, 5], "each once");
});

test("recent changes are bounded in number and in size", () => {
  const recent = createRecentChanges();
  for (let rev = 1; rev <= 2_000; rev++) recent.committed("h", [set(rev)]);
  assert.equal(recent.after("h", 1_000, 5_000), null);
  assert.equal(recent.after("h", 1_900, 5_000)?.length, 100);
  const large = (rev: number) => ({ rev, changes: [{ kind: "staged", id: "a", value: JSON.stringify({ a: "x".repeat(1_500_000) }) }] });
  recent.committed("h", [large(2_001), large(2_002)]);
  assert.deepEqual([recent.after("h", 2_000, 1), recent.after("h", 2_001, 5)?.length], [null, 1]);
});

const commit = (store: Store, id: string) =>
  store.write(async (unit) => {
    unit.change({ kind: "serial", id, value: { serial: 1 } });
    unit.audit(someAudit);
  });

storeTest(
  "a reader gets each commit once and in order, those of this process from memory, those of others from the database",
  async ({ store, open }) => {
    const other = await open();
    const { history } = await store.position();
    const seen: string[] = [];
    let at = 0;
    const follow = async (): Promise<void> => {
      for (const { rev, changes } of (await store.changesSince(at, 100, history)) ?? assert.fail("changes are gone")) {
        assert.equal(rev, at + 1);
        at = rev;
        seen.push(...changes.map(({ id }) => id));
      }
    };
    await commit(store, "own");
    // As if the database had nothing: memory answers.
    await store.write(({ db }) => sql`UPDATE changes SET id = 'from the database'`.execute(db));
    await follow();
    assert.deepEqual(seen, ["own"]);
    await Promise.all([commit(other, "of another"), commit(store, "a"), commit(other, "b"), commit(store, "c")]);
    await eventually(async () => {
      await follow();
      return at === 5;
    });
    assert.deepEqual(seen.toSorted(), ["a", "b", "c", "of another", "own"]);
    assert.deepEqual(await store.changesSince(5, 100, history), []);
  },
);
