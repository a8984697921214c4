import type { CallRuleEffect } from "../deprecation.ts";
import type { EffectHandler } from "../effect-handler.ts";

/** The use-case, which knows the state before the call, asks whether the rule is in force. */
export const callRule: EffectHandler<CallRuleEffect> = ({ rule }) => ({
  before: { rule: { name: rule, isInForce: false } },
  after: { rule: { name: rule, isInForce: true } },
});
