import type { SecurityEventRow } from "#events/rows/rows.ts";
import { withoutPasswords, withoutSecrets } from "#edge/http/secret-parameters.ts";
import { VISITOR_TEXTS } from "#events/write/mask-rows.ts";
import type { TextMasker } from "#rules/detectors/masking/text-masker.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import { DETECTION_SERVICE } from "#rules/services.ts";
import type { ScanSubject } from "./scan-plan.ts";
import type { ExaminedMatch } from "./matches.ts";

/**
 * The event of a scanned response, or null without a match. A response has one event (SPEC 6), under the rule of the
 * surest finding, and of these the first, with all findings as its matches. It has no matched text: `mask` hides
 * sensitive data in the request, in all rows (ADR 0035), here with the zone's detectors. Query parameters are hidden as
 * in all rows.
 */
export function eventOf(
  subject: ScanSubject,
  matches: readonly ExaminedMatch[],
  { id, limited, mask }: { readonly id: string; readonly limited: boolean; readonly mask: TextMasker },
): SecurityEventRow | null {
  const [strongest] = matches.toSorted((a, b) => rank(a) - rank(b) || a.match.offset - b.match.offset);
  if (strongest === undefined) return null;
  const masked = (name: keyof typeof VISITOR_TEXTS, text: string): string => mask([text], VISITOR_TEXTS[name])[0] ?? "";
  return {
    id,
    ray_id: subject.ray_id,
    at_ms: subject.at_ms,
    account_id: subject.account_id,
    zone_id: subject.zone_id,
    ruleset_id: subject.ruleset_id,
    rule_id: strongest.detector.rule_id,
    deployed_by: subject.deployed_by,
    rule_description: strongest.detector.name,
    phase: MANAGED_RULESETS.get(subject.ruleset_id)?.phase ?? "",
    action: "log",
    service: DETECTION_SERVICE,
    client_ip: subject.client_ip,
    method: subject.method,
    scheme: subject.scheme,
    host: subject.host,
    path: masked("path", withoutPasswords(subject.path)),
    query: masked("query", withoutSecrets(subject.query)),
    user_agent: masked("user_agent", subject.user_agent),
    status: subject.status,
    matches: matches.map(({ match }) => match),
    scan_limited: limited,
    country: subject.country,
  };
}

const RANKS = { high: 0, medium: 1, low: 2 } as const;
const rank = ({ match }: ExaminedMatch): number => RANKS[match.confidence];
