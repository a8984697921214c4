import type { PageRule } from "#model/rulesets/page-rule.ts";

export const patternOf = ({ targets }: Pick<PageRule, "targets">): string => targets[0]?.constraint.value ?? "";

/** Whether a page rule enables or disables the previous WAF below its address; null if it does neither, or is disabled. */
export function wafBelow({ status, actions }: PageRule): "on" | "off" | null {
  if (status !== "active") return null;
  if (actions.some(({ id }) => id === "disable_security")) return "off";
  const waf = actions.find(({ id }) => id === "waf");
  return waf === undefined ? null : waf.value === "on" ? "on" : "off";
}

export const disablesSecurity = ({ status, actions }: PageRule): boolean =>
  status === "active" && actions.some(({ id }) => id === "disable_security");

/** The page rules that concern the previous WAF, in order of evaluation: highest priority first, equals in order of age. */
export const wafPageRules = (rules: readonly PageRule[]): readonly PageRule[] =>
  rules.filter((rule) => wafBelow(rule) !== null).toSorted((a, b) => b.priority - a.priority);
