import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { readCopy } from "../../../test/support/feed.ts";
import type { Delta, Op } from "#snapshot/entries.ts";
import { NO_HISTORY, writeBaseFile } from "./base-file.ts";
import type { Position } from "#snapshot/feed.ts";
import { createJournal } from "./journal.ts";
import { checkLastGood, journalPath } from "./last-good.ts";

function temporaryPath(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-last-good-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "last-good");
}

const at = (rev: number): Position => ({ history: "h", rev });

const OPS: readonly Op[] = Array.from({ length: 20_000 }, (_, i) => ({ kind: "serial", id: `zone-${i} ✓\n`, value: { serial: i } }));

test("a written copy is read back, also across many chunks", async (t) => {
  const path = temporaryPath(t);
  await writeBaseFile(path, at(7), [OPS]);
  assert.deepEqual(await readCopy(path, assert.fail), { history: "h", rev: 7, ops: OPS });
  await writeBaseFile(path, at(8), [[]]);
  assert.deepEqual(await readCopy(path, assert.fail), { history: "h", rev: 8, ops: [] });
  assert.equal((await checkLastGood(path, assert.fail))?.journal.rev, 8);
  assert.equal(existsSync(`${path}.new`), false);
});

test("a missing copy is not an error", async (t) => {
  assert.equal(await readCopy(temporaryPath(t), assert.fail), null);
});

test("property: a copy with any changed, added or missing byte is refused and logged", async (t) => {
  const path = temporaryPath(t);
  await writeBaseFile(path, at(7), [OPS.slice(0, 5)]);
  const good = readFileSync(path);
  const refused = async (bytes: Uint8Array): Promise<void> => {
    writeFileSync(path, bytes);
    for (const read of [readCopy, checkLastGood]) {
      const logged: string[] = [];
      assert.equal(await read(path, (level) => logged.push(level)), null);
      assert.deepEqual(logged, ["error"]);
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (place, flip) => {
      const changed = Buffer.from(good);
      changed[place]! ^= flip;
      await refused(changed);
    }),
    { numRuns: 60 },
  );
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), async (length) => refused(good.subarray(0, length))),
    { numRuns: 40 },
  );
  await refused(Buffer.concat([good, Buffer.from("\n")]));
});

test("a copy of another format is refused", async (t) => {
  const path = temporaryPath(t);
  await writeBaseFile(path, at(7), [[]]);
  writeFileSync(path, readFileSync(path, "utf8").replace('"format":1', '"format":2'));
  const reasons: unknown[] = [];
  assert.equal(await readCopy(path, (_level, _message, fields) => reasons.push(fields?.["reason"])), null);
  assert.match(String(reasons[0]), /format is 2/);
});

const delta = (rev: number): Delta => ({ from: rev - 1, rev, ops: [{ kind: "serial", id: "a", value: { serial: rev } }] });

test("a journal continues the base file, and a truncated journal gives an older revision", async (t) => {
  const path = temporaryPath(t);
  const base = await writeBaseFile(path, at(7), [[]]);
  const journal = await createJournal(journalPath(path), base);
  await journal.append([delta(8), delta(9)]);
  await journal.append([delta(10)]);
  await journal.close();
  assert.deepEqual(await readCopy(path, assert.fail), { history: "h", rev: 10, ops: [8, 9, 10].flatMap((rev) => delta(rev).ops) });
  const whole = readFileSync(journalPath(path));
  let last = 7;
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(journalPath(path), whole.subarray(0, length));
    const { rev, ops } = (await readCopy(path, assert.fail))!;
    assert.equal(ops.length, rev - 7);
    assert.ok(rev === last || rev === last + 1);
    last = rev;
  }
  assert.equal(last, 10);
});

test("a journal is read up to its first bad line, which is logged", async (t) => {
  const path = temporaryPath(t);
  const journal = await createJournal(journalPath(path), await writeBaseFile(path, at(7), [[]]));
  await journal.append([delta(8), delta(9)]);
  await journal.close();
  const good = readFileSync(journalPath(path));
  const read = async (bytes: Uint8Array) => {
    writeFileSync(journalPath(path), bytes);
    const logged: string[] = [];
    const copy = await readCopy(path, (level) => logged.push(level));
    return { rev: copy?.rev, logged };
  };
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 2), fc.integer({ min: 1, max: 255 }), async (place, flip) => {
      const changed = Buffer.from(good);
      changed[place]! ^= flip;
      const { rev, logged } = await read(changed);
      assert.ok(rev === 7 || rev === 8);
      assert.deepEqual(logged, ["error"]);
    }),
    { numRuns: 60 },
  );
  const skipping = await createJournal(journalPath(path), (await checkLastGood(path, () => {}))!.base);
  await skipping.append([delta(8), delta(10)]);
  await skipping.close();
  assert.deepEqual(await read(readFileSync(journalPath(path))), { rev: 8, logged: ["error"] });
});

test("a journal of another base file is ignored", async (t) => {
  const path = temporaryPath(t);
  const journal = await createJournal(journalPath(path), await writeBaseFile(path, at(7), [OPS.slice(0, 1)]));
  await journal.append([delta(8)]);
  await journal.close();
  await writeBaseFile(path, at(7), [OPS.slice(1, 2)]);
  assert.deepEqual(await readCopy(path, assert.fail), { history: "h", rev: 7, ops: OPS.slice(1, 2) });
});

test("a copy without a history is read, with its journal", async (t) => {
  const path = temporaryPath(t);
  const none = { history: NO_HISTORY, rev: 7 };
  const journal = await createJournal(journalPath(path), await writeBaseFile(path, none, [OPS.slice(0, 1)]));
  assert.doesNotMatch(readFileSync(journalPath(path), "utf8"), /history/);
  await journal.append([delta(8)]);
  await journal.close();
  assert.deepEqual(await readCopy(path, assert.fail), { history: NO_HISTORY, rev: 8, ops: [...OPS.slice(0, 1), ...delta(8).ops] });
});
