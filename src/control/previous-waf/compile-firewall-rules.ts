import { FIREWALL_ACTIONS, type FirewallAction } from "#model/rulesets/firewall-rule.ts";
import { PACKAGE_RULESETS } from "#rules/previous-waf/packages.ts";
import type { RuleEntry } from "#snapshot/entries.ts";
import { edgeRule } from "./edge-rules.ts";
import type { PreviousFirewall, StoredFirewallRule } from "./state.ts";

/** Firewall rules as the edge runs them: those with a priority first, equal ones ordered by action. */
export function compileFirewallRules({ filters, firewall_rules }: PreviousFirewall): readonly RuleEntry[] {
  const byId = new Map(filters.map((filter) => [filter.id, filter]));
  return inOrder(firewall_rules).flatMap((rule) => {
    const filter = byId.get(rule.filter_id);
    if (filter === undefined) return [];
    const enabled = !rule.paused && !filter.paused;
    return [edgeRule(rule.id, ...doneBy(rule, filter.expression), { description: rule.description ?? "", enabled, ...moreOf(rule) })];
  });
}

const PRECEDENCE = new Map<FirewallAction, number>(FIREWALL_ACTIONS.map((action, place) => [action, place]));

const inOrder = (rules: readonly StoredFirewallRule[]): readonly StoredFirewallRule[] =>
  rules.toSorted(
    (a, b) =>
      (a.priority ?? Number.POSITIVE_INFINITY) - (b.priority ?? Number.POSITIVE_INFINITY) ||
      (PRECEDENCE.get(a.action) ?? 0) - (PRECEDENCE.get(b.action) ?? 0),
  );

const doneBy = ({ action }: StoredFirewallRule, expression: string): [string, string] => [
  action === "allow" || action === "bypass" ? "skip" : action,
  expression,
];

/** `allow` ends the firewall rules; `bypass` skips older products. */
function moreOf({ action, products = [] }: StoredFirewallRule): Partial<RuleEntry> {
  if (action === "allow") return { action_parameters: { ruleset: "current" }, event_action: action };
  if (action !== "bypass") return {};
  return {
    action_parameters: {
      products: products.filter((product) => product === "rateLimit"),
      rulesets: products.includes("waf") ? [...PACKAGE_RULESETS.keys()] : [],
    },
    event_action: action,
  };
}
