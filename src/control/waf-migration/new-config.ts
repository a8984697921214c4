import { patternOf, wafBelow, wafPageRules } from "#control/previous-waf/page-rule-parts.ts";
import type { PreviousFirewall } from "#control/previous-waf/state.ts";
import type { WafPackageEdit } from "#model/rulesets/previous-waf.ts";
import type { RuleWrite } from "#model/rulesets/ruleset.ts";
import { SCORE_EXCEEDED_RULE_ID } from "#rules/managed/request-rulesets.ts";
import { ANOMALY_PACKAGE_ID, TRADITIONAL_PACKAGE_ID, WAF_PACKAGES, type WafPackage } from "#rules/previous-waf/packages.ts";
import { urlExpression } from "#rules/previous-waf/url-pattern.ts";
import { bypassesWaf } from "./eligibility.ts";

/**
 * Rules of the new WAF that are equivalent to the previous one (SPEC 8): first the exceptions, then one rule per active
 * package.
 */
export function newConfig(firewall: PreviousFirewall, isOn: boolean): readonly RuleWrite[] {
  const where = deployedWhere(firewall, isOn);
  if (where === null) return [];
  const packages = WAF_PACKAGES.flatMap((pack) => deployment(pack, firewall, where) ?? []);
  return [...bypasses(firewall), ...exceptions(firewall), ...packages];
}

/** SPEC 8, "WAF migration settings mapping": settings that replace the OWASP package's sensitivities. */
export const SENSITIVITY_BECOMES = {
  high: { paranoia: 2, score_threshold: 40 },
  medium: { paranoia: 1, score_threshold: 25 },
  low: { paranoia: 1, score_threshold: 40 },
  default: { paranoia: 2, score_threshold: 40 },
} as const;

/** Simulate becomes Log; the others keep their names. */
const ACTION_BECOMES = { simulate: "log", block: "block", challenge: "challenge" } as const;

const rule = (action: string, expression: string, description: string, more: Partial<RuleWrite>): RuleWrite => ({
  id: "",
  version: "",
  ref: "",
  action,
  expression,
  description,
  enabled: true,
  ...more,
});

/** Skips the remaining rules of this ruleset only. The previous WAF may still run after it, and decides for itself. */
const skip = (expression: string, description: string, more: Partial<RuleWrite> = {}): RuleWrite =>
  rule("skip", expression, description, { action_parameters: { ruleset: "current" }, ...more });

function bypasses({ firewall_rules, filters }: PreviousFirewall): readonly RuleWrite[] {
  const byId = new Map(filters.map((filter) => [filter.id, filter]));
  return firewall_rules.filter(bypassesWaf).flatMap(({ filter_id, description, id, paused }) => {
    const filter = byId.get(filter_id);
    return filter === undefined
      ? []
      : [skip(filter.expression, description ?? `Firewall rule ${id}`, { enabled: !paused && !filter.paused })];
  });
}

const eitherOf = (expressions: readonly string[]): string => expressions.join(" or ");

/** Exceptions for page rules that disable the WAF, except where an earlier page rule enables it. */
function exceptions({ page_rules }: PreviousFirewall): readonly RuleWrite[] {
  const rules = wafPageRules(page_rules);
  return rules.flatMap((pageRule, place) => {
    if (wafBelow(pageRule) !== "off") return [];
    const pattern = patternOf(pageRule);
    const before = rules.slice(0, place).filter((other) => wafBelow(other) === "on");
    const expression = [urlExpression(pattern), ...before.map((other) => `not ${urlExpression(patternOf(other))}`)].join(" and ");
    return [skip(expression, `Page rule for ${pattern}`, { logging: { enabled: false } })];
  });
}

/** The expression of requests that the WAF inspects; null if it is disabled everywhere. */
function deployedWhere({ page_rules }: PreviousFirewall, isOn: boolean): string | null {
  if (isOn) return "true";
  const on = wafPageRules(page_rules).filter((pageRule) => wafBelow(pageRule) === "on");
  return on.length === 0 ? null : eitherOf(on.map((pageRule) => urlExpression(patternOf(pageRule))));
}

const OVERRIDES_OF: Readonly<Record<string, (pack: WafPackage, firewall: PreviousFirewall) => object | null>> = {
  [TRADITIONAL_PACKAGE_ID]: traditionalOverrides,
  [ANOMALY_PACKAGE_ID]: (pack, { packages }) => scoreOverrides(packages.get(pack.id) ?? {}),
};

/** Null if the package is off. */
function deployment(pack: WafPackage, firewall: PreviousFirewall, where: string): RuleWrite | null {
  const overrides = OVERRIDES_OF[pack.id]?.(pack, firewall) ?? null;
  if (overrides === null) return null;
  const named = Object.keys(overrides).length === 0 ? {} : { overrides };
  return rule("execute", where, `In place of ${pack.name}`, { action_parameters: { id: pack.successor_id, version: "latest", ...named } });
}

/** Groups become categories, and rules their successors; rules of a disabled group are disabled with it. */
function traditionalOverrides(pack: WafPackage, { groups, rules }: PreviousFirewall): object {
  const off = pack.groups.filter(({ id }) => groups.get(id) === "off");
  const isOff = new Set(off.map(({ id }) => id));
  const changed = pack.rules.flatMap(({ id, group_id, successor_id }) => {
    const mode = rules.get(id) ?? "default";
    if (mode === "default" || isOff.has(group_id)) return [];
    return [
      mode === "disable"
        ? { id: successor_id, enabled: false }
        : { id: successor_id, action: ACTION_BECOMES[mode as keyof typeof ACTION_BECOMES], enabled: true },
    ];
  });
  return {
    ...(off.length === 0 ? {} : { categories: off.map(({ category }) => ({ category, enabled: false })) }),
    ...(changed.length === 0 ? {} : { rules: changed }),
  };
}

/** SPEC 8: settings of the package's groups and rules are not migrated. */
function scoreOverrides({ sensitivity, action_mode = "challenge" }: WafPackageEdit): object | null {
  if (sensitivity === "off") return null;
  const { paranoia, score_threshold } = SENSITIVITY_BECOMES[sensitivity ?? "default"];
  return {
    categories: [2, 3, 4].filter((level) => level > paranoia).map((level) => ({ category: `paranoia-level-${level}`, enabled: false })),
    rules: [{ id: SCORE_EXCEEDED_RULE_ID, action: ACTION_BECOMES[action_mode], score_threshold }],
  };
}

/** Number of groups and rules of the OWASP package with their own mode, which is lost in the new configuration. */
export function lostModes({ groups, rules }: PreviousFirewall): number {
  const pack = WAF_PACKAGES.find(({ id }) => id === ANOMALY_PACKAGE_ID);
  const chosen = [...(pack?.groups ?? []), ...(pack?.rules ?? [])].filter(({ id }) => (groups.get(id) ?? rules.get(id) ?? "on") !== "on");
  return chosen.length;
}
