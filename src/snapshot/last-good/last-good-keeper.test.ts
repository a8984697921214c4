import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createTestSource, dump, readCopy } from "../../../test/support/feed.ts";
import { readJournal } from "./journal.ts";
import { createLastGoodKeeper, type LastGoodKeeper } from "./last-good-keeper.ts";
import { checkLastGood, journalPath } from "./last-good.ts";
import type { Op } from "#snapshot/entries.ts";
import { createSnapshotState } from "#snapshot/state.ts";

function fixture(t: TestContext, source = createTestSource()) {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-keeper-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "last-good");
  let fulls = 0;
  const errors: string[] = [];
  const open = (): LastGoodKeeper =>
    createLastGoodKeeper({
      path,
      log: (_level, message) => errors.push(message),
      stream: (use) => {
        fulls++;
        return source.stream(use);
      },
    });
  const commit = (keeper: LastGoodKeeper, count: number, op?: Op): void => {
    for (let i = 0; i < count; i++) {
      const from = source.state.rev;
      const ops = [op ?? ({ kind: "serial", id: `z${from % 7}`, value: { serial: from } } as const)];
      source.commit(ops);
      keeper.add({ from, rev: from + 1, ops }, "history 1");
    }
  };
  const onDisk = async () => {
    const copy = await readCopy(path, assert.fail);
    const state = createSnapshotState();
    if (copy) state.replace(copy.rev, copy.ops);
    return { rev: state.rev, ops: dump(state) };
  };
  const expected = () => ({ rev: source.state.rev, ops: dump(source.state) });
  return { path, open, commit, onDisk, expected, errors, fulls: () => fulls };
}

test("the keeper appends changes to the journal, across restarts, without another full copy", async (t) => {
  const { path, open, commit, onDisk, expected, errors, fulls } = fixture(t);
  const first = open();
  assert.equal(await first.open(), null);
  first.startOver();
  await first.flush();
  commit(first, 20);
  await first.flush();
  assert.deepEqual(await onDisk(), expected());
  commit(first, 1);
  await first.close();
  // As if the power had gone in the middle of a line.
  appendFileSync(journalPath(path), '0123abcd {"from":21,');
  const second = open();
  assert.deepEqual(await second.open(), { history: "history 1", rev: 21 });
  commit(second, 5);
  await second.close();
  assert.deepEqual(await onDisk(), expected());
  assert.equal(fulls(), 1);
  assert.deepEqual(errors, []);
  const { base } = (await checkLastGood(path, assert.fail))!;
  assert.equal((await readJournal(journalPath(path), base, () => {})).ops, 26);
});

test("the keeper merges a large journal into a new base file", async (t) => {
  const { path, open, commit, onDisk, expected, fulls } = fixture(t);
  const keeper = open();
  keeper.startOver();
  await keeper.flush();
  for (let i = 0; i < 6; i++) {
    commit(keeper, 20_000);
    await keeper.flush();
    assert.deepEqual(await onDisk(), expected());
  }
  await keeper.close();
  assert.equal(fulls(), 3);
  assert.ok(statSync(journalPath(path)).size < 4_000_000);
});

test("during a large change the keeper writes no full copy, and afterwards it does", async (t) => {
  const { path, open, commit, onDisk, expected, fulls } = fixture(t);
  const keeper = open();
  keeper.startOver();
  await keeper.flush();
  const stage = { import_id: "i", zone_id: "z", records: [] };
  commit(keeper, 1, { kind: "staged", id: "i/0", value: stage });
  for (let i = 0; i < 3; i++) {
    commit(keeper, 20_000);
    await keeper.flush();
  }
  assert.equal(fulls(), 1);
  commit(keeper, 1, { kind: "release", id: "i", value: { zone_id: "z", records: 0 } });
  await keeper.flush();
  assert.equal(fulls(), 2);
  // A change whose zone has gone never ends.
  commit(keeper, 1, { kind: "staged", id: "j/0", value: { ...stage, import_id: "j" } });
  commit(keeper, 1, { kind: "zone", id: "z", value: null });
  for (let i = 0; i < 3; i++) {
    commit(keeper, 20_000);
    await keeper.flush();
  }
  assert.equal(fulls(), 3);
  await keeper.close();
  assert.deepEqual(await onDisk(), expected());
  assert.ok(statSync(journalPath(path)).size < 4_000_000);
});

test("the keeper keeps changes that arrive during a full copy", async (t) => {
  const { open, commit, onDisk, expected } = fixture(t);
  const keeper = open();
  keeper.startOver();
  const writing = keeper.flush();
  commit(keeper, 3);
  await new Promise(setImmediate);
  commit(keeper, 3);
  await writing;
  commit(keeper, 3);
  await keeper.close();
  assert.deepEqual(await onDisk(), expected());
});

test("the keeper logs a copy that it cannot write, and writes it later", async (t) => {
  const { path, open, commit, onDisk, expected, errors } = fixture(t);
  const keeper = open();
  await mkdir(`${path}.new`);
  keeper.startOver();
  await keeper.flush();
  commit(keeper, 2);
  assert.equal(errors.length, 1);
  await rmdir(`${path}.new`);
  await keeper.close();
  assert.deepEqual(await onDisk(), expected());
});
