import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { sharePostgres } from "../test/support/postgres.ts";
import { propertySeed } from "../test/support/property.ts";
import { findTool, inCi, provideTools } from "./system-tools.ts";
import { ROOT, stepEnvironment, testFlags, UNIT_TESTS } from "./steps.ts";

/** The rounds of the fault tests take minutes on a busy machine. */
const FILE_TIMEOUT_MS = 600_000;
/** A file that leaves a socket open keeps its process, and so the run, from ending: the runner bounds tests, not files. */
const RUN_TIMEOUT_MS = 1_800_000;

// `npm test -- FILE…` runs only these; without files everything runs, under one summary.
const asked = process.argv.slice(2);
const files = asked.length > 0 ? asked : ["tools/static-checks.ts", ...UNIT_TESTS, "test/**/*.test.ts"];

const missing = provideTools("test");
for (const tool of missing) {
  console.error(`${inCi() ? "missing" : "tests will be skipped"}: ${tool.name} (Debian package ${tool.debianPackage}) ${tool.purpose}`);
}

console.error(`property tests: SELVEDGE_SEED=${propertySeed}`);

const postgres = findTool("postgres") === undefined ? undefined : sharePostgres();
// By default the runner leaves one core idle, which is half of a small machine.
const concurrency = `--test-concurrency=${availableParallelism()}`;
const runner = spawn("node", [...testFlags(FILE_TIMEOUT_MS), concurrency, "--test-reporter=spec", ...files], {
  cwd: ROOT,
  env: stepEnvironment(),
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => runner.kill(signal));
runner.once("error", (error) => {
  console.error(error);
  process.exitCode = 1;
});
const limit = setTimeout(() => {
  console.error(`the tests have not ended within ${RUN_TIMEOUT_MS / 60_000} minutes and are stopped`);
  runner.kill("SIGTERM");
}, RUN_TIMEOUT_MS);
runner.once("exit", async (code) => {
  clearTimeout(limit);
  process.exitCode = code ?? 1;
  await postgres?.stop();
});
