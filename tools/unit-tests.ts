import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resultFlags } from "./file-results.ts";
import { ROOT, type Step, testFlags, TREE_TESTS } from "./steps.ts";

const UNIT_TESTS = ["src/**/*.test.ts", "tools/**/*.test.ts"];

/** Tests that measure the heap or the idleness of their own process, or use both cores: each runs alone. */
const OWN_PROCESS: ReadonlySet<string> = new Set(["src/kernel/process/heap.test.ts"]);

/** One process runs this many files: one process per file takes twice as long, and one for all would leave a core idle at the end. */
const FILES_PER_PROCESS = 25;
const TEST_TIMEOUT_MS = 300_000;

/** All files of unit tests, by paths from the root, without those that are static checks. */
export const unitTestFiles = (): readonly string[] =>
  UNIT_TESTS.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .filter((path) => !TREE_TESTS.includes(path))
    .sort();

/** The files of unit tests as steps. */
export const unitTestSteps = (files: readonly string[] = unitTestFiles()): readonly Step[] => [
  ...files.filter((file) => OWN_PROCESS.has(file)).map((file) => stepOf(file, [file], TEST_TIMEOUT_MS)),
  ...batchesOf(
    "unit tests",
    files.filter((file) => !OWN_PROCESS.has(file)),
    TEST_TIMEOUT_MS,
  ),
];

/** Steps that each run several of the files in one process. */
export function batchesOf(name: string, files: readonly string[], timeoutMs: number): readonly Step[] {
  const count = Math.max(Math.ceil(files.length / FILES_PER_PROCESS), Math.min(files.length, availableParallelism()));
  // Neighbours are alike, so slow ones are spread.
  return Array.from({ length: count }, (_, i) =>
    stepOf(
      `${name} ${i + 1}/${count}`,
      files.filter((_file, at) => at % count === i),
      timeoutMs,
    ),
  );
}

/** Tests that reach the sockets of each plane. Those that run on both kinds of sockets by themselves are not listed. */
const WITHOUT_NATIVE = [
  ...["http2", "lent-bodies", "proxy-protocol", "request-bodies", "request-rows", "rule-phases", "scanned-bodies", "tls", "worker"].map(
    (name) => `src/edge/${name}.test.ts`,
  ),
  ...["browser-clients", "gateway", "gateway-wire", "native-paths", "streams", "worker"].map((name) => `src/gateway/${name}.test.ts`),
  "src/nameserver/worker.test.ts",
];

/** They must also pass if no part of the planes uses native system calls (`runtime.native`). */
export const withoutNativeStep = (): Step =>
  stepOf("without native calls", ["--import", new URL("without-native.ts", import.meta.url).href, ...WITHOUT_NATIVE], TEST_TIMEOUT_MS);

const stepOf = (name: string, files: readonly string[], timeoutMs: number): Step => ({
  name,
  command: "node",
  args: [
    ...testFlags(timeoutMs),
    "--test-isolation=none",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    ...resultFlags(name),
    ...files,
  ],
});
