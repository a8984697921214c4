import { sharePostgres } from "../test/support/postgres.ts";
import { forgetTimes, printSlowest } from "./file-times.ts";
import { printFailures, runSteps } from "./quick-checks.ts";
import { STATIC_STEPS } from "./steps.ts";
import { findTool } from "./system-tools.ts";
import { unitTestSteps } from "./unit-tests.ts";

const SLOWEST = 10;
// `npm run check -- --static` leaves the unit tests out.
const isStatic = process.argv.includes("--static");
const started = performance.now();
const postgres = isStatic || findTool("postgres") === undefined ? undefined : sharePostgres();
forgetTimes();
const steps = isStatic ? STATIC_STEPS : [...STATIC_STEPS, ...unitTestSteps()];
const failures = await runSteps(steps);
await postgres?.stop();
printFailures(failures);
if (!isStatic) printSlowest(SLOWEST);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(
  failures.size === 0 ? `all checks passed in ${seconds} s` : `${failures.size} of ${steps.length} checks failed in ${seconds} s`,
);
process.exitCode = failures.size === 0 ? 0 : 1;
