/**
 * Compares the SecLang engine with libmodsecurity, rule by rule, over generated requests, and the cost of both over
 * three benign ones: `node tools/crs-compare.ts [COUNT [SEED [CRS_DIRECTORY]]]`. Needs gcc and Debian's packages
 * libmodsecurity-dev and modsecurity-crs. Prints how many requests match the same rules, how many do if differences
 * with a known reason are excluded (`REASONS`, ADR 0224), and each difference with an example.
 */
import { dirname, join } from "node:path";
import { readCoreRulesFiles } from "#app/waf/core-rules-files.ts";
import { withFixedVariables } from "#rules/seclang/program/with-fixed-variables.ts";
import { readProgram } from "#rules/seclang/program/read-program.ts";
import { urlDecodeUni } from "#rules/seclang/transformations/encodings.ts";
import { createEngine, type SecLangEngine } from "#rules/seclang/run/engine.ts";
import { costRequests, generatedRequests } from "./crs/generated-requests.ts";
import { createLibModSecurity, type LibModSecurity, readingSettings } from "./crs/libmodsecurity.ts";
import type { StageInput } from "./crs/regression-tests.ts";
import { transactionOf } from "./crs/test-transaction.ts";

/** A difference in which this program follows the manual or the Core Rule Set, for the named rules and requests only. */
interface Reason {
  readonly why: string;
  /** `+` before rules that match only here, `-` before those that match only in libmodsecurity. */
  readonly ids: readonly string[];
  readonly fits?: (request: StageInput) => boolean;
}

const isForm = ({ headers }: StageInput): boolean => headers.some(([, value]) => value.startsWith("application/x-www-form-urlencoded"));
const both = (...ids: readonly number[]): readonly string[] => ids.flatMap((id) => [`+${id}`, `-${id}`]);
const has =
  (pattern: RegExp) =>
  ({ uri, data, headers }: StageInput): boolean =>
    pattern.test(urlDecodeUni(urlDecodeUni(`${uri} ${data} ${headers.map(([, value]) => value).join(" ")}`)).replaceAll('\\"', '"'));

