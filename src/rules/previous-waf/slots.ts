import type { PhaseName } from "../phases.ts";

/** Firewalls older than rulesets: each runs as a separate entry point, beside those of its phase. */
export type LegacyPhase = "page_shield" | "access_rules" | "firewall_rules" | "rate_limits" | "zone_lockdown" | "ua_rules" | "previous_waf";

interface SlotRow {
  /** As events and traces name it: the same in every zone. */
  readonly ruleset_id: string;
  readonly phase: PhaseName;
  /** Name of the service in events, as in the activity log (SPEC 6). */
  readonly service: string;
  /**
   * Position in the phase. `first`: before all entry points, the account's slot before the zone's; `before` and `after`: the
   * zone's own entry point (SPEC 3.3: the new WAF runs before the previous one); `last`: after all, even if a rule skips the
   * rest of the phase.
   */
  readonly runs: "first" | "before" | "after" | "last";
}

export const PREVIOUS_SLOTS: Readonly<Record<LegacyPhase, SlotRow>> = {
  access_rules: {
    ruleset_id: "5f1d2c7a9b3e4d60a8c2f4e6b7d90406",
    phase: "http_request_firewall_custom",
    service: "IP Access Rules",
    runs: "first",
  },
  firewall_rules: {
    ruleset_id: "5f1d2c7a9b3e4d60a8c2f4e6b7d90103",
    phase: "http_request_firewall_custom",
    service: "Firewall Rules",
    runs: "before",
  },
  rate_limits: {
    ruleset_id: "5f1d2c7a9b3e4d60a8c2f4e6b7d90204",
    phase: "http_ratelimit",
    service: "Rate Limits",
    runs: "before",
  },
  zone_lockdown: {
    ruleset_id: "5f1d2c7a9b3e4d60a8c2f4e6b7d90507",
    phase: "http_request_firewall_custom",
    service: "Zone Lockdown",
    runs: "last",
  },
  ua_rules: {
    ruleset_id: "5f1d2c7a9b3e4d60a8c2f4e6b7d90608",
    phase: "http_request_firewall_custom",
    service: "User Agent Blocking",
    runs: "last",
  },
  previous_waf: {
    ruleset_id: "5f1d2c7a9b3e4d60a8c2f4e6b7d90305",
    phase: "http_request_firewall_managed",
    service: "WAF (previous version)",
    runs: "after",
  },
  page_shield: {
    ruleset_id: "5f1d2c7a9b3e4d60a8c2f4e6b7d90709",
    phase: "http_response_headers_transform",
    service: "Page Shield",
    runs: "last",
  },
};

export const PREVIOUS_SLOT_NAMES = Object.keys(PREVIOUS_SLOTS) as readonly LegacyPhase[];

/** Names of the services of access rules in events, by the kind of target. */
export const ACCESS_RULE_SERVICES = {
  ip: "IP Access Rules (address)",
  ip_range: "IP Access Rules (range)",
  asn: "IP Access Rules (ASN)",
  country: "IP Access Rules (country)",
} as const;

const LAST = new Set(Object.values(PREVIOUS_SLOTS).flatMap(({ runs, ruleset_id }) => (runs === "last" ? [ruleset_id] : [])));

/** Whether the ruleset runs even if a rule skips the rest of its phase; a rule that names it skips it. */
export const outlivesSkips = (rulesetId: string): boolean => LAST.has(rulesetId);
