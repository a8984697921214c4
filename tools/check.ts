import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sharePostgres } from "../test/support/postgres.ts";
import { changesSince } from "./changed-files.ts";
import { forgetResults, printSlowest } from "./file-results.ts";
import { readImportGraph } from "./import-graph.ts";
import { printFailures, runSteps } from "./quick-checks.ts";
import { reachedTests } from "./reached-tests.ts";
import { ROOT, STATIC_STEPS } from "./steps.ts";
import { findTool } from "./system-tools.ts";
import { unitTestFiles, unitTestSteps } from "./unit-tests.ts";

const SLOWEST = 10;
/** As many files of unit tests as two cores run in half a minute. */
const FILES_MAX = 40;

const { argv } = process;
const started = performance.now();
const files = argv.includes("--static") ? [] : filesToRun();
const postgres = files.length === 0 || findTool("postgres") === undefined ? undefined : sharePostgres();
forgetResults();
const steps = [...STATIC_STEPS, ...unitTestSteps(files)];
const failures = await runSteps(steps);
await postgres?.stop();
printFailures(failures);
if (files.length > 0) printSlowest(SLOWEST);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(
  failures.size === 0 ? `all checks passed in ${seconds} s` : `${failures.size} of ${steps.length} checks failed in ${seconds} s`,
);
process.exitCode = failures.size === 0 ? 0 : 1;

/** `--all`: every unit test, like `npm test`. `--since COMMIT`: those reached by the changes since then, by default since main. */
function filesToRun(): readonly string[] {
  const all = unitTestFiles();
  if (argv.includes("--all")) return all;
  const at = argv.indexOf("--since");
  const changes = changesSince(at < 0 ? undefined : argv[at + 1]);
  if (changes === null) {
    console.log("git does not tell what has changed: all unit tests run");
    return all;
  }
  const tests = all.map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
  const reached = reachedTests(changes.files, tests, readImportGraph(ROOT));
  const near = reached.slice(0, FILES_MAX);
  const left = near.length === reached.length ? "" : `; the ${near.length} nearest run, and all with --all`;
  console.log(
    `${changes.files.length} files changed since ${changes.since} reach ${reached.length} of ${all.length} files of unit tests${left}`,
  );
  return near;
}
