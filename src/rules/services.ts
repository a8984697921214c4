import type { PhaseName } from "./phases.ts";
import { ACCESS_RULE_SERVICES, PREVIOUS_SLOTS } from "./previous-waf/slots.ts";

/** Name of rulesets in the activity log, as the service that saw a request or response (SPEC 6). */
export const RULES_SERVICE = "WAF";
/** Also its name in alert filters (SPEC 6). */
export const DETECTION_SERVICE = "Data Loss Protection";

/** Everything that security events can be of. */
export const EVENT_SERVICES: readonly string[] = [
  RULES_SERVICE,
  DETECTION_SERVICE,
  ...Object.values(PREVIOUS_SLOTS).map(({ service }) => service),
  ...Object.values(ACCESS_RULE_SERVICES),
];

/** The events of one of the vendor's sources: those of a service, of a phase, or of both. */
export type EventSource =
  | { readonly service: string }
  | { readonly phase: PhaseName }
  | { readonly service: string; readonly phase: PhaseName };

/**
 * Names of the products in the vendor's analytics and alerts, in lower case, with the source of their events. Null: this
 * server lacks the product, so it has no events.
 */
export const EVENT_SOURCES: Readonly<Record<string, EventSource | null>> = {
  dlp: { service: DETECTION_SERVICE },
  firewallcustom: { service: RULES_SERVICE, phase: "http_request_firewall_custom" },
  firewallmanaged: { service: RULES_SERVICE, phase: "http_request_firewall_managed" },
  firewallrules: { service: PREVIOUS_SLOTS.firewall_rules.service },
  ratelimit: { phase: "http_ratelimit" },
  waf: { phase: "http_request_firewall_managed" },
  apishield: null,
  apishieldschemavalidation: null,
  apishieldsequencemitigation: null,
  apishieldtokenvalidation: null,
  asn: { service: ACCESS_RULE_SERVICES.asn },
  bic: null,
  botfight: null,
  botmanagement: null,
  country: { service: ACCESS_RULE_SERVICES.country },
  hot: null,
  ip: { service: ACCESS_RULE_SERVICES.ip },
  iprange: { service: ACCESS_RULE_SERVICES.ip_range },
  l7ddos: null,
  linkmaze: null,
  sanitycheck: null,
  securitylevel: null,
  uablock: { service: PREVIOUS_SLOTS.ua_rules.service },
  unknown: null,
  validation: null,
  zonelockdown: { service: PREVIOUS_SLOTS.zone_lockdown.service },
};
