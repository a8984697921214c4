import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { changeFirewall, type FirewallDeps, type FirewallOwner } from "#control/previous-waf/firewall-edit.ts";
import { firewallPage, holdsText } from "#control/previous-waf/firewall-page.ts";
import { loadFirewall } from "#control/previous-waf/state.ts";
import { UA_RULES_MAX, type UaRule, type UaRuleQuery, type UaRuleWrite } from "#model/rulesets/ua-rule.ts";

/** User-agent rules of a zone. Throws `firewall_object_not_found`, `firewall_invalid`. */
export interface UaRules {
  list(zone: FirewallOwner, query: UaRuleQuery, page: PageRequest): Promise<Page<UaRule>>;
  get(zone: FirewallOwner, id: string): Promise<UaRule>;
  create(call: Call, zone: FirewallOwner, write: UaRuleWrite): Promise<UaRule>;
  update(call: Call, zone: FirewallOwner, id: string, write: UaRuleWrite): Promise<UaRule>;
  delete(call: Call, zone: FirewallOwner, id: string): Promise<{ readonly id: string }>;
}

export function createUaRules(deps: FirewallDeps): UaRules {
  const { store } = deps;
  const put = (call: Call, zone: FirewallOwner, id: string | null, write: UaRuleWrite): Promise<UaRule> =>
    changeFirewall(deps, call, zone, async (edit) => {
      const { ua_rules } = await edit.firewall();
      if (id !== null) ruleNamed(ua_rules, id);
      else if (ua_rules.length >= UA_RULES_MAX) throw invalid(`A zone has at most ${UA_RULES_MAX} user-agent rules.`, "");
      const { configuration, mode, description = "", paused = false } = write;
      // Fields have bytes, and control characters never arrive in one (RFC 9110 §5.5).
      if (!/^[\x20-\x7e]+$/.test(configuration.value))
        throw invalid("A user agent must contain only printable ASCII characters.", "/configuration/value");
      if (configuration.value !== configuration.value.trim())
        throw invalid("A user agent must not begin or end with a space, because header fields do not.", "/configuration/value");
      if (ua_rules.some((rule) => rule.id !== id && rule.configuration.value === configuration.value))
        throw invalid("Another rule names this user agent.", "/configuration/value");
      const value = { configuration, mode, description, paused };
      const rule = { id: id ?? newId(), ...value };
      await edit.put("ua_rule", rule.id, value, id === null ? "create" : "update");
      return rule;
    });

  return {
    list: async (zone, query, page) =>
      firewallPage(
        (await loadFirewall(store.read, zone.id)).ua_rules.filter((rule) => fits(rule, query)),
        page,
      ),
    get: async (zone, id) => ruleNamed((await loadFirewall(store.read, zone.id)).ua_rules, id),
    create: (call, zone, write) => put(call, zone, null, write),
    update: (call, zone, id, write) => put(call, zone, id, write),
    delete: (call, zone, id) =>
      changeFirewall(deps, call, zone, async (edit) => {
        ruleNamed((await edit.firewall()).ua_rules, id);
        await edit.remove("ua_rule", id);
        return { id };
      }),
  };
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("firewall_invalid", { message, source });

function ruleNamed(rules: readonly UaRule[], id: string): UaRule {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) throw new PlatformError("firewall_object_not_found", { message: `could not find user-agent rule ${id}` });
  return rule;
}

const fits = ({ description, paused, configuration }: UaRule, query: UaRuleQuery): boolean =>
  holdsText(description, query.description) &&
  holdsText(configuration.value, query.user_agent) &&
  (query.paused === undefined || query.paused === paused);
