import type { SecurityEventRow } from "#events/rows.ts";
import type { Finding, ScanResult } from "#rules/detectors/scan.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import type { ScanSubject } from "./job.ts";

/**
 * The event of a scanned response, or null when nothing matched: one a response (SPEC 6), under the rule of
 * the surest and then first finding, with all findings as its matches. It has no room for matched text.
 */
export function eventOf(subject: ScanSubject, result: ScanResult, id: string): SecurityEventRow | null {
  const [strongest] = result.findings.toSorted((a, b) => rank(a) - rank(b) || a.offset - b.offset);
  if (strongest === undefined) return null;
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
    // The name that alert filters use (SPEC 6).
    service: "Data Loss Protection",
    client_ip: subject.client_ip,
    method: subject.method,
    scheme: subject.scheme,
    host: subject.host,
    path: subject.path,
    query: subject.query,
    user_agent: subject.user_agent,
    status: subject.status,
    matches: result.findings.map(({ detector, count, offset }) => ({ detector: detector.id, rule_id: detector.rule_id, count, offset, confidence: detector.confidence })),
    scan_limited: result.limited,
  };
}

const rank = (finding: Finding): number => (finding.detector.confidence === "high" ? 0 : 1);
