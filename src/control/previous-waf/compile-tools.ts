import { parseCidr } from "#kernel/net/cidr.ts";
import type { AccessRule } from "#model/rulesets/access-rule.ts";
import type { Lockdown } from "#model/rulesets/lockdown.ts";
import type { PagePolicy } from "#model/rulesets/page-policy.ts";
import type { UaRule } from "#model/rulesets/ua-rule.ts";
import { PAGE_POLICY_PARAMETER, PAGE_REPORT_PATH } from "#rules/previous-waf/page-policy-rules.ts";
import { ACCESS_RULE_SERVICES, PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
import { lockedUrlExpression } from "#rules/previous-waf/url-pattern.ts";
import type { RuleEntry } from "#snapshot/entries.ts";
import { edgeRule, endSlot } from "./edge-rules.ts";

/** An access rule as stored. */
export type StoredAccessRule = Omit<AccessRule, "scope" | "allowed_modes">;

/** Rules that allow come first; then the narrower rule decides: an address, a range, a network, a country. */
export const compileAccessRules = (rules: readonly StoredAccessRule[]): readonly RuleEntry[] =>
  rules
    .map((rule) => ({ rule, rank: rankOf(rule) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ rule }) => accessRule(rule));

const TARGETS = ["ip", "ip6", "ip_range", "asn", "country"] as const;
/** More than the bits of any prefix. */
const TARGET_RANKS = 256;
const MODE_RANKS = TARGET_RANKS * TARGETS.length;

function rankOf({ mode, configuration: { target, value } }: StoredAccessRule): number {
  const prefix = target === "ip_range" ? (parseCidr(value)?.prefix ?? 0) : 0;
  return (mode === "whitelist" ? 0 : MODE_RANKS) + TARGETS.indexOf(target) * TARGET_RANKS - prefix;
}

const EXPRESSIONS: Readonly<Record<StoredAccessRule["configuration"]["target"], (value: string) => string>> = {
  ip: (value) => `ip.src eq ${value}`,
  ip6: (value) => `ip.src eq ${value}`,
  ip_range: (value) => `ip.src in {${value}}`,
  asn: (value) => `ip.src.asnum eq ${value.slice(2)}`,
  country: (value) => `ip.src.country eq "${value}"`,
};

function accessRule({ id, mode, notes, configuration: { target, value } }: StoredAccessRule): RuleEntry {
  const event_service = ACCESS_RULE_SERVICES[target === "ip6" ? "ip" : target];
  const more = { description: notes, event_service };
  if (mode !== "whitelist") return edgeRule(id, mode, EXPRESSIONS[target](value), more);
  return edgeRule(id, "skip", EXPRESSIONS[target](value), { ...more, action_parameters: allowed(target), event_action: "allow" });
}

/** The checks that an allowed visitor skips. An allowed country still gets managed rules, and lockdowns apply to everybody. */
const allowed = (target: StoredAccessRule["configuration"]["target"]): RuleEntry["action_parameters"] => ({
  phase: "current",
  phases: ["http_ratelimit", ...(target === "country" ? [] : ["http_request_firewall_managed"])],
  rulesets: [PREVIOUS_SLOTS.ua_rules.ruleset_id],
});

/** A lockdown with a priority decides alone on its URLs, the lowest first. Without priorities each lockdown must admit the visitor. */
export const compileLockdowns = (lockdowns: readonly Lockdown[]): readonly RuleEntry[] =>
  lockdowns
    .filter(({ paused }) => !paused)
    .toSorted((a, b) => (a.priority ?? Number.POSITIVE_INFINITY) - (b.priority ?? Number.POSITIVE_INFINITY) || 0)
    .flatMap(({ id, description, priority, urls, configurations }) => {
      const places = `(${urls.map(lockedUrlExpression).join(" or ")})`;
      const admitted = configurations.map(({ value }) => value).join(" ");
      const block = edgeRule(id, "block", `${places} and not ip.src in {${admitted}}`, { description });
      return priority === undefined ? [block] : [block, endSlot(id, places)];
    });

/** Visitors with exactly this `User-Agent`. */
export const compileUaRules = (rules: readonly UaRule[]): readonly RuleEntry[] =>
  rules
    .filter(({ paused }) => !paused)
    .map(({ id, mode, description, configuration: { value } }) =>
      edgeRule(id, mode, `http.user_agent eq "${value.replaceAll(/[\\"]/g, (character) => `\\${character}`)}"`, { description }),
    );

const POLICY = "Content-Security-Policy";
const OWN_POLICY = 'http.response.headers["content-security-policy"]';
const HTML = 'http.response.content_type.media_type eq "text/html"';

/**
 * Policies of Page Shield, which browsers enforce or report (CSP Level 3 §3.1, §3.2). Those that replace the origin's field
 * come first, since the others add theirs beside it.
 */
export const compilePagePolicies = (policies: readonly PagePolicy[], isOn: boolean): readonly RuleEntry[] =>
  policies
    .filter(({ enabled }) => isOn && enabled)
    .toSorted((a, b) => Number(b.action === "add_reporting_directives") - Number(a.action === "add_reporting_directives"))
    .map(pagePolicy);

function pagePolicy({ id, action, expression, description, value }: PagePolicy): RuleEntry {
  const reports = `report-uri ${PAGE_REPORT_PATH}?${PAGE_POLICY_PARAMETER}=${id}`;
  const more = { description, event_action: "log" };
  const headers = (name: string, change: object): RuleEntry["action_parameters"] => ({ headers: { [name]: change } });
  const change = {
    allow: headers(POLICY, { operation: "add", value: `${value}; ${reports}` }),
    log: headers(`${POLICY}-Report-Only`, { operation: "add", value: `${value}; ${reports}` }),
    add_reporting_directives: headers(POLICY, { operation: "set", expression: `concat(${OWN_POLICY}[0], "; ${reports}")` }),
  };
  return edgeRule(id, "rewrite", pagePolicyExpression(expression, action), { ...more, action_parameters: change[action] });
}

/** The pages of a policy. An origin with several policies in its head keeps them as they are. */
export const pagePolicyExpression = (expression: string, action: PagePolicy["action"]): string =>
  `(${expression}) and ${HTML}${action === "add_reporting_directives" ? ` and len(${OWN_POLICY}) eq 1` : ""}`;
