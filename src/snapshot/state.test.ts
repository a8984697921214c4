import assert from "node:assert/strict";
import { test } from "node:test";
import { dump } from "../../test/support/feed.ts";
import type { Op, StagedRecord } from "./entries.ts";
import { createSnapshotState } from "./state.ts";

const record = (id: string): StagedRecord => ({
  id,
  name: `${id}.example.com`,
  type: "A",
  ttl: 300,
  content: "192.0.2.1",
  rdata: "wAACAQ==",
  proxied: false,
  settings: { flatten_cname: true },
});
const staged = (importId: string, number: number, ...ids: readonly string[]): Op => ({
  kind: "staged",
  id: `${importId}/${number}`,
  value: { import_id: importId, zone_id: "zone", records: ids.map(record) },
});
const release = (importId: string, records: number): Op => ({ kind: "release", id: importId, value: { zone_id: "zone", records } });

test("staged records are nobody's until their import is released, then all of them are there", () => {
  const state = createSnapshotState();
  state.apply(1, [staged("one", 0, "a", "b")]);
  state.apply(2, [staged("two", 0, "x")]);
  state.apply(3, [staged("one", 1, "c")]);
  assert.deepEqual([...state.entries("record")], []);

  const applied = state.apply(4, [release("one", 3), { kind: "serial", id: "zone", value: { serial: 2 } }]);
  assert.deepEqual(
    applied.map(({ kind, id, value, before }) => [kind, id, value === null, before === undefined]),
    [
      ["record", "a", false, true],
      ["record", "b", false, true],
      ["staged", "one/0", true, false],
      ["record", "c", false, true],
      ["staged", "one/1", true, false],
      ["serial", "zone", false, true],
    ],
  );
  const { id: _, ...entry } = record("b");
  assert.deepEqual(state.get("record", "b"), { zone_id: "zone", ...entry });
  assert.deepEqual(
    dump(state).map(({ kind, id }) => `${kind} ${id}`),
    ["serial zone", "record a", "record b", "record c", "staged two/0"],
  );
});

test("an import that is given up leaves nothing; a release of records that are not all here is refused", () => {
  const state = createSnapshotState();
  state.replace(1, [staged("one", 0, "a"), staged("two", 0, "x"), { kind: "release", id: "one", value: null }]);
  assert.deepEqual(
    dump(state).map(({ id }) => id),
    ["two/0"],
  );
  assert.throws(() => state.apply(2, [release("two", 2)]), /an import of 2 records is released, of which 1 are here/);
  assert.equal(state.rev, 1);
});
