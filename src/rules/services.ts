import { PREVIOUS_SLOTS } from "./previous-waf/slots.ts";

/** What rules of rulesets are, as the activity log names what saw a request or response (SPEC 6). */
export const RULES_SERVICE = "WAF";
/** As alert filters name it too (SPEC 6). */
export const DETECTION_SERVICE = "Data Loss Protection";

/** Everything that security events can be of. */
export const EVENT_SERVICES: readonly string[] = [
  RULES_SERVICE,
  DETECTION_SERVICE,
  ...Object.values(PREVIOUS_SLOTS).map(({ service }) => service),
];
