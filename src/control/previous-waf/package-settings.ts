import type { OverrideAction, RuleMode, WafOverride } from "#model/rulesets/previous-waf.ts";
import { type PackageRule, SCORE_RULE_IDS, SENSITIVITY_SCORES, type WafPackage } from "#rules/previous-waf/packages.ts";
import type { PreviousFirewall } from "./state.ts";

type Settings = Pick<PreviousFirewall, "packages" | "groups" | "rules">;

/** Default settings of a package (waf.md, "Previous WAF"). */
export const PACKAGE_DEFAULTS = { sensitivity: "high", action_mode: "challenge" } as const;

/** A traditional rule's action after resolving every `default`. */
export type RuleAction = Exclude<OverrideAction, "default">;

/** Overrides for the package's ruleset; null if it does not run. `override`: the one that applies to the request. */
export function packageOverrides(pack: WafPackage, settings: Settings, override: WafOverride | null): object | null {
  return pack.detection_mode === "anomaly" ? anomalyOverrides(pack, settings, override) : traditionalOverrides(pack, settings, override);
}

const ACTIONS: Readonly<Record<Exclude<RuleAction, "disable">, string>> = { simulate: "log", block: "block", challenge: "challenge" };

function traditionalOverrides(pack: WafPackage, settings: Settings, override: WafOverride | null): object {
  const rules = pack.rules.flatMap((rule) => {
    const action = traditionalAction(rule, settings, override);
    if (action === rule.default_mode) return [];
    return [action === "disable" ? { id: rule.id, enabled: false } : { id: rule.id, enabled: true, action: ACTIONS[action] }];
  });
  return { rules };
}

/**
 * A traditional rule's action. The rule's entry in the override has priority over its group's, and both over the zone's
 * settings.
 */
export function traditionalAction(rule: PackageRule, settings: Settings, override: WafOverride | null): RuleAction {
  const own = override?.rules[rule.id];
  if (own !== undefined) return resolved(own, rule);
  const chosen = chosenMode(rule, settings, override?.groups[rule.group_id]);
  const rewrite = override?.rewrite_action ?? {};
  const rewritten = rewrite[chosen] ?? rewrite[resolved(chosen, rule)];
  return resolved(rewritten ?? chosen, rule);
}

function chosenMode(rule: PackageRule, { groups, rules }: Settings, group: OverrideAction | undefined): OverrideAction {
  if (group !== undefined && group !== "default") return group;
  if (group === undefined && groups.get(rule.group_id) === "off") return "disable";
  return (rules.get(rule.id) ?? "default") as OverrideAction;
}

const resolved = (action: OverrideAction, { default_mode }: PackageRule): RuleAction => (action === "default" ? default_mode : action);

function anomalyOverrides(pack: WafPackage, settings: Settings, override: WafOverride | null): object | null {
  const { sensitivity, action_mode } = { ...PACKAGE_DEFAULTS, ...settings.packages.get(pack.id) };
  const rewritten = override?.rewrite_action[action_mode] ?? action_mode;
  const action = rewritten === "default" ? PACKAGE_DEFAULTS.action_mode : rewritten;
  if (sensitivity === "off" || action === "disable") return null;
  const off = pack.rules.filter((rule) => !isCounted(rule, settings, override)).map(({ id }) => ({ id, enabled: false }));
  const scores = (["plain", "script"] as const).map((which) => ({
    id: SCORE_RULE_IDS[which],
    action: ACTIONS[action],
    score_threshold: SENSITIVITY_SCORES[sensitivity][which],
  }));
  return { rules: [...off, ...scores] };
}

/** Whether an anomaly rule contributes to the score. */
function isCounted(rule: PackageRule, { groups, rules }: Settings, override: WafOverride | null): boolean {
  const said = override?.rules[rule.id] ?? override?.groups[rule.group_id];
  if (said !== undefined) return said !== "disable";
  return groups.get(rule.group_id) !== "off" && (rules.get(rule.id) satisfies RuleMode | undefined) !== "off";
}
