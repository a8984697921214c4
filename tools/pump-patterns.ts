import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { NOT_PUMPED } from "./lint/linear-rule.ts";
import { loadedPatterns } from "./lint/loaded-patterns.ts";
import { pump, PUMP_MS_MAX } from "./lint/pump.ts";
import { type MarkedPattern, PUMPED_FILE, pumpedKey } from "./lint/pumped.ts";

// Tries the patterns that are marked `// linear:` and have changed, and records those that pass; the linter requires
// each of them to be recorded.

const { stdout } = spawnSync("oxlint", ["--format=json", "src"], {
  encoding: "utf8",
  env: { ...process.env, SELVEDGE_PUMP: "all" },
  maxBuffer: 64 * 1024 * 1024,
});
const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly { readonly message: string; readonly filename: string }[] };
const marked = diagnostics.flatMap(({ message, filename }) =>
  message.startsWith(NOT_PUMPED) ? [{ filename, pattern: JSON.parse(message.slice(NOT_PUMPED.length)) as MarkedPattern }] : [],
);
for (const { file, pattern, isProven } of await loadedPatterns()) if (!isProven) marked.push({ filename: file, pattern });

const known = new Set(JSON.parse(readFileSync(PUMPED_FILE, "utf8")) as string[]);
const kept = new Set<string>();
for (const { filename, pattern } of marked) {
  const key = pumpedKey(pattern);
  const slow = known.has(key) || kept.has(key) ? undefined : pump(pattern);
  if (slow === undefined) kept.add(key);
  else {
    console.error(`${filename}: /${pattern.source}/${pattern.flags}`);
    console.error(
      `  takes ${slow.ms.toFixed(0)} ms on ${pattern.bytes} bytes of ${JSON.stringify(slow.piece)}; allowed are ${PUMP_MS_MAX}`,
    );
    process.exitCode = 1;
  }
}
writeFileSync(PUMPED_FILE, `${JSON.stringify([...kept].toSorted(), null, 2)}\n`);
console.log(`${kept.size} of ${marked.length} marked patterns are linear`);
