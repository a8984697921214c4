/**
 * Compares the SecLang engine with libmodsecurity, rule by rule, over generated requests, and what both cost over three harmless ones:
 * `node tools/crs-compare.ts [COUNT [SEED [CRS_DIRECTORY]]]`. Needs gcc and Debian's packages libmodsecurity-dev and modsecurity-crs. Prints how
 * many requests have the same rules, how many more but for differences that are known (`KNOWN`), and each other difference with an example.
 */
import { dirname, join } from "node:path";
import { readCoreRulesFiles } from "#app/waf/core-rules-files.ts";
import { readProgram } from "#rules/seclang/program/read-program.ts";
import { createEngine, type SecLangEngine } from "#rules/seclang/run/engine.ts";
import { costRequests, generatedRequests } from "./crs/generated-requests.ts";
import { compareSettings, createLibModSecurity, type LibModSecurity } from "./crs/libmodsecurity.ts";
import type { StageInput } from "./crs/regression-tests.ts";
import { transactionOf } from "./crs/test-transaction.ts";

interface Known {
  readonly why: string;
  /** `+` before rules that are found here alone, `-` before those of libmodsecurity alone; absent: whichever. */
  readonly ids?: readonly string[];
  readonly fits?: (request: StageInput) => boolean;
}

const isForm = ({ headers }: StageInput): boolean => headers.some(([, value]) => value.startsWith("application/x-www-form-urlencoded"));
const both = (...ids: readonly number[]): readonly string[] => ids.flatMap((id) => [`+${id}`, `-${id}`]);

const KNOWN: readonly Known[] = [
  {
    why: "REQUEST_BODY: libmodsecurity has it for every body, ModSecurity 2 and its manual for forms alone",
    ids: ["-920272", "-920273"],
    fits: (request) => request.data !== "" && !isForm(request),
  },
  { why: "REQUEST_URI: libmodsecurity decodes it, ModSecurity 2 and its manual do not", ids: ["+920272", ...both(920_220)] },
  {
    why: "backslashes in quotes: read as Apache reads them, and not by libmodsecurity (ADR 0080)",
    ids: both(920_460, 930_110, 932_200, 942_440),
  },
  {
    why: "parts of several lines: libmodsecurity leaves line feeds without a carriage return out of values",
    fits: ({ data }) => data.startsWith("--") && /[^\r]\n/.test(data),
  },
  { why: "detectSQLi and detectXSS: written here, not libinjection (ADR 0080)", ids: both(941_100, 942_100) },
];

const [count = "5200", seed = "7", directory = "/usr/share/modsecurity-crs"] = process.argv.slice(2);
const files = readCoreRulesFiles(directory);

compare(generatedRequests(Number(count), Number(seed)));
cost();

function compare(requests: readonly StageInput[]): void {
  const [engine, theirs] = at(4);
  const expected = theirs.idsOf(requests);
  theirs.close();
  const differences = new Map<string, { requests: number; example: StageInput }>();
  const add = (name: string, request: StageInput): void => {
    const known = differences.get(name);
    differences.set(name, { requests: (known?.requests ?? 0) + 1, example: known?.example ?? request });
  };
  let same = 0;
  let known = 0;
  for (const [i, request] of requests.entries()) {
    const [a, b] = [new Set(idsOf(engine, request)), new Set(expected[i]!.filter(isOfRequests))];
    const apart = [...[...a].filter((id) => !b.has(id)).map((id) => `+${id}`), ...[...b].filter((id) => !a.has(id)).map((id) => `-${id}`)];
    const reasons = apart.map((id) => KNOWN.find(({ ids, fits }) => ids?.includes(id) !== false && fits?.(request) !== false)?.why ?? id);
    for (const reason of new Set(reasons)) add(reason, request);
    if (apart.length === 0) same++;
    else if (reasons.every((reason, at) => reason !== apart[at])) known++;
  }
  const share = (part: number): string => `${((100 * part) / requests.length).toFixed(1)} %`;
  console.log(
    `${same} of ${requests.length} requests have the same rules (${share(same)}), and ${share(same + known)} but for known differences`,
  );
  for (const [name, { requests: many, example }] of [...differences].sort(([, a], [, b]) => b.requests - a.requests))
    console.log(
      `${many}: ${name}: ${JSON.stringify([example.method, example.uri, example.data.slice(0, 160), example.headers.slice(-1)]).slice(0, 300)}`,
    );
}

/** Both engines over the same requests, at the level of paranoia that a new installation has. */
function cost(): void {
  const [engine, theirs] = at(1);
  for (const [name, { requests, rounds }] of Object.entries(costRequests())) {
    for (const request of requests) idsOf(engine, request);
    const before = process.cpuUsage();
    for (let round = 0; round < rounds; round++) for (const request of requests) idsOf(engine, request);
    const { user, system } = process.cpuUsage(before);
    const own = (user + system) / (rounds * requests.length);
    const other = theirs.cpuMicros(requests, rounds);
    console.log(`${name}: ${own.toFixed(0)} µs of CPU, libmodsecurity ${other.toFixed(0)} µs: 1/${(other / own).toFixed(1)}`);
  }
  theirs.close();
}

function at(paranoia: number): readonly [SecLangEngine, LibModSecurity] {
  const [setup, ...rules] = files.rules;
  const program = readProgram({
    files: [setup!, compareSettings(paranoia), ...rules],
    dataFile: (name, beside) => files.words.get(join(dirname(beside), name)) ?? null,
  });
  return [
    createEngine(program),
    createLibModSecurity(
      files.rules.map(({ name }) => name),
      paranoia,
    ),
  ];
}

function idsOf(engine: SecLangEngine, request: StageInput): readonly number[] {
  const transaction = engine.begin(transactionOf(request), { detectsOnly: true, hasTexts: false });
  transaction.requestHeaders();
  return transaction
    .requestBody()
    .matches.filter(({ isLogged, id }) => isLogged && isOfRequests(id))
    .map(({ id }) => id);
}

/** Rules about the request itself, not about sums of scores. */
function isOfRequests(id: number): boolean {
  return id >= 911_000 && id < 949_000;
}
