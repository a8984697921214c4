import { availableParallelism } from "node:os";
import { runStep, type Step, type StepResult } from "./steps.ts";

/** One more than cores, since tests wait as well. */
const CONCURRENCY = Math.max(2, availableParallelism()) + 1;

/** Runs the steps in order of priority and reports each one when it ends. Returns the outputs of the failed ones, by name. */
export async function runSteps(steps: readonly Step[]): Promise<ReadonlyMap<string, string>> {
  const waiting = [...steps];
  const failures = new Map<string, string>();
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const result = await runStep(step);
      report(step, result);
      if (!result.passed) failures.set(step.name, failureOf(result.output));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return failures;
}

function report(step: Step, { passed, output, seconds }: StepResult): void {
  const counts = [...output.matchAll(/^ℹ (pass|fail|skipped) (\d+)$/gm)].filter(([, , count]) => count !== "0");
  const detail = counts.map(([, word, count]) => `${count} ${word}`).join(", ");
  console.log(`${passed ? "ok  " : "FAIL"} ${step.name.padEnd(24)} ${seconds.toFixed(1).padStart(5)} s  ${detail}`.trimEnd());
}

/** Of the test runner's output, only the tests that failed. */
const failureOf = (output: string): string => output.slice(Math.max(0, output.indexOf("✖ failing tests:"))).trim();

export function printFailures(failures: ReadonlyMap<string, string>): void {
  for (const [name, output] of failures) console.log(`\nFAIL ${name}\n${output}`);
}
