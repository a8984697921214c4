import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "./steps.ts";

const read = (name: string): Readonly<Record<string, unknown>> => JSON.parse(readFileSync(join(ROOT, name), "utf8"));

test("each dependency with an install script is listed in allowScripts, and none may run it", () => {
  const locked = Object.entries(read("package-lock.json")["packages"] as Record<string, { hasInstallScript?: boolean }>);
  const scripted = locked
    // The first entry is this package.
    .filter(([path, { hasInstallScript }]) => path !== "" && hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  const named = read("package.json")["allowScripts"] as Record<string, boolean>;
  assert.ok(scripted.length > 0);
  assert.deepEqual(
    [...new Set(scripted)].filter((name) => named[name] !== false),
    [],
  );
});

test("npx runs the command of a checkout, as the guides say", async (t) => {
  const cache = mkdtempSync(join(tmpdir(), "selvedge-npx-"));
  t.after(() => rmSync(cache, { recursive: true, force: true }));
  const env = { ...process.env, npm_config_cache: cache };
  const { stdout } = await promisify(execFile)("npx", ["selvedge", "--version"], { cwd: ROOT, env, timeout: 120_000 });
  assert.equal(stdout.trim(), read("package.json")["version"]);
});
