import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { CheckedExpression, ExpressionCheck, ExpressionLanguage, ExpressionLanguageQuery } from "#model/rulesets/rule-expression.ts";
import { ExpressionMatches, ExpressionMatchesQuery } from "#model/rulesets/expression-matches.ts";
import { RuleTrace, RuleTraceRequest } from "#model/rulesets/rule-trace.ts";
import { type RulesetBase, type RulesetLevel, scopeOf } from "./ruleset-level.ts";

export const traceRouteOf = <const B extends RulesetBase>(base: B, level: RulesetLevel): Route =>
  route({
    scope: level.scope,
    permissions: level.read,
    method: "POST",
    path: `${base}/rulesets/trace`,
    id: `${level.id}-rulesets-trace`,
    summary: "Trace a request through the rules",
    body: RuleTraceRequest,
    result: RuleTrace,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.ruleTraces.trace(scopeOf({ resolved, call }), body),
  });

export function expressionRoutesOf<const B extends RulesetBase>(base: B, level: RulesetLevel): Route[] {
  const read = { scope: level.scope, permissions: level.read, paging: "one" } as const;
  return [
    route({
      ...read,
      method: "POST",
      path: `${base}/rulesets/expressions`,
      id: `${level.id}-rulesets-expressions-check`,
      summary: "Check, format and complete an expression",
      body: ExpressionCheck,
      result: CheckedExpression,
      handler: ({ control, call, resolved, body }) => control.ruleExpressions.check(scopeOf({ resolved, call }), body),
    }),
    route({
      ...read,
      method: "GET",
      path: `${base}/rulesets/expressions/language`,
      id: `${level.id}-rulesets-expressions-language`,
      summary: "List the fields, functions and operators of a phase's expressions",
      query: ExpressionLanguageQuery,
      result: ExpressionLanguage,
      handler: async ({ control, call, resolved, query }) => control.ruleExpressions.language(scopeOf({ resolved, call }), query.phase),
    }),
  ];
}

/** Requests are logged for a zone, and reading them needs the permission for logs. */
export const MATCHES_ROUTE: Route = route({
  method: "POST",
  path: "/zones/:zone_id/rulesets/expressions/matches",
  id: "zone-rulesets-expressions-matches",
  summary: "Find which recent requests an expression matches, before a rule with it is saved",
  scope: "zone",
  permissions: ["Logs Read"],
  body: ExpressionMatchesQuery,
  result: ExpressionMatches,
  paging: "one",
  handler: ({ control, call, resolved, body }) => control.recentMatches.find(scopeOf({ resolved, call }), zoneOf(resolved).name, body),
});
