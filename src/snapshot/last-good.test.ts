import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import type { Op } from "./entries.ts";
import { readLastGood, readLastGoodRevision, writeLastGood } from "./last-good.ts";

function temporaryPath(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-last-good-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "last-good");
}

const OPS: readonly Op[] = Array.from({ length: 20_000 }, (_, i) => ({ kind: "serial", id: `zone-${i} ✓\n`, value: { serial: i } }));

test("what was written is read back, over many chunks", async (t) => {
  const path = temporaryPath(t);
  await writeLastGood(path, { rev: 7, ops: OPS });
  assert.deepEqual(await readLastGood(path, assert.fail), { rev: 7, ops: OPS });
  await writeLastGood(path, { rev: 8, ops: [] });
  assert.deepEqual(await readLastGood(path, assert.fail), { rev: 8, ops: [] });
  assert.equal(await readLastGoodRevision(path, assert.fail), 8);
  assert.equal(existsSync(`${path}.new`), false);
});

test("no copy is no error", async (t) => {
  assert.equal(await readLastGood(temporaryPath(t), assert.fail), null);
});

test("any changed, added or missing byte is refused and logged", async (t) => {
  const path = temporaryPath(t);
  await writeLastGood(path, { rev: 7, ops: OPS.slice(0, 5) });
  const good = readFileSync(path);
  const refused = async (bytes: Uint8Array): Promise<void> => {
    writeFileSync(path, bytes);
    for (const read of [readLastGood, readLastGoodRevision]) {
      const logged: string[] = [];
      assert.equal(await read(path, (level) => logged.push(level)), null);
      assert.deepEqual(logged, ["error"]);
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const changed = Buffer.from(good);
      changed[at]! ^= flip;
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
  await writeLastGood(path, { rev: 7, ops: [] });
  writeFileSync(path, readFileSync(path, "utf8").replace('"format":1', '"format":2'));
  const reasons: unknown[] = [];
  assert.equal(await readLastGood(path, (_level, _message, fields) => reasons.push(fields?.["reason"])), null);
  assert.match(String(reasons[0]), /format is 2/);
});
