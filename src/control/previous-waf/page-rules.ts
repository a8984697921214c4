import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call } from "#control/call.ts";
import {
  PAGE_RULE_ACTIONS,
  PAGE_RULES_MAX,
  type PageRule,
  type PageRuleEdit,
  type PageRuleQuery,
  type PageRuleWrite,
} from "#model/rulesets/page-rule.ts";
import { urlPatternProblem } from "#rules/previous-waf/url-pattern.ts";
import { checkSize } from "./check-size.ts";
import { changeFirewall, type FirewallDeps, type FirewallOwner } from "./firewall-edit.ts";
import { loadFirewall } from "./state.ts";

/**
 * Page rules for the previous WAF. Throws `firewall_object_not_found`, `firewall_invalid`, and `setting_unavailable` for
 * unsupported actions.
 */
export interface PageRules {
  list(zone: FirewallOwner, query: PageRuleQuery): Promise<readonly PageRule[]>;
  get(zone: FirewallOwner, id: string): Promise<PageRule>;
  create(call: Call, zone: FirewallOwner, write: PageRuleWrite): Promise<PageRule>;
  update(call: Call, zone: FirewallOwner, id: string, edit: PageRuleEdit): Promise<PageRule>;
  delete(call: Call, zone: FirewallOwner, id: string): Promise<{ id: string }>;
}

type Value = Omit<PageRule, "id" | "created_on" | "modified_on">;

export function createPageRules(deps: FirewallDeps): PageRules {
  const { store } = deps;
  const put = (call: Call, zone: FirewallOwner, id: string | null, edited: PageRuleEdit): Promise<PageRule> =>
    changeFirewall(deps, call, zone, async (edit) => {
      const { page_rules } = await edit.firewall();
      const before = id === null ? null : ruleNamed(page_rules, id);
      if (before === null && page_rules.length >= PAGE_RULES_MAX)
        throw new PlatformError("firewall_invalid", { message: `a zone has at most ${PAGE_RULES_MAX} page rules` });
      const { id: _, created_on = edit.now, modified_on: __, ...kept } = before ?? newRule(page_rules);
      const { targets, actions, priority, status } = { ...kept, ...edited } as Value;
      const value: Value = { targets, actions, priority, status };
      checkRule(value, edit.zone.waf_migration);
      const rule = { id: id ?? newId(), ...value, created_on, modified_on: edit.now };
      await edit.put("page_rule", rule.id, value, before === null ? "create" : "update");
      checkSize(await edit.firewall(), edit.zone);
      return rule;
    });

  return {
    list: async (zone, query) => inOrder((await loadFirewall(store.read, zone.id)).page_rules, query),
    get: async (zone, id) => ruleNamed((await loadFirewall(store.read, zone.id)).page_rules, id),
    create: (call, zone, write) => put(call, zone, null, write),
    update: (call, zone, id, edit) => put(call, zone, id, edit),
    delete: (call, zone, id) =>
      changeFirewall(deps, call, zone, async (edit) => {
        ruleNamed((await edit.firewall()).page_rules, id);
        await edit.remove("page_rule", id);
        return { id };
      }),
  };
}

/** A new rule is evaluated before the others, and is disabled by default. */
const newRule = (rules: readonly PageRule[]): Partial<PageRule> => ({
  priority: Math.max(0, ...rules.map(({ priority }) => priority)) + 1,
  status: "disabled",
});

function checkRule({ targets, actions }: Value, migration: string): void {
  const problem = urlPatternProblem(targets[0]?.constraint.value ?? "");
  if (problem !== null)
    throw new PlatformError("firewall_invalid", { message: `the address ${problem}`, source: "/targets/0/constraint/value" });
  for (const [index, { id, value }] of actions.entries()) {
    const source = `/actions/${index}`;
    if (!(PAGE_RULE_ACTIONS as readonly string[]).includes(id))
      throw new PlatformError("setting_unavailable", {
        message: `The page rule action ${id} is not supported: page rules control only the previous WAF (${PAGE_RULE_ACTIONS.join(", ")}). Use a rule of the matching phase.`,
        source: `${source}/id`,
      });
    if (migration === "pending")
      throw new PlatformError("setting_unavailable", {
        message: `The zone uses only the new WAF, which page rules do not control. Use a skip rule of phase http_request_firewall_managed instead of ${id}.`,
        source: `${source}/id`,
      });
    if (id === "waf" && value !== "on" && value !== "off")
      throw new PlatformError("firewall_invalid", { message: `waf must be "on" or "off"`, source: `${source}/value` });
  }
}

function ruleNamed(rules: readonly PageRule[], id: string): PageRule {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) throw new PlatformError("firewall_object_not_found", { message: `could not find page rule ${id}` });
  return rule;
}

function inOrder(rules: readonly PageRule[], { status, order = "priority", direction = "desc" }: PageRuleQuery): readonly PageRule[] {
  const found = rules
    .filter((rule) => status === undefined || rule.status === status)
    .toSorted((a, b) => (order === "status" ? a.status.localeCompare(b.status) : 0) || a.priority - b.priority);
  return direction === "asc" ? found : found.toReversed();
}
