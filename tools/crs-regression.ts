/**
 * Runs the Core Rule Set's own test suite against the SecLang engine: `node tools/crs-regression.ts CRS_DIRECTORY [TESTS_DIRECTORY]`.
 * Neither is part of this repository. Prints how many of the tests pass, and names those that do not.
 */
import { join } from "node:path";
import { createEngine, type SecLangEngine } from "#rules/seclang/run/engine.ts";
import { loadForTests } from "./crs/load-directory.ts";
import { type RegressionTest, readTests, type Stage } from "./crs/regression-tests.ts";
import { responseOf, transactionOf } from "./crs/test-transaction.ts";

const [directory, testsDirectory = join(directory ?? "", "tests/regression/tests"), only] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: node tools/crs-regression.ts CRS_DIRECTORY [TESTS_DIRECTORY [TEST]]");
  process.exit(2);
}

const engine = createEngine(loadForTests(directory));
const naive = createEngine(engine.program, { isFiltered: false });
const tests = readTests(testsDirectory);
const ofRules = tests.filter(({ stages }) => stages.some(({ isOfServer }) => !isOfServer));
const failures: string[] = [];
let differences = 0;
for (const test of ofRules) {
  if (only !== undefined && test.name !== only) continue;
  const wrong = run(test);
  if (wrong !== null) failures.push(`${test.name}: ${wrong}`);
}
for (const failure of failures) console.log(failure);
console.log(
  `${ofRules.length - failures.length} of ${ofRules.length} tests pass; ${tests.length - ofRules.length} are about web servers; the prefilter differs in ${differences}`,
);

function run(test: RegressionTest): string | null {
  for (const stage of test.stages) {
    const found = idsOf(engine, stage);
    if (found.join() !== idsOf(naive, stage).join()) differences++;
    const ids = new Set(found);
    const missing = stage.expected.filter((id) => !ids.has(id));
    const surplus = stage.unexpected.filter((id) => ids.has(id));
    if (missing.length > 0 || surplus.length > 0)
      return [missing.length > 0 ? `without ${missing.join()}` : "", surplus.length > 0 ? `with ${surplus.join()}` : ""].join(" ").trim();
    if (only !== undefined) console.log(found.join());
  }
  return null;
}

function idsOf(engine: SecLangEngine, { input }: Stage): readonly number[] {
  const request = transactionOf(input);
  const response = responseOf(request);
  const transaction = engine.begin(request);
  transaction.requestHeaders();
  transaction.requestBody();
  transaction.responseHeaders(response);
  transaction.responseBody(response);
  return transaction
    .log()
    .matches.filter(({ isLogged }) => isLogged)
    .map(({ id }) => id);
}
