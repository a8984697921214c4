import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { prunePrograms } from "./kept-programs.ts";

test("what has not been used for longest goes, and nothing else", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-programs-"));
  const elsewhere = mkdtempSync(join(tmpdir(), "selvedge-elsewhere-"));
  t.after(() => [directory, elsewhere].forEach((path) => rmSync(path, { recursive: true, force: true })));
  writeFileSync(join(elsewhere, "kept"), "x".repeat(5000));
  for (const [name, day] of [
    ["newest", 4],
    ["oldest", 1],
    ["newer", 3],
    ["older", 2],
  ] as const) {
    const path = join(directory, name);
    writeFileSync(path, "x".repeat(100));
    utimesSync(path, day * 86_400, day * 86_400);
  }
  symlinkSync(join(elsewhere, "kept"), join(directory, "link"));
  mkdirSync(join(directory, "folder"));
  assert.equal(await prunePrograms(directory, 400), 0, "no more than there may be");
  assert.equal(await prunePrograms(directory, 399), 3, "half of it stays");
  assert.deepEqual(readdirSync(directory).sort(), ["folder", "link", "newest"]);
  assert.deepEqual(readdirSync(elsewhere), ["kept"]);
  assert.equal(await prunePrograms(join(directory, "none"), 1), 0);
});
