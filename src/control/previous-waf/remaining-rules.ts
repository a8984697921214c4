import type { Call } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { RemainingRule } from "#model/rulesets/remaining-rule.ts";
import type { RuleEntry } from "#snapshot/entries.ts";
import { compileFirewallRules } from "./compile-firewall-rules.ts";
import { compileRateLimits } from "./compile-rate-limits.ts";
import type { FirewallDeps, FirewallOwner } from "./firewall-edit.ts";
import { createFirewallRules } from "./firewall-rules.ts";
import { createRateLimits } from "./rate-limits.ts";
import { loadFirewall } from "./state.ts";

/**
 * Firewall rules and rate limits act on after their interfaces have ended (SPEC 9, 2025-06-15). They are listed here in the
 * form of rules, on every API date.
 */
export interface RemainingRules {
  /** In the order in which they run. */
  list(zoneId: string): Promise<readonly RemainingRule[]>;
  /** Throws `firewall_object_not_found`. */
  delete(call: Call, zone: FirewallOwner, id: string): Promise<RemainingRule>;
  /** A sentence about the enabled ones that run before the zone's rules of the phase, or of any phase; empty if none do. */
  notes(zoneId: string, phase?: string): Promise<readonly string[]>;
}

const PHASES = { firewall_rule: "http_request_firewall_custom", rate_limit: "http_ratelimit" } as const;
const NAMES = { firewall_rule: "firewall rules", rate_limit: "rate limits" } as const;

export function createRemainingRules(deps: FirewallDeps): RemainingRules {
  const firewallRules = createFirewallRules(deps);
  const rateLimits = createRateLimits(deps);
  const list = async (zoneId: string): Promise<readonly RemainingRule[]> => {
    const firewall = await loadFirewall(deps.store.read, zoneId);
    const limits = new Set(firewall.rate_limits.map(({ id }) => id));
    return [
      ...compileFirewallRules(firewall).map((rule) => view("firewall_rule", rule)),
      ...compileRateLimits(firewall).flatMap((rule) => (limits.has(rule.id) ? [view("rate_limit", rule)] : [])),
    ];
  };
  return {
    list,
    delete: async (call, zone, id) => {
      const rule = (await list(zone.id)).find((candidate) => candidate.id === id);
      if (rule === undefined) throw new PlatformError("firewall_object_not_found");
      if (rule.kind === "firewall_rule") await firewallRules.delete(call, zone, [id], true);
      else await rateLimits.delete(call, zone, id);
      return rule;
    },
    notes: async (zoneId, phase) => {
      const rules = (await list(zoneId)).filter((rule) => rule.enabled && (phase === undefined || rule.phase === phase));
      const counts = (Object.keys(NAMES) as (keyof typeof NAMES)[]).flatMap((kind) => {
        const count = rules.filter((rule) => rule.kind === kind).length;
        return count === 0 ? [] : [`${NAMES[kind]} (${count})`];
      });
      if (counts.length === 0) return [];
      return [
        `${counts.join(" and ")} of the interfaces that ended on 2025-06-15 act before the zone's own rules: GET /zones/${zoneId}/remaining_rules.`,
      ];
    },
  };
}

const view = (
  kind: RemainingRule["kind"],
  { id, action, action_parameters, expression, description, enabled, ratelimit }: RuleEntry,
): RemainingRule => ({
  ...{ id, kind, phase: PHASES[kind], action, action_parameters: { ...action_parameters }, expression, description, enabled },
  ...(ratelimit === undefined || ratelimit === null ? {} : { ratelimit: { ...ratelimit } }),
});
