import { PACKAGE_DEFAULTS } from "#control/previous-waf/package-settings.ts";
import { wafBelow } from "#control/previous-waf/page-rule-parts.ts";
import type { PreviousFirewall } from "#control/previous-waf/state.ts";
import { MIGRATED_EXPRESSION_BYTES_MAX, MIGRATED_FIREWALL_RULES_MAX } from "#model/rulesets/waf-migration.ts";
import { ANOMALY_PACKAGE_ID } from "#rules/previous-waf/packages.ts";

interface Blocker {
  /** Whether it also blocks the second phase. */
  readonly always: boolean;
  readonly blocks: (firewall: PreviousFirewall, isOn: boolean) => boolean;
  readonly message: string;
}

/** Whether a firewall rule exempts requests from the previous WAF. */
export const bypassesWaf = ({ action, products }: PreviousFirewall["firewall_rules"][number]): boolean =>
  action === "bypass" && (products ?? []).includes("waf");

const isScoring = ({ packages }: PreviousFirewall): boolean =>
  (packages.get(ANOMALY_PACKAGE_ID)?.sensitivity ?? PACKAGE_DEFAULTS.sensitivity) !== "off";

/** SPEC 7, "Eligibility for migration". */
const BLOCKERS: readonly Blocker[] = [
  {
    always: true,
    blocks: ({ overrides }) => overrides.length > 0,
    message: "the zone has URI-based WAF overrides; delete them with DELETE /zones/{zone_id}/firewall/waf/overrides/{override_id}",
  },
  {
    always: false,
    blocks: (firewall, isOn) => isOn && isScoring(firewall),
    message: "the OWASP package is on; set its sensitivity to off, or send the request with phase_two=1",
  },
  {
    always: false,
    blocks: ({ firewall_rules }) => firewall_rules.some(bypassesWaf),
    message: "a firewall rule bypasses WAF managed rules; delete it, or send the request with phase_two=1",
  },
  {
    always: false,
    blocks: ({ page_rules }) => page_rules.some((rule) => wafBelow(rule) !== null),
    message: "a page rule disables security or turns the WAF on or off; delete it, or send the request with phase_two=1",
  },
];

/** Why the zone cannot migrate, as sentences; empty if it can. */
export const migrationBlockers = (firewall: PreviousFirewall, isOn: boolean, phaseTwo: boolean): readonly string[] =>
  BLOCKERS.filter(({ always, blocks }) => (always || !phaseTwo) && blocks(firewall, isOn)).map(({ message }) => message);

/** Which limit of the migration is exceeded (SPEC 8), as a sentence; null if none. */
export function migrationExcess({ firewall_rules, filters }: PreviousFirewall): string | null {
  if (firewall_rules.length > MIGRATED_FIREWALL_RULES_MAX)
    return `the zone has ${firewall_rules.length} firewall rules, and at most ${MIGRATED_FIREWALL_RULES_MAX} can be migrated; contact support`;
  const used = new Set(firewall_rules.map(({ filter_id }) => filter_id));
  const long = filters.find(({ id, expression }) => used.has(id) && Buffer.byteLength(expression) > MIGRATED_EXPRESSION_BYTES_MAX);
  return long === undefined ? null : `the expression of filter ${long.id} is longer than 4 KB; contact support`;
}
