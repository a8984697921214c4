import { urlNormalizationOf } from "#control/open-zone/url-paths.ts";
import type { Lockdown } from "#model/rulesets/lockdown.ts";
import type { PageRule } from "#model/rulesets/page-rule.ts";
import type { RateLimit } from "#model/rulesets/rate-limit.ts";
import { normalUrlPattern } from "#rules/previous-waf/url-pattern.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import type { PreviousFirewall } from "./state.ts";

type Zone = Pick<ZoneRow, "edge_settings">;

/** A zone's previous firewall with patterns of URLs in the form of the paths that rules of the zone see (ADR 0290). */
export const withNormalPatterns = (firewall: PreviousFirewall, zone: Zone): PreviousFirewall => ({
  ...firewall,
  page_rules: firewall.page_rules.map((rule) => normalPageRule(rule, zone)),
  rate_limits: firewall.rate_limits.map((limit) => ({ ...limit, ...normalRateLimit(limit, zone) })),
  lockdowns: firewall.lockdowns.map((lockdown) => normalLockdown(lockdown, zone)),
  overrides: firewall.overrides.map((override) => ({ ...override, urls: override.urls.map(normalIn(zone)) })),
});

const normalIn = (zone: Zone): ((pattern: string) => string) => {
  const normalization = urlNormalizationOf(zone);
  return (pattern) => normalUrlPattern(pattern, normalization);
};

function normalPageRule(rule: PageRule, zone: Zone): PageRule {
  const normal = normalIn(zone);
  const targets = rule.targets.map((target) => ({
    ...target,
    constraint: { ...target.constraint, value: normal(target.constraint.value) },
  }));
  return { ...rule, targets };
}

/** The tests of a rate limit. */
export function normalRateLimit({ match, bypass }: Pick<RateLimit, "match" | "bypass">, zone: Zone): Pick<RateLimit, "match" | "bypass"> {
  const normal = normalIn(zone);
  const { request } = match;
  return {
    match: request?.url === undefined ? match : { ...match, request: { ...request, url: normal(request.url) } },
    ...(bypass === undefined ? {} : { bypass: bypass.map((one) => ({ ...one, value: normal(one.value) })) }),
  };
}

/** A lockdown also covers paths as received, so its patterns stay beside their normal form. */
export const normalLockdown = (lockdown: Lockdown, zone: Zone): Lockdown => ({
  ...lockdown,
  urls: [...new Set(lockdown.urls.flatMap((url) => [url, normalIn(zone)(url)]))],
});
