import type { RuleDefinition } from "../types.ts";
import type { ManagedRule } from "./rulesets.ts";

/** A managed rule as rulesets are compiled from. */
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