const REASONS: readonly Reason[] = [
  {
    why: "REQUEST_BODY: of forms alone, as both manuals say; libmodsecurity has it for every body",
    ids: ["-920272", "-920273", "-944120"],
    fits: (request) => request.data !== "" && !isForm(request),
  },
  { why: "REQUEST_URI: not decoded, as both manuals say; libmodsecurity decodes it", ids: ["+920272", "-930110", ...both(920_220)] },
  { why: "backslashes in quotes: as Apache reads them, for which CRS 3.3 is written", ids: both(920_460, 932_200, 942_440) },
  {
    why: "parts of several lines: libmodsecurity leaves line feeds without a carriage return out of values",
    ids: ["+", "-"],
    fits: ({ data }) => data.startsWith("--") && /[^\r]\n/.test(data),
  },
  {
    why: "searches with names, comparisons and conditions: no SQL, though libinjection takes some for it",
    ids: ["-942100"],
    fits: has(/\b\w+\s(?:[=~]|!=|in \()\s?.{1,80}\b(?:and|or|order by)\b|\w -\w+ or \(\w+ and \w+\)/i),
  },
  { why: "the comparison == of SQLite, which libinjection does not have", ids: ["+942100"], fits: has(/==/) },
  {
    why: "statements behind the end of a text that libinjection does not have",
    ids: ["+942100"],
    fits: has(/(?:['"]\)*|\b1|=)\s*;\s*(?:alter|create|truncate|shutdown|sleep|exec|select\s+lo_)/i),
  },
  { why: "a comment behind a name in quotes", ids: ["+942100"], fits: has(/\w'\s*;?\s*(?:--|#)/) },
  {
    why: "an operator and a name behind a quote, which databases compute and shells run",
    ids: ["+942100"],
    fits: has(/["']\s?(?:[|&]{1,2}|&amp;)\s?\w+\s/),
  },
  {
    why: "injections that databases run and for which libinjection has no fingerprint",
    ids: ["+942100"],
    fits: has(/\bor 1=1 with |gtid_subset|db_name\(\)|sqlite_master|procedure\s+analyse|\(select case|json_extract|\bor \d+ between \d/i),
  },
  {
    why: "words and prices with brackets, and code: no SQL, though libinjection takes some for it",
    ids: ["-942100"],
    fits: has(/\b\w+ \(\w+\) \[[\d.,]+\]|if \(x > 1|print\(f"|while\(true\)/),
  },
  { why: "commands, for which other rules are: no SQL", ids: ["-942100"], fits: has(/;\s?(?:node|awk) |&&\s?netstat/) },
  { why: "markup, for which detectXSS is: no SQL", ids: ["-942100"], fits: has(/\bon\w+\s?=|javascript:/i) },
  { why: "queries in Cypher: no SQL", ids: ["-942100"], fits: has(/'\s?\}\)|\bmatch \(n\)/i) },
  {
    why: "parts: libmodsecurity leaves the line end before a delimiter in values",
    ids: ["-921110"],
    fits: ({ data }) => data.startsWith("--"),
  },
  {
    why: "parts that end with an empty line: libmodsecurity does not find in them the line that it finds in a form",
    ids: ["+932115"],
    fits: ({ data }) => data.startsWith("--") && data.includes("\r\n\r\n--"),
  },
  {
    why: "references to entities: libmodsecurity leaves them out of the text of XML",
    ids: both(942_430, 942_431, 942_432),
    fits: has(/<!ENTITY/),
  },
  {
    why: "normalizePath: libmodsecurity takes a word before .. for a part of it, and drops the segment before",
    ids: ["+932190"],
    fits: has(/ \.\.\//),
  },
  { why: "%u in forms, which IIS decodes, and so does the reader here", ids: ["+930100"], fits: has(/\.\.\\/) },
  {
    why: "a NUL in a value: libmodsecurity's transformations after urlDecodeUni lose what stands behind it",
    ids: ["+941100", "+941110", "+941160"],
    fits: has(/\0/),
  },
  { why: "a script within a tag: deleting what is found leaves a script", ids: ["+941100"], fits: has(/<scr<script>ipt>/i) },
  {
    why: "templates with a backtick, at which Internet Explorer ended comments: other rules find code",
    ids: ["-941100"],
    fits: has(/<[?%]=.*`/),
  },
  {
    why: "code, formulas, style sheets and sentences: no SQL, though libinjection takes some for it",
    ids: ["-942100"],
    fits: has(/(?:import \{ x \}|char\(10\) is|sin\(x\)|var\(--|throw new Error|\(a\) or \(b\)|null or undefined|[\x80-\xff]{12})/),
  },
  {
    why: "sentences that this engine takes for SQL, and libinjection does not: a fault here",
    ids: ["+942100"],
    fits: has(/either 1 or 2, and 3 = 3|Sleep \(8 hours\)/),
  },
];

const TURNS = 4;
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
  let explained = 0;
  for (const [i, request] of requests.entries()) {
    const [a, b] = [new Set(idsOf(engine, request)), new Set(expected[i]!.filter(isOfRequests))];
    const apart = [...[...a].filter((id) => !b.has(id)).map((id) => `+${id}`), ...[...b].filter((id) => !a.has(id)).map((id) => `-${id}`)];
    const isOf = (id: string, { ids, fits }: Reason): boolean =>
      ids.some((one) => one === id || one === id[0]) && fits?.(request) !== false;
    const reasons = apart.map((id) => REASONS.find((reason) => isOf(id, reason))?.why ?? id);
    for (const reason of new Set(reasons)) add(reason, request);
    if (apart.length === 0) same++;
    else if (reasons.every((reason, at) => reason !== apart[at])) explained++;
  }
  const share = (part: number): string => `${((100 * part) / requests.length).toFixed(1)} %`;
  console.log(
    `${same} of ${requests.length} requests have the same rules (${share(same)}), and ${share(same + explained)} but for differences with a reason`,
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
    let [own, other] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    // A server has served before, and other processes share the machine: the least of several counts.
    for (let turn = 0; turn < TURNS; turn++) {
      for (let round = 0; round < rounds; round++) own = Math.min(own, cpuOf(engine, requests));
      other = Math.min(other, theirs.cpuMicros(requests, Math.ceil(rounds / TURNS)));
    }
    console.log(`${name}: ${own.toFixed(0)} µs of CPU, libmodsecurity ${other.toFixed(0)} µs: 1/${(other / own).toFixed(1)}`);
  }
  theirs.close();
}

/** The engine of a level, as the edge has it. */
interface Own {
  readonly engine: SecLangEngine;
  readonly variables: Readonly<Record<string, string>>;
}

function at(paranoia: number): readonly [Own, LibModSecurity] {
  const [setup, ...rules] = files.rules;
  const variables = { paranoia_level: String(paranoia), executing_paranoia_level: String(paranoia) };
  const program = readProgram({
    files: [setup!, readingSettings, ...rules],
    dataFile: (name, beside) => files.words.get(join(dirname(beside), name)) ?? null,
  });
  return [
    { engine: createEngine(withFixedVariables(program, variables)), variables },
    createLibModSecurity(
      files.rules.map(({ name }) => name),
      paranoia,
    ),
  ];
}

/** Microseconds of CPU for one of the requests. */
function cpuOf(engine: Own, requests: readonly StageInput[]): number {
  const before = process.cpuUsage();
  for (const request of requests) idsOf(engine, request);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests.length;
}

function idsOf({ engine, variables }: Own, request: StageInput): readonly number[] {
  const transaction = engine.begin(transactionOf(request), { detectsOnly: true, hasTexts: false, variables });
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
