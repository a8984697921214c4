import type { PageRule } from "#model/rulesets/page-rule.ts";

export const patternOf = ({ targets }: Pick<PageRule, "targets">): string => targets[0]?.constraint.value ?? "";

/** What a page rule makes of the previous WAF below its address; null where it says nothing, or is disabled. */
export function wafBelow({ status, actions }: PageRule): "on" | "off" | null {
  if (status !== "active") return null;
  if (actions.some(({ id }) => id === "disable_security")) return "off";
  const waf = actions.find(({ id }) => id === "waf");
  return waf === undefined ? null : waf.value === "on" ? "on" : "off";
}

export const disablesSecurity = ({ status, actions }: PageRule): boolean =>
  status === "active" && actions.some(({ id }) => id === "disable_security");

/** The rules that say something of the previous WAF, as they are looked at: a higher number comes first, the older of equals. */
export const wafPageRules = (rules: readonly PageRule[]): readonly PageRule[] =>
  rules.filter((rule) => wafBelow(rule) !== null).toSorted((a, b) => b.priority - a.priority);
