import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { sharePostgres } from "../test/support/postgres.ts";
import { propertySeed } from "../test/support/property.ts";
import { filesThatFailed, forgetResults, printSlowest, resultsOf } from "./file-results.ts";
import { endLateChildren } from "./late-children.ts";
import { printFailures, runSteps } from "./quick-checks.ts";
import { ROOT, STATIC_STEPS, stepEnvironment } from "./steps.ts";
import { findTool, inCi, provideTools } from "./system-tools.ts";
import { sharedSystemSteps, systemTests } from "./system-tests.ts";
import { unitTestSteps, withoutNativeStep } from "./unit-tests.ts";

/** The rounds of the fault tests take minutes on a busy machine. */
const FILE_TIMEOUT_MS = 600_000;
/**
 * The runner has a timeout per test and not per file: a file that leaves a socket open would keep the run from ending.
 * A machine may be five times slower than ours.
 */
const RUN_TIMEOUT_MS = 3_600_000;
/** A test of a whole system waits more than it computes: for servers to start, timers, disks. */
const SYSTEM_FILES_PER_CORE = 2;
/** More than so many files that fail at once are a fault of the code, not of the moment. */
const AGAIN_MAX = 3;
const SLOWEST = 20;

// `npm test -- FILE…` runs only these; without files everything runs: the steps of `npm run check`, then the system tests.
const asked = process.argv.slice(2);

for (const tool of provideTools("test")) {
  console.error(`${inCi() ? "missing" : "tests will be skipped"}: ${tool.name} (Debian package ${tool.debianPackage}) ${tool.purpose}`);
}
console.error(`property tests: SELVEDGE_SEED=${propertySeed}`);

const postgres = findTool("postgres") === undefined ? undefined : sharePostgres();
// Built once here, so that the servers of test/ need not build concurrently; without a build they run from the sources.
if (asked.length === 0 || asked.some((file) => file.startsWith("test/")))
  spawnSync("node", ["tools/build.ts"], { cwd: ROOT, env: stepEnvironment(), stdio: "inherit" });
process.exitCode = asked.length > 0 ? (await run(asked, availableParallelism())).exitCode : await runAll();
await postgres?.stop();

async function runAll(): Promise<number> {
  forgetResults();
  const units = [...sharedSystemSteps(), ...unitTestSteps(), withoutNativeStep()];
  const failures = await runSteps([...STATIC_STEPS, ...units]);
  const systems = await run(systemTests().alone, SYSTEM_FILES_PER_CORE * availableParallelism() + 1);
  printSlowest(SLOWEST);
  printFailures(failures);
  if (failures.size === 0 && systems.exitCode === 0) return 0;
  const failedUnits = units.filter(({ name }) => failures.has(name));
  const { failedFiles } = systems;
  // A static check that failed, and a run that broke down, are not tried again.
  if (failedUnits.length < failures.size || (systems.exitCode !== 0 && failedFiles.length === 0)) return 1;
  if (failedUnits.length + failedFiles.length > AGAIN_MAX) return 1;
  const names = [...failedUnits.map(({ name }) => name), ...failedFiles].join(", ");
  console.error(`\nfailed beside all others, once more without them: ${names}`);
  const again = await runSteps(failedUnits);
  printFailures(again);
  const exitCode = failedFiles.length === 0 ? 0 : (await run(failedFiles, 1)).exitCode;
  if (again.size > 0) return 1;
  if (exitCode === 0) console.error(`\nUNRELIABLE: failed once (see above) and passed when run again: ${names}`);
  return exitCode;
}

interface Outcome {
  readonly exitCode: number;
  /** None of a run that was stopped. */
  readonly failedFiles: readonly string[];
}

async function run(testFiles: readonly string[], concurrency: number): Promise<Outcome> {
  const name = `run of ${concurrency}`;
  const runner = spawn("node", ["tools/run-files.ts", String(concurrency), String(FILE_TIMEOUT_MS), resultsOf(name), ...testFiles], {
    cwd: ROOT,
    env: stepEnvironment(),
    stdio: "inherit",
  });
  let wasStopped = false;
  const stop = (signal: NodeJS.Signals): void => {
    wasStopped = true;
    runner.kill(signal);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  const late = endLateChildren(runner.pid ?? 0, FILE_TIMEOUT_MS, (pid) =>
    console.error(`a test file has not ended in time (process ${pid})`),
  );
  const limit = setTimeout(() => {
    console.error(`the tests have not ended within ${RUN_TIMEOUT_MS / 60_000} minutes and are stopped`);
    stop("SIGTERM");
  }, RUN_TIMEOUT_MS);
  const exitCode = await new Promise<number>((resolve) => {
    runner.once("error", (error) => {
      console.error(error);
      resolve(1);
    });
    runner.once("exit", (code) => resolve(code ?? 1));
  });
  clearTimeout(limit);
  late.stop();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  return { exitCode, failedFiles: wasStopped || exitCode === 0 ? [] : filesThatFailed(name) };
}
