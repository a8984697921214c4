import { rememberLastOfTwo } from "#rules/text/memo.ts";
import type { Program } from "#rules/seclang/program/program.ts";
import { createEngine, type SecLangEngine } from "#rules/seclang/run/engine.ts";
import type { RuleMatch } from "#rules/seclang/run/outcome.ts";
import type { RequestView } from "#rules/views.ts";
import { transactionOf } from "./transaction-of.ts";

/** The Core Rule Set that a thread uses. */
export interface CoreRuleSet {
  readonly program: Program;
  /** Of the files that it was read from, SHA-256 in hexadecimal. */
  readonly digest: string;
  /** Makes its engine, which takes a while, unless that was done. */
  prepare(): void;
  /** What it finds in a request at a level of paranoia, by the numbers of its rules. Each request is asked once. */
  find(request: RequestView, paranoia: number): ReadonlyMap<number, CoreMatch>;
}

/** A rule that a request hit. */
export interface CoreMatch {
  readonly number: number;
  /** For every value that it hit. */
  readonly score: number;
  /** The first of them: a collection of ModSecurity's, a name in it, and the value. */
  readonly part: string;
  readonly name: string;
  readonly value: string;
}

export function createCoreRuleSet(program: Program, digest: string): CoreRuleSet {
  // Made when the first zone wants it: no zone needs it by itself.
  let engine: SecLangEngine | undefined;
  return {
    program,
    digest,
    prepare: () => void (engine ??= createEngine(program)),
    find: rememberLastOfTwo((request, paranoia) => findIn((engine ??= createEngine(program)), request, paranoia)),
  };
}

function findIn(engine: SecLangEngine, request: RequestView, paranoia: number): ReadonlyMap<number, CoreMatch> {
  const level = String(paranoia);
  const transaction = engine.begin(transactionOf(request), {
    detectsOnly: true,
    hasTexts: false,
    variables: { paranoia_level: level, executing_paranoia_level: level, blocking_paranoia_level: level, detection_paranoia_level: level },
  });
  transaction.requestHeaders();
  const { matches } = transaction.requestBody();
  return new Map(matches.filter(({ points }) => points !== 0).map((match) => [match.id, matchOf(match)]));
}

function matchOf({ id, points, variables }: RuleMatch): CoreMatch {
  const { name = "", value = "" } = variables[0] ?? {};
  const colon = name.indexOf(":");
  return {
    number: id,
    score: points,
    part: colon === -1 ? name : name.slice(0, colon),
    name: colon === -1 ? "" : name.slice(colon + 1),
    value: value.slice(0, VALUE_CHARACTERS_MAX),
  };
}

const VALUE_CHARACTERS_MAX = 200;
