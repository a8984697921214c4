import type { PhaseName } from "../phases.ts";

/** A zone's firewall from before rulesets: each runs as a separate entry point, beside those of its phase. */
export type LegacyPhase = "firewall_rules" | "rate_limits" | "previous_waf";

interface SlotRow {
  /** As events and traces name it: the same in every zone. */
  readonly ruleset_id: string;
  readonly phase: PhaseName;
  /** Name of the service in events, as in the activity log (SPEC 6). */
  readonly service: string;
  /** Position relative to the zone's own entry point of the phase. SPEC 3.3: the new WAF runs before the previous one. */
  readonly runs: "before" | "after";
}

export const PREVIOUS_SLOTS: Readonly<Record<LegacyPhase, SlotRow>> = {
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
  previous_waf: {
    ruleset_id: "5f1d2c7a9b3e4d60a8c2f4e6b7d90305",
    phase: "http_request_firewall_managed",
    service: "WAF (previous version)",
    runs: "after",
  },
};

export const PREVIOUS_SLOT_NAMES = Object.keys(PREVIOUS_SLOTS) as readonly LegacyPhase[];
