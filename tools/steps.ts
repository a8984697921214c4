import { spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";

/** A check that runs as a program: exit code 0 means success. */
export interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface StepResult {
  readonly passed: boolean;
  /** Standard output and error, in the order of their arrival. */
  readonly output: string;
  readonly seconds: number;
}

export const ROOT = dirname(import.meta.dirname);

/** Only changes since the last run are checked again. */
const typesOf = (project: string, cache: string): readonly string[] => [
  ...["--noEmit", "--incremental", "--tsBuildInfoFile", `node_modules/.cache/${cache}.tsbuildinfo`],
  ...["--project", project],
];

/** Tests of documents and of the size of files, which each commit runs. */
export const TREE_TESTS: readonly string[] = [
  "commands",
  "decisions",
  "divergences",
  "links",
  "threat-model",
  "lint/words",
  "lint/folders",
  "lint/exported-names",
  "lint/import-circles",
  "build",
].map((name) => `tools/${name}.test.ts`);

/** Checks of the code that do not run it. */
export const STATIC_STEPS: readonly Step[] = [
  { name: "types", command: "tsc", args: typesOf(".", "selvedge") },
  { name: "dashboard types", command: "tsc", args: typesOf("dashboard", "dashboard") },
  { name: "dashboard build", command: "node", args: ["tools/dashboard.ts", "--check"] },
  { name: "lint", command: "oxlint", args: ["--deny-warnings", "."] },
  { name: "format", command: "oxfmt", args: ["--check", "."] },
  { name: "unused code", command: "knip", args: ["--no-progress"] },
  { name: "generated documents", command: "node", args: ["tools/docs.ts", "--check"] },
  { name: "documents and folders", command: "node", args: ["--test", ...TREE_TESTS] },
];

/**
 * Flags of the test runner. Not --test-force-exit: it ends a file's process before all of its results have been read,
 * and dozens of tests were then missing from the count.
 */
export const testFlags = (timeoutMs: number): readonly string[] => ["--test", `--test-timeout=${timeoutMs}`];

/** Programs of node_modules come first in PATH; all test files share one compile cache. */
export const stepEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/compiled"),
  PATH: `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`,
});

const STEP_TIMEOUT_MS = 1_200_000;

export async function runStep(step: Step): Promise<StepResult> {
  const started = performance.now();
  const child = spawn(step.command, step.args, {
    cwd: ROOT,
    // Output that is shown later, perhaps in a log, has no colours.
    env: { ...stepEnvironment(), FORCE_COLOR: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: STEP_TIMEOUT_MS,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const { promise, resolve } = Promise.withResolvers<boolean>();
  child.once("error", (error) => {
    output += `${step.command} did not start: ${error.message}\n`;
    resolve(false);
  });
  child.once("close", (code) => resolve(code === 0));
  const passed = await promise;
  return { passed, output, seconds: (performance.now() - started) / 1000 };
}
