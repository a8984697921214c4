/**
 * Runs the Core Rule Set's own test suite: `node tools/crs-regression.ts CRS_DIRECTORY [TESTS_DIRECTORY] [--edge]
 * [--unfiltered] [--only TEST]`. Neither is part of this repository. Prints how many of the tests pass, and the names
 * of the others. `--edge` sends each request over a socket to an edge and takes the rules from its events;
 * `--unfiltered` also compares with an engine that evaluates every rule.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createEngine, type SecLangEngine } from "#rules/seclang/run/engine.ts";
import { type EdgeAnswer, hostsIn, startEdgeClient } from "./crs/edge-client.ts";
import { loadForTests } from "./crs/load-directory.ts";
import { readTests, type Stage, type StageInput } from "./crs/regression-tests.ts";
import { responseOf, transactionOf } from "./crs/test-transaction.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { edge: { type: "boolean" }, unfiltered: { type: "boolean" }, only: { type: "string" } },
});
const [directory, testsDirectory = join(directory ?? "", "tests/regression/tests")] = positionals;
if (directory === undefined) {
  console.error("usage: node tools/crs-regression.ts CRS_DIRECTORY [TESTS_DIRECTORY] [--edge] [--unfiltered] [--only TEST]");
  process.exit(2);
}

const program = loadForTests(directory);
const engine = createEngine(program);
const naive = values.unfiltered === true ? createEngine(program, { isFiltered: false }) : null;
const tests = readTests(testsDirectory);
const inputs = tests.flatMap(({ stages }) => stages.map(({ input }) => input));
const edge = values.edge === true ? await startEdgeClient(program, hostsIn(inputs)) : null;
const ofRules = tests.filter(({ stages }) => stages.some(({ isOfServer }) => !isOfServer));
const failures: string[] = [];
/** Tests with a request that the edge answers itself, before rules, by the status of the answer. */
const refused = new Map<number, string[]>();
let differences = 0;

for (const { name, stages } of ofRules) {
  if (values.only !== undefined && name !== values.only) continue;
  const wrong = await firstFault(name, stages);
  if (wrong !== null) failures.push(`${name}: ${wrong}`);
}
await edge?.close();
for (const failure of failures) console.log(failure);
for (const [status, names] of refused)
  console.log(`${names.length} tests have a request that the edge answers with ${status} itself: ${names.join(" ")}`);
console.log(`${ofRules.length - failures.length} of ${ofRules.length} tests pass; ${tests.length - ofRules.length} are about web servers`);
if (naive !== null) console.log(`the prefilter differs in ${differences}`);

async function firstFault(name: string, stages: readonly Stage[]): Promise<string | null> {
  for (const { input, expected, unexpected } of stages) {
    const { status, ids } = edge === null ? { status: 200, ids: idsOf(engine, input) } : await edge.ask(input);
    if (naive !== null && idsOf(engine, input).join() !== idsOf(naive, input).join()) differences++;
    if (values.only !== undefined) console.log(status, ids.join());
    const missing = expected.filter((id) => !ids.includes(id));
    const surplus = unexpected.filter((id) => ids.includes(id));
    if (missing.length === 0 && surplus.length === 0) continue;
    if (edge !== null && isRefusal({ status, ids })) {
      refused.set(status, [...(refused.get(status) ?? []), name]);
      return null;
    }
    return [missing.length > 0 ? `without ${missing.join()}` : "", surplus.length > 0 ? `with ${surplus.join()}` : ""].join(" ").trim();
  }
  return null;
}

/** No rule sees a request that is not HTTP, or whose host the edge does not serve. */
function isRefusal({ status, ids }: EdgeAnswer): boolean {
  return ids.length === 0 && status !== 200;
}

function idsOf(engine: SecLangEngine, input: StageInput): readonly number[] {
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
