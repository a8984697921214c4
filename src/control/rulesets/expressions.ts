import { phaseFor } from "#control/rulesets/scope.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { ruleContextOf } from "#control/rulesets/rule-context.ts";
import type { CheckedExpression, ExpressionCheck, ExpressionLanguage } from "#model/rulesets/rule-expression.ts";
import { ExpressionError } from "#rules/expression/expression.ts";
import { completions } from "#rules/expression/check/completions.ts";
import { languageOf } from "#rules/expression/check/describe.ts";
import { expressionProblem, type ExpressionUse, formatExpression } from "#rules/expression/format.ts";
import { ruleListsOf } from "#store/rulesets/rule-lists.ts";
import type { Store } from "#store/database/store.ts";

/** Help for writing expressions. Throws `ruleset_invalid` for a phase that the scope does not have, `authentication_error`. */
export interface RuleExpressions {
  check(scope: RulesetScope, input: ExpressionCheck): Promise<CheckedExpression>;
  language(scope: RulesetScope, phase: string): ExpressionLanguage;
}

export const createRuleExpressions = ({ store }: { readonly store: Store }): RuleExpressions => ({
  check: async (scope, { expression, phase: name, use = "filter", complete_at: at }) => {
    const phase = phaseFor(scope, name, "read", "/phase");
    const { lists } = await ruleContextOf(store.read, scope, "custom");
    const checked = { formatted: formatted(expression, use), problem: expressionProblem(expression, phase.name, use, { lists }) };
    if (at === undefined) return checked;
    const names = (await ruleListsOf(store.read, scope.account_id)).map((list) => list.name);
    const { from, to, items } = completions(expression, at, phase.name, { use, lists: names });
    return { ...checked, completions: { from, to, items: items.map((item) => ({ ...item })) } };
  },
  language: (scope, name) => languageOf(phaseFor(scope, name, "read", "/phase").name) as ExpressionLanguage,
});

function formatted(expression: string, use: ExpressionUse): string | null {
  try {
    return formatExpression(expression, use);
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}
