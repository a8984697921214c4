import { createFilters, type Filters } from "./filters.ts";
import type { FirewallDeps } from "./firewall-edit.ts";
import { createFirewallRules, type FirewallRules } from "./firewall-rules.ts";
import { createWafOverrides, type WafOverrides } from "./overrides.ts";
import { createWafPackages, type WafPackages } from "./packages.ts";
import { createPageRules, type PageRules } from "./page-rules.ts";
import { createRateLimits, type RateLimits } from "./rate-limits.ts";
import { createRemainingRules, type RemainingRules } from "./remaining-rules.ts";

/** The firewall before rulesets. Its objects run at the edge until the zone has migrated. */
export interface PreviousWafControl {
  readonly filters: Filters;
  readonly firewallRules: FirewallRules;
  readonly rateLimits: RateLimits;
  readonly packages: WafPackages;
  readonly overrides: WafOverrides;
  readonly pageRules: PageRules;
  readonly remaining: RemainingRules;
}

export const createPreviousWaf = (deps: FirewallDeps): PreviousWafControl => ({
  filters: createFilters(deps),
  firewallRules: createFirewallRules(deps),
  rateLimits: createRateLimits(deps),
  packages: createWafPackages(deps),
  overrides: createWafOverrides(deps),
  pageRules: createPageRules(deps),
  remaining: createRemainingRules(deps),
});
