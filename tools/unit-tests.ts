import { globSync } from "node:fs";
import { ROOT, type Step, testFlags } from "./steps.ts";

const UNIT_TESTS = ["src/**/*.test.ts", "tools/**/*.test.ts"];

/** Tests that look at the heap or the quiet of their own process, or keep both cores busy: nothing else runs in it. */
const OWN_PROCESS: ReadonlySet<string> = new Set(["src/kernel/process/heap.test.ts"]);

/** One process runs so many files: starting one for each file takes twice as long, and one for all would leave a core idle at the end. */
const FILES_PER_PROCESS = 25;
const TEST_TIMEOUT_MS = 300_000;

/** The unit tests as steps. `failedFiles` says where the step of this number writes the files that failed. */
export function unitTestSteps(failedFiles?: (step: number) => string): readonly Step[] {
  const files = UNIT_TESTS.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort();
  const shared = files.filter((file) => !OWN_PROCESS.has(file));
  const count = Math.ceil(shared.length / FILES_PER_PROCESS);
  // Neighbours are alike, so slow ones are spread.
  const batches = Array.from({ length: count }, (_, i) => shared.filter((_file, at) => at % count === i));
  const parts: readonly (readonly [name: string, files: readonly string[]])[] = [
    ...[...OWN_PROCESS].map((file) => [file, [file]] as const),
    ...batches.map((batch, i) => [`unit tests ${i + 1}/${count}`, batch] as const),
  ];
  return parts.map(([name, part], i) => {
    const failed = failedFiles?.(i);
    const args = [...testFlags(TEST_TIMEOUT_MS), "--test-isolation=none", ...reporters(failed), ...part];
    return { name, command: "node", args, ...(failed !== undefined && { failedFiles: failed }) };
  });
}

/** What a person reads on standard output, and the paths of the files that failed. */
export function reporters(failedFiles: string | undefined): readonly string[] {
  const spec = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  if (failedFiles === undefined) return spec;
  const failed = new URL("failed-files.ts", import.meta.url).href;
  return [...spec, `--test-reporter=${failed}`, `--test-reporter-destination=${failedFiles}`];
}
