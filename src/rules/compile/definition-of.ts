import type { RuleDefinition } from "#rules/definition.ts";
import type { ManagedRule } from "#rules/managed/managed-ruleset.ts";

/** A managed rule in the form from which rulesets are compiled. */
export const definitionOf = (rule: ManagedRule): RuleDefinition => ({
  id: rule.id,
  action: rule.action,
  action_parameters: {
    ...rule.action_parameters,
    ...(rule.score_threshold === undefined ? {} : { score_threshold: rule.score_threshold }),
  },
  expression: rule.expression ?? "false",
  description: rule.description,
  enabled: rule.enabled,
});
