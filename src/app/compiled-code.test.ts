import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pruneCompiledCode } from "./compiled-code.ts";

test("what has not been used for longest goes, of whatever version, and nothing else", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-compiled-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const kept = join(directory, "elsewhere");
  writeFileSync(kept, "x".repeat(5000));
  for (const [version, name, day] of [
    ["v1", "oldest", 1],
    ["v2", "older", 2],
    ["v1", "newer", 3],
    ["v2", "newest", 4],
  ] as const) {
    mkdirSync(join(directory, version), { recursive: true });
    const path = join(directory, version, name);
    writeFileSync(path, "x".repeat(100));
    utimesSync(path, day * 86_400, day * 86_400);
  }
  symlinkSync(kept, join(directory, "v1", "link"));
  const left = (): string[] => ["v1", "v2"].flatMap((version) => readdirSync(join(directory, version))).sort();
  assert.equal(await pruneCompiledCode(directory, 400), 0, "no more than there may be");
  assert.equal(await pruneCompiledCode(directory, 399), 3, "half of it stays");
  assert.deepEqual(left(), ["link", "newest"]);
  assert.deepEqual(readdirSync(directory).sort(), ["elsewhere", "v1", "v2"]);
  assert.equal(await pruneCompiledCode(join(directory, "none"), 1), 0);
});
