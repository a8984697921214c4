import type { Program } from "#rules/seclang/program/program.ts";
import { withFixedVariables } from "#rules/seclang/program/with-fixed-variables.ts";
import { createEngine, type SecLangEngine } from "#rules/seclang/run/engine.ts";
import type { ExcludedTarget, Transaction } from "#rules/seclang/run/transaction.ts";
import type { TransactionResponse } from "#rules/seclang/transaction/transaction.ts";
import type { Outcome, RuleMatch } from "#rules/seclang/run/outcome.ts";
import type { Matched } from "#rules/managed/matched-part.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";
import { requestProgram, responseProgram } from "./core-rows.ts";
import { responseOf, transactionOf } from "./transaction-of.ts";

/** The Core Rule Set that a thread uses. */
export interface CoreRuleSet {
  readonly program: Program;
  /** SHA-256 of the files that it was read from, in hexadecimal. */
  readonly digest: string;
  /** Builds its engine for a paranoia level, which takes a while, unless it exists. */
  prepare(paranoia: number): void;
  /** Finds its rules at a paranoia level. Each request is evaluated once per level, for all callers. */
  find(paranoia: number): Find;
  /** The same for rules that exclude some values. */
  findExcepting(paranoia: number, excluded: readonly ExcludedTarget[]): Find;
}

/**
 * Finds the matching rules, by their numbers. `response`: null in request phases; to explain a match, null means the last
 * evaluated response.
 */
export type Find = (request: RequestView, response: ResponseView | null) => CoreMatches;

export type CoreMatches = ReadonlyMap<number, CoreMatch>;

/** A rule that a request hit. */
export interface CoreMatch {
  readonly number: number;
  /** For every value that it hit. */
  readonly score: number;
  /** Each of the first matched parts once: a ModSecurity variable, a name in it, and the value. */
  readonly places: readonly Matched[];
}

export const createCoreRuleSet = (program: Program, digest: string): CoreRuleSet =>
  createRules(program, digest, ({ points }) => points !== 0, levelsOf(requestProgram(program)));

/** The same set as it judges responses. */
export const createCoreResponseRules = (program: Program, digest: string): CoreRuleSet =>
  createRules(responseProgram(program), digest, ({ points, phase }) => points !== 0 && phase > 2, levelsOf(responseProgram(program)));

/** A customer's rules: each that applies counts, whether or not it adds to a score. */
export const createCustomerRules = (program: Program, digest: string): CoreRuleSet =>
  createRules(
    program,
    digest,
    () => true,
    () => program,
  );

/** The part of a program that runs at each level of paranoia. */
const levelsOf =
  (program: Program) =>
  (paranoia: number): Program =>
    withFixedVariables(program, variablesOf(paranoia));

type Variables = Readonly<Record<string, string>>;

/** One object for each level: an engine remembers by it what its first rules do. */
const variablesOf = (paranoia: number): Variables => variablesByLevel[paranoia] ?? variablesAt(String(paranoia));
const variablesAt = (level: string): Variables => ({
  ...{ paranoia_level: level, executing_paranoia_level: level },
  ...{ blocking_paranoia_level: level, detection_paranoia_level: level },
});
const variablesByLevel: readonly Variables[] = ["0", "1", "2", "3", "4"].map(variablesAt);

/** `at`: the part of the program that runs at a level. */
function createRules(
  program: Program,
  digest: string,
  counts: (match: RuleMatch) => boolean,
  at: (paranoia: number) => Program,
): CoreRuleSet {
  // Made when the first zone wants it: no zone needs it by itself. Levels at which the same program runs share one.
  const engines = new Map<Program | number, SecLangEngine>();
  const made = (paranoia: number): SecLangEngine => {
    let engine = engines.get(paranoia);
    if (engine === undefined) {
      const running = at(paranoia);
      engine = engines.get(running) ?? createEngine(running);
      engines.set(paranoia, engine).set(running, engine);
    }
    return engine;
  };
  const findExcepting: CoreRuleSet["findExcepting"] = (paranoia, excluded) =>
    rememberLast((request, response) => findIn(made(paranoia), request, response, paranoia, excluded, counts));
  const finds = new Map<number, Find>();
  return {
    program,
    digest,
    prepare: (paranoia) => void made(paranoia),
    find: (paranoia) => {
      let find = finds.get(paranoia);
      if (find === undefined) finds.set(paranoia, (find = findExcepting(paranoia, [])));
      return find;
    },
    findExcepting,
  };
}

function rememberLast(find: Find): Find {
  let known: { readonly request: RequestView; readonly response: ResponseView | null; readonly matches: CoreMatches } | undefined;
  return (request, response) => {
    if (known === undefined || known.request !== request || (response !== null && known.response !== response))
      known = { request, response, matches: find(request, response) };
    return known.matches;
  };
}

function findIn(
  engine: SecLangEngine,
  request: RequestView,
  response: ResponseView | null,
  paranoia: number,
  excluded: readonly ExcludedTarget[],
  counts: (match: RuleMatch) => boolean,
): CoreMatches {
  const variables = variablesOf(paranoia);
  const transaction = engine.begin(transactionOf(request), { detectsOnly: true, hasTexts: false, excluded, variables });
  transaction.requestHeaders();
  const outcome = transaction.requestBody();
  const { matches } = response === null ? outcome : judged(transaction, responseOf(response));
  return new Map(matches.filter(counts).map((match) => [match.id, matchOf(match)]));
}

function judged(transaction: Transaction, response: TransactionResponse): Outcome {
  transaction.responseHeaders(response);
  return transaction.responseBody(response);
}

function matchOf({ id, points, variables, entries }: RuleMatch): CoreMatch {
  const places: Matched[] = [];
  // Without the match of its first link the chain would not match; later links inspect the same values, or variables set by rules.
  for (const { name: variable, value } of variables.slice(0, entries)) {
    if (places.length === PLACES_MAX) break;
    const colon = variable.indexOf(":");
    const [part, name] = colon === -1 ? [variable, ""] : [variable.slice(0, colon), variable.slice(colon + 1)];
    if (!places.some((known) => known.part === part && known.name === name))
      places.push({ part, name, value: value.slice(0, VALUE_CHARACTERS_MAX) });
  }
  return { number: id, score: points, places };
}

const PLACES_MAX = 16;
const VALUE_CHARACTERS_MAX = 200;
