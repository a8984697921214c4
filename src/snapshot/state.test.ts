import assert from "node:assert/strict";
import { test } from "node:test";
import { dump } from "../../test/support/feed.ts";
import type { Op, RecordEntry, StagedRecord } from "./entries.ts";
import type { Snapshot } from "./feed.ts";
import { createRecordLayers } from "./record-layers.ts";
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
const put = (id: string): Op => {
  const { id: _, ...value } = record(id);
  return { kind: "record", id, value: { zone_id: "zone", ...value } };
};
const ids = (state: Snapshot): string[] => Array.from(state.entries("record"), ([id]) => id).toSorted();
const release = (importId: string, records: number): Op => ({ kind: "release", id: importId, value: { zone_id: "zone", records } });

test("staged records are invisible until their release, which shows all of them at once", async () => {
  const state = createSnapshotState();
  state.apply(1, [put("old"), staged("one", 0, "a", "b")]);
  state.apply(2, [staged("two", 0, "x")]);
  const old = state.get("record", "old");
  const piece = state.apply(3, [
    staged("one", 1, "c"),
    { ...staged("one", 2), value: { import_id: "one", zone_id: "zone", records: [], removed: ["old"] } } as Op,
  ]);
  assert.deepEqual(
    piece.map((op) => op.kind === "staged" && op.changes.map(({ id, value, before }) => [id, value?.name, before])),
    [[["c", "c.example.com", undefined]], [["old", undefined, old]]],
  );
  assert.deepEqual(ids(state), ["old"]);

  const applied = state.apply(4, [release("one", 4), { kind: "serial", id: "zone", value: { serial: 2 } }]);
  assert.deepEqual(
    applied.map(({ kind, id, value, before }) => [kind, id, value === null, before === undefined]),
    [
      ["release", "one", false, true],
      ["serial", "zone", false, true],
    ],
  );
  const { id: _, ...entry } = record("b");
  assert.deepEqual(state.get("record", "b"), { zone_id: "zone", ...entry });
  assert.equal(state.get("record", "old"), undefined);
  assert.deepEqual(ids(state), ["a", "b", "c"]);
  assert.deepEqual(
    dump(state).map(({ kind, id }) => `${kind} ${id}`),
    ["serial zone", "record a", "record b", "record c", "staged two/x"],
  );
});

test("a discarded change leaves nothing, and a release with missing records is refused", () => {
  const state = createSnapshotState();
  state.replace(1, [staged("one", 0, "a"), staged("two", 0, "x"), { kind: "release", id: "one", value: null }]);
  assert.deepEqual(
    dump(state).map(({ id }) => id),
    ["two/x"],
  );
  assert.throws(() => state.apply(2, [release("two", 2)]), /a change of 2 records was released, but only 1 arrived/);
  assert.equal(state.rev, 1);
});

test("merging released records does not change look-ups, and each tick merges a limited number", async () => {
  const layers = createRecordLayers(100);
  const entry = (id: string): RecordEntry => ({ zone_id: "zone", ...record(id) });
  for (let i = 0; i < 2_000; i++) layers.stage("one", "zone", `a${i}`, entry(`a${i}`));
  layers.release("one");
  for (let i = 0; i < 1_000; i++) layers.stage("two", "zone", `a${i}`, null);
  layers.release("two");
  layers.put("a1500", null);
  layers.put("a3", entry("again"));
  let turns = 0;
  for (; turns < 40; turns++) {
    assert.equal(layers.get("a2"), undefined);
    assert.equal(layers.get("a3")?.name, "again.example.com");
    assert.equal(layers.get("a1999")?.name, "a1999.example.com");
    assert.equal([...layers.entries()].length, 1_000);
    await new Promise(setImmediate);
  }
});

test("one tick merges few of a change's records", async () => {
  const layers = createRecordLayers();
  for (let i = 0; i < 1_280; i++) layers.stage("one", "zone", `a${i}`, null);
  layers.release("one");
  let ticks = 0;
  for (; layers.isFolding(); ticks++) await new Promise(setImmediate);
  assert.ok(ticks >= 10, `${ticks} ticks`);
});
