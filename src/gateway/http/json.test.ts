import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parsedJson, parseJson, scannedJson, TooManyContainersError } from "./json.ts";

test("a text with more objects and arrays than the limit is not parsed", () => {
  const most = 250_000;
  const flat = (count: number): string => `[${"{},".repeat(count - 2)}{}]`;
  assert.equal((parseJson(flat(most)) as object[]).length, most - 1);
  for (const text of [
    flat(most + 1),
    `${"[".repeat(most + 1)}${"]".repeat(most + 1)}`,
    `${'{"a":'.repeat(most + 1)}1${"}".repeat(most + 1)}`,
  ]) {
    assert.throws(() => parseJson(text), TooManyContainersError);
    assert.throws(() => scannedJson(text), TooManyContainersError);
    assert.equal(parsedJson(text), undefined);
  }
  // Numbers cost little, and embeddings have millions of them.
  assert.equal((parseJson(`[${"1,".repeat(1_000_000)}1]`) as number[]).length, 1_000_001);
  assert.equal(scannedJson("not JSON"), undefined);
});

/** They read texts of the gateway itself: its files, entries of the snapshot, and options with at most some kilobytes. */
const OWN_TEXTS = [
  ...["http/json", "limits/spend-limits", "limits/journal", "plans/dynamic-plan", "credentials/stored-keys", "credentials/service-account"],
  ...["providers/custom-providers", "cache/disk-store", "tracing/span-exporter", "usage/custom-cost", "logs/log-options"],
  // Of one string.
  ...["request/request-model", "streams/json-strings", "streams/placed-texts"],
].map((name) => `${name}.ts`);

test("the gateway parses JSON of clients and providers only with parseJson", () => {
  const gateway = join(import.meta.dirname, "../");
  const files = globSync("**/*.ts", { cwd: gateway, exclude: (name) => name.endsWith(".test.ts") || name === "testing" });
  const parsing = files.filter((file) => readFileSync(join(gateway, file), "utf8").includes("JSON.parse("));
  assert.deepEqual(parsing.sort(), [...OWN_TEXTS].sort());
});
