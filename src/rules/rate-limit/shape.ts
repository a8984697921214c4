import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import { array, flag, isObject, object, oneOf, problem, type Shape, text, whole } from "#rules/parameters/shape.ts";
import { characteristicProblem } from "./rate-limit.ts";

// waf.md, "Rate limits".
const PERIODS = [10, 60, 120, 300, 600, 3600];
const TIMEOUTS = [0, 10, 60, 120, 300, 600, 3600, 86_400];
const CHARACTERISTICS_MAX = 10;

const characteristic: Shape = (value, at, { phase, around }) => {
  const wrong = typeof value === "string" ? characteristicProblem(value, phase, around.regexes) : "a characteristic must be a string";
  return wrong === null ? [] : [problem(at, wrong)];
};

/** It may read the response, unlike the rule's own expression. */
const countingExpression: Shape = (value, at, { phase, around }) => {
  if (typeof value !== "string") return [problem(at, "counting_expression must be a string")];
  if (value === "") return [];
  try {
    compileExpression(value, phase, { lists: around.lists, regexes: around.regexes, counts: true });
    return [];
  } catch (error) {
    if (error instanceof ExpressionError) return [problem(at, error.message)];
    throw error;
  }
};

const shape = object(
  {
    characteristics: array(characteristic, { max: CHARACTERISTICS_MAX }),
    period: oneOf(...PERIODS),
    requests_per_period: whole(1, 1_000_000),
    mitigation_timeout: oneOf(...TIMEOUTS),
    counting_expression: countingExpression,
    requests_to_origin: flag,
    score_per_period: whole(1, 1_000_000),
    score_response_header_name: text({ pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/, what: "the name of a header field" }),
    technique: oneOf("fixed", "sliding"),
  },
  { required: ["characteristics", "period"], one: ["requests_per_period", "score_per_period"] },
);

/** The `ratelimit` of a rule of phase `http_ratelimit`. */
export const rateLimit: Shape = (value, at, place) => {
  const problems = shape(value, at, place);
  const scores = isObject(value) && value["score_per_period"] !== undefined;
  const named = isObject(value) && value["score_response_header_name"] !== undefined;
  if (scores && !named) problems.push(problem(at, "score_per_period needs score_response_header_name"));
  if (named && !scores) problems.push(problem(at, "score_response_header_name needs score_per_period"));
  return problems;
};
