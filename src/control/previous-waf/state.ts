import type { Filter, FirewallRule } from "#model/rulesets/firewall-rule.ts";
import type { PagePolicy } from "#model/rulesets/page-policy.ts";
import type { PageRule } from "#model/rulesets/page-rule.ts";
import type { RuleMode, WafOverride, WafPackageEdit } from "#model/rulesets/previous-waf.ts";
import type { Lockdown } from "#model/rulesets/lockdown.ts";
import type { RateLimit } from "#model/rulesets/rate-limit.ts";
import type { UaRule } from "#model/rulesets/ua-rule.ts";
import { type FirewallObjectRow, firewallObjectsOf } from "#store/rulesets/firewall-objects.ts";
import type { Unit } from "#store/database/store.ts";
import type { StoredAccessRule } from "./compile-tools.ts";

/** A stored firewall rule refers to its filter by id. */
export type StoredFirewallRule = Omit<FirewallRule, "filter"> & { readonly filter_id: string };

/** All objects of one zone's previous firewall; lists are oldest first. */
export interface PreviousFirewall {
  readonly filters: readonly Filter[];
  readonly firewall_rules: readonly StoredFirewallRule[];
  readonly rate_limits: readonly RateLimit[];
  readonly page_rules: readonly PageRule[];
  readonly access_rules: readonly StoredAccessRule[];
  readonly lockdowns: readonly Lockdown[];
  readonly ua_rules: readonly UaRule[];
  readonly page_policies: readonly PagePolicy[];
  readonly overrides: readonly WafOverride[];
  /** Explicitly set values, by id. */
  readonly packages: ReadonlyMap<string, WafPackageEdit>;
  readonly groups: ReadonlyMap<string, "on" | "off">;
  readonly rules: ReadonlyMap<string, RuleMode>;
}

export type FirewallKind =
  | "filter"
  | "firewall_rule"
  | "rate_limit"
  | "page_rule"
  | "access_rule"
  | "lockdown"
  | "ua_rule"
  | "page_policy"
  | "waf_override"
  | "waf_package"
  | "waf_group"
  | "waf_rule";

/** Kinds of objects of the previous WAF only, which are deleted with it. */
export const PREVIOUS_WAF_KINDS: readonly FirewallKind[] = ["waf_override", "waf_package", "waf_group", "waf_rule"];

export function firewallOf(rows: readonly FirewallObjectRow[]): PreviousFirewall {
  const valued = <T>(kind: FirewallKind): T[] =>
    rows.filter((row) => row.kind === kind).map((row) => ({ id: row.id, ...(JSON.parse(row.value) as object) }) as T);
  const dated = <T>(kind: FirewallKind): T[] =>
    rows
      .filter((row) => row.kind === kind)
      .map(({ id, value, created_on, modified_on }) => ({ id, ...(JSON.parse(value) as object), created_on, modified_on }) as T);
  const chosen = <T>(kind: FirewallKind): ReadonlyMap<string, T> =>
    new Map(rows.filter((row) => row.kind === kind).map(({ id, value }) => [id, JSON.parse(value) as T]));
  return {
    filters: valued("filter"),
    firewall_rules: dated("firewall_rule"),
    rate_limits: valued("rate_limit"),
    page_rules: dated("page_rule"),
    access_rules: dated("access_rule"),
    lockdowns: dated("lockdown"),
    ua_rules: valued("ua_rule"),
    page_policies: valued("page_policy"),
    overrides: valued("waf_override"),
    packages: chosen("waf_package"),
    groups: chosen("waf_group"),
    rules: chosen("waf_rule"),
  };
}

export const loadFirewall = async (db: Unit["db"], zoneId: string): Promise<PreviousFirewall> =>
  firewallOf(await firewallObjectsOf(db, zoneId));
