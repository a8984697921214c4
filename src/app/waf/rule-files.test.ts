import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Config, loadConfig } from "#app/config/config.ts";
import { openRuleFiles, type RuleFiles } from "./rule-files.ts";

const defaults = loadConfig({ argv: [], env: {}, readFile: () => "" });
const config: Config = { ...defaults, waf: { ...defaults.waf, crs_directory: "none" } };

/** Rule files without a Core Rule Set, and how often they were read. */
function opened(t: TestContext): { readonly files: RuleFiles; readings(): number } {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rule-files-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  let readings = 0;
  const files = openRuleFiles({
    config,
    files: { coreRules: join(directory, "crs"), lastCoreRules: join(directory, "crs.last-good") },
    followsControl: false,
    // Each reading logs what it has found.
    log: { info: () => void readings++, warn: () => undefined, error: () => undefined },
    onChanged: () => undefined,
  });
  t.after(() => files.close());
  return { files, readings: () => readings };
}

test("a hundred concurrent reloads cause one more read, with the newest configuration", async (t) => {
  const { files, readings } = opened(t);
  const invalid = { ...config, rules: { ...config.rules, managed_lists_directory: "/nowhere" } };
  await Promise.all([...Array.from({ length: 99 }, () => files.reload(invalid)), files.reload(config)]);
  assert.equal(readings(), 3, "at the start, for the first request, and for all others");
  await files.reload(config);
  assert.equal(readings(), 4);
});

test("closing ends the current read and starts no other", async (t) => {
  const { files, readings } = opened(t);
  const read = [files.reload(config), files.reload(config)];
  files.close();
  await Promise.all(read);
  await files.reload(config);
  await delay(50);
  assert.equal(readings(), 1);
});
