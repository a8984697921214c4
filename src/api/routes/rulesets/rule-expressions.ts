import { type Route, route } from "#api/route.ts";
import { CheckedExpression, ExpressionCheck, ExpressionLanguage, ExpressionLanguageQuery } from "#model/rulesets/rule-expression.ts";
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
