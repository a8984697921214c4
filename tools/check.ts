import { availableParallelism } from "node:os";
import { sharePostgres } from "../test/support/postgres.ts";
import { runStep, STATIC_STEPS, type Step, type StepResult, testFlags, UNIT_TESTS } from "./steps.ts";
import { findTool } from "./system-tools.ts";

const CORES = Math.max(2, availableParallelism());

/**
 * A process for each core runs its share of the unit tests, one file after the other: a process for each file, as in
 * `npm test`, takes twice as long. Tests share no state, so both ways have to pass.
 */
const unitTests = (share: number): Step => ({
  name: `unit tests ${share}/${CORES}`,
  command: "node",
  args: [...testFlags(300_000), "--test-isolation=none", `--test-shard=${share}/${CORES}`, "--test-reporter=spec", ...UNIT_TESTS],
});

// The slowest first.
const steps = [...Array.from({ length: CORES }, (_, i) => unitTests(i + 1)), ...STATIC_STEPS];
const waiting = [...steps];
const started = performance.now();
const postgres = findTool("postgres") === undefined ? undefined : sharePostgres();
let failed = 0;

function report(step: Step, result: StepResult): void {
  const counts = [...result.output.matchAll(/^ℹ (pass|fail|skipped) (\d+)$/gm)].filter(([, , count]) => count !== "0");
  const detail = counts.map(([, word, count]) => `${count} ${word}`).join(", ");
  console.log(`${result.passed ? "ok  " : "FAIL"} ${step.name.padEnd(20)} ${result.seconds.toFixed(1).padStart(5)} s  ${detail}`.trimEnd());
  if (result.passed) return;
  failed++;
  // Of the test runner's output, what passed is of no interest here.
  const failures = result.output.indexOf("✖ failing tests:");
  console.log(`\n${result.output.slice(Math.max(0, failures)).trim()}\n`);
}

async function work(): Promise<void> {
  for (let step = waiting.shift(); step; step = waiting.shift()) report(step, await runStep(step));
}

await Promise.all(Array.from({ length: CORES }, work));
await postgres?.stop();
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(failed === 0 ? `all checks passed in ${seconds} s` : `${failed} of ${steps.length} checks failed in ${seconds} s`);
process.exitCode = failed === 0 ? 0 : 1;
