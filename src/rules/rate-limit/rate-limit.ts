import { type Exhausted, exhaustedAt } from "../budget.ts";
import type { RegexTable } from "#rules/regex/regex-table.ts";
import { compileExpression, compileValue, ExpressionError, type ExpressionOptions } from "#rules/expression/expression.ts";
import { arrayOf, INTEGER, IP, STRING } from "#rules/expression/values/value-type.ts";
import type { Predicate } from "#rules/views.ts";
import type { RuleDefinition, RulesetDefinition } from "#rules/definition.ts";
import type { RequestView, ResponseView } from "../views.ts";
import type { RateCounters, RateWindow } from "./counter-table.ts";

/** A rule's `ratelimit`, as its shape lets it through. */
export interface RateLimitParameters {
  readonly characteristics: readonly string[];
  /** Seconds. */
  readonly period: number;
  readonly requests_per_period?: number;
  readonly mitigation_timeout?: number;
  readonly counting_expression?: string;
  readonly requests_to_origin?: boolean;
  readonly score_per_period?: number;
  readonly score_response_header_name?: string;
  /** Ours: how windows follow each other. */
  readonly technique?: "fixed" | "sliding";
}

/** A limit of one rule. */
export interface CompiledLimit {
  /**
   * Counts the request if it can be counted now, and returns whether the rule's action applies; `applies` is the result
   * of its expression. A count that must wait for the response is added to `later`.
   */
  trips(request: RequestView, applies: boolean, later: LaterCount[]): boolean;
}

/** A count that needs the response. */
export interface LaterCount {
  /** `fromOrigin`: the response is the origin's own, and not one of the cache or the edge. */
  count(request: RequestView, response: ResponseView, fromOrigin: boolean): void;
  /** Recorded for the request if counting spends its steps. */
  readonly exhausted: Exhausted;
}

type Read = (request: RequestView, response: ResponseView | null) => unknown;

/** The one data centre that there is: clients name it among the characteristics. */
const PLACE = "cf.colo.id";

/** Throws ExpressionError for a characteristic or a counting expression that cannot be understood. */
export function compileLimit(
  rule: RuleDefinition,
  ruleset: Pick<RulesetDefinition, "id" | "phase">,
  counters: RateCounters,
  options: ExpressionOptions,
): CompiledLimit {
  const { phase } = ruleset;
  const parameters = rule.ratelimit as unknown as RateLimitParameters;
  const reads = parameters.characteristics.filter((name) => name !== PLACE).map((name) => compileCharacteristic(name, phase, options));
  const most = parameters.score_per_period ?? parameters.requests_per_period ?? 0;
  const window: RateWindow = { periodMs: parameters.period * 1000, technique: parameters.technique ?? "sliding", limit: most };
  const keepOutMs = (parameters.mitigation_timeout ?? 0) * 1000;
  const scoreHeader = parameters.score_per_period === undefined ? undefined : parameters.score_response_header_name?.toLowerCase();
  const counted = countedBy(parameters, phase, options);
  const exhausted = exhaustedAt(rule, ruleset, "", false);
  const waits = counted.needsResponse || parameters.requests_to_origin === true || scoreHeader !== undefined;

  const reached = (key: string, amount: number, nowMs: number): boolean => {
    const sum = counters.add(key, amount, window, nowMs);
    if (Math.floor(sum) > most && keepOutMs > 0) counters.keepOut(key, nowMs + keepOutMs, nowMs);
    return sum > most;
  };

  return {
    trips: (request, applies, later) => {
      const nowMs = counters.nowMs();
      let key = rule.id;
      for (const read of reads) key += `\0${String(read(request, null) ?? "")}`;
      // A blocked client is not counted further: the time starts with the request that exceeded the limit.
      if (keepOutMs > 0 && counters.keptOutUntil(key, nowMs) > 0) return applies;
      if (!waits)
        return counted.applies === null
          ? applies && reached(key, 1, nowMs)
          : counted.applies(request, null)
            ? reached(key, 1, nowMs) && applies
            : applies && counters.add(key, 0, window, nowMs) > most;
      const mayCount = applies || counted.applies !== null;
      if (mayCount) {
        later.push({
          exhausted,
          count: (counting, response, fromOrigin) => {
            if (parameters.requests_to_origin === true && !fromOrigin) return;
            if (counted.applies !== null && !counted.applies(counting, response)) return;
            const amount = scoreHeader === undefined ? 1 : scoreOf(response.headers(scoreHeader)[0]);
            if (amount > 0) reached(key, amount, nowMs);
          },
        });
      }
      return applies && counters.add(key, 0, window, nowMs) >= (scoreHeader === undefined ? most : most + 1);
    },
  };
}

const SCORE_MAX = 1_000_000;

/** The score that the origin gives the request. */
const scoreOf = (text: string | undefined): number =>
  text !== undefined && /^\d{1,7}$/.test(text.trim()) ? Math.min(SCORE_MAX, Number(text)) : 0;

/** Without a counting expression, a limit counts the requests that its rule matches. */
function countedBy(
  { counting_expression: text }: RateLimitParameters,
  phase: string,
  options: ExpressionOptions,
): { readonly applies: Predicate | null; readonly needsResponse: boolean } {
  if (text === undefined || text === "") return { applies: null, needsResponse: false };
  try {
    return { applies: compileExpression(text, phase, options), needsResponse: false };
  } catch {
    return { applies: compileExpression(text, phase, { ...options, counts: true }), needsResponse: true };
  }
}

const TYPES = [STRING, IP, INTEGER, arrayOf(STRING)];

/** A characteristic is a field or a function of one, of any type whose values can be compared. */
function compileCharacteristic(text: string, phase: string, options: ExpressionOptions = {}): Read {
  let first: unknown;
  for (const type of TYPES) {
    try {
      return compileValue(text, phase, type, options);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

/** The problem of a characteristic, or null. */
export function characteristicProblem(text: string, phase: string, regexes?: RegexTable): string | null {
  if (text === PLACE) return null;
  try {
    compileCharacteristic(text, phase, { regexes });
    return null;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
