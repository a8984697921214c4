import type { RateLimit } from "#model/rulesets/rate-limit.ts";
import { urlExpression } from "#rules/previous-waf/url-pattern.ts";
import type { RuleEntry } from "#snapshot/entries.ts";
import { edgeRule, endSlot } from "./edge-rules.ts";
import { disablesSecurity, patternOf } from "./page-rule-parts.ts";
import type { PreviousFirewall } from "./state.ts";

/** Rate limits as the edge runs them; not below page rules that disable security. */
export const compileRateLimits = ({ rate_limits, page_rules }: PreviousFirewall): readonly RuleEntry[] =>
  rate_limits.length === 0
    ? []
    : [
        ...page_rules.filter(disablesSecurity).map((rule) => endSlot(rule.id, urlExpression(patternOf(rule)))),
        ...rate_limits.map(compileLimit),
      ];

const ACTIONS: Readonly<Record<RateLimit["action"]["mode"], string>> = {
  simulate: "log",
  ban: "block",
  challenge: "challenge",
  js_challenge: "js_challenge",
  managed_challenge: "managed_challenge",
};

function compileLimit(limit: RateLimit): RuleEntry {
  const { action, description = "", disabled = false } = limit;
  const { expression, counting_expression } = limitExpressions(limit);
  const { response } = action;
  return edgeRule(limit.id, ACTIONS[action.mode], expression, {
    description,
    enabled: !disabled,
    action_parameters:
      action.mode === "ban" && response !== undefined
        ? { response: { status_code: 429, content_type: response.content_type, content: response.body } }
        : {},
    ratelimit: {
      characteristics: ["ip.src", "cf.colo.id"],
      period: limit.period,
      requests_per_period: limit.threshold,
      mitigation_timeout: action.timeout ?? 0,
      requests_to_origin: countsOriginAlone(limit),
      ...(counting_expression === null ? {} : { counting_expression }),
    },
  });
}

/** Expressions of a limit: the matching requests, and which of them count if that depends on the response. */
export function limitExpressions({ match, bypass = [] }: Pick<RateLimit, "match" | "bypass">): {
  readonly expression: string;
  readonly counting_expression: string | null;
} {
  const { request = {}, response = {}, headers = [] } = match;
  const schemes = (request.schemes ?? []).filter((scheme) => scheme !== "_ALL_");
  const methods = (request.methods ?? []).includes("_ALL_") ? [] : (request.methods ?? []);
  const tests = [
    ...(request.url === undefined ? [] : [urlExpression(request.url)]),
    ...(schemes.length !== 1 ? [] : [schemes[0] === "HTTPS" ? "ssl" : "not ssl"]),
    ...(methods.length === 0 ? [] : [`http.request.method in {${methods.map((method) => `"${method}"`).join(" ")}}`]),
    ...bypass.map(({ value }) => `not ${urlExpression(value)}`),
  ];
  const expression = tests.length === 0 ? "true" : tests.join(" and ");
  const seen = [
    ...((response.status ?? []).length === 0 ? [] : [`http.response.code in {${(response.status ?? []).join(" ")}}`]),
    ...headers.filter((header) => !isCacheTest(header)).map(headerTest),
  ];
  return { expression, counting_expression: seen.length === 0 ? null : [expression, ...seen].join(" and ") };
}

const headerTest = ({ name, op, value }: NonNullable<RateLimit["match"]["headers"]>[number]): string => {
  const equal = `any(http.response.headers["${name.toLowerCase()}"][*] eq "${value}")`;
  return op === "eq" ? equal : `not ${equal}`;
};

/** A condition of older limits that excludes responses from the cache; origins' responses never have this field. */
const isCacheTest = ({ name, op, value }: NonNullable<RateLimit["match"]["headers"]>[number]): boolean =>
  name.toLowerCase() === "cf-cache-status" && op === "ne" && value.toUpperCase() === "HIT";

const countsOriginAlone = ({ match }: RateLimit): boolean =>
  match.response?.origin_traffic === true || (match.headers ?? []).some(isCacheTest);
