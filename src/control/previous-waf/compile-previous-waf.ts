import type { WafOverride } from "#model/rulesets/previous-waf.ts";
import { PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
import { WAF_PACKAGES } from "#rules/previous-waf/packages.ts";
import { urlExpression } from "#rules/previous-waf/url-pattern.ts";
import type { RuleEntry } from "#snapshot/entries.ts";
import { edgeRule, endSlot } from "./edge-rules.ts";
import { packageOverrides } from "./package-settings.ts";
import { patternOf, wafBelow, wafPageRules } from "./page-rule-parts.ts";
import type { PreviousFirewall } from "./state.ts";

/**
 * The previous WAF as the edge runs it. The first matching page rule decides whether it inspects a request, and the first
 * matching override decides how; each ends the slot, so that later ones are not evaluated.
 */
export function compilePreviousWaf(firewall: PreviousFirewall, isOn: boolean): readonly RuleEntry[] {
  const below = wafPageRules(firewall.page_rules).flatMap((rule) => {
    const expression = urlExpression(patternOf(rule));
    const runs = wafBelow(rule) === "on" ? deployments(firewall, expression) : [];
    return [...runs, endSlot(rule.id, expression)];
  });
  // If the zone has not enabled the WAF, only page rules can enable it.
  if (!isOn && !below.some(({ action }) => action === "execute")) return [];
  return [...below, ...(isOn ? deployments(firewall, null) : [])];
}

function deployments(firewall: PreviousFirewall, within: string | null): readonly RuleEntry[] {
  const limited = (expression: string): string =>
    within === null ? expression : expression === "true" ? within : `${within} and ${expression}`;
  const overridden = inOrder(firewall.overrides).flatMap((override) =>
    override.urls.flatMap((url) => {
      const expression = limited(urlExpression(url));
      return [...executions(firewall, override, expression), endSlot(override.id, expression)];
    }),
  );
  return [...overridden, ...executions(firewall, null, limited("true"))];
}

/** Lowest number first; equals stay in order of age. */
const inOrder = (overrides: readonly WafOverride[]): readonly WafOverride[] =>
  overrides.filter(({ paused }) => !paused).toSorted((a, b) => a.priority - b.priority);

const executions = (firewall: PreviousFirewall, override: WafOverride | null, expression: string): readonly RuleEntry[] =>
  WAF_PACKAGES.flatMap((pack) => {
    const overrides = packageOverrides(pack, firewall, override);
    if (overrides === null) return [];
    const id = override?.id ?? PREVIOUS_SLOTS.previous_waf.ruleset_id;
    return [edgeRule(id, "execute", expression, { action_parameters: { id: pack.id, version: "latest", overrides } })];
  });
