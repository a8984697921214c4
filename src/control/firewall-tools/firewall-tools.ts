import type { FirewallDeps } from "#control/previous-waf/firewall-edit.ts";
import { type AccessRules, createAccessRules } from "./access-rules.ts";
import { createLockdowns, type Lockdowns } from "./lockdowns.ts";
import { createUaRules, type UaRules } from "./ua-rules.ts";

/** Small firewalls beside rulesets, each for one property of visitors. */
export interface FirewallTools {
  readonly accessRules: AccessRules;
  readonly lockdowns: Lockdowns;
  readonly uaRules: UaRules;
}

export const createFirewallTools = (deps: FirewallDeps): FirewallTools => ({
  accessRules: createAccessRules(deps),
  lockdowns: createLockdowns(deps),
  uaRules: createUaRules(deps),
});
