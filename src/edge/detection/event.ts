import type { SecurityEventRow } from "#events/rows.ts";
import type { CompiledDetectors } from "#rules/detectors/compiled.ts";
import { BodyScanner, type Finding, type ScanResult } from "#rules/detectors/scan.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import type { ScanSubject } from "./job.ts";

/**
 * The event of a scanned response, or null when nothing matched: one a response (SPEC 6), under the rule of
 * the surest and then first finding, with all findings as its matches. It holds no matched text, not even
 * where the request itself carries some.
 */
export function eventOf(subject: ScanSubject, result: ScanResult, id: string, detectors: CompiledDetectors): SecurityEventRow | null {
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
    path: masked(subject.path, detectors),
    query: masked(subject.query, detectors),
    user_agent: masked(subject.user_agent, detectors),
    status: subject.status,
    matches: result.findings.map(({ detector, count, offset }) => ({
      detector: detector.id,
      rule_id: detector.rule_id,
      count,
      offset,
      confidence: detector.confidence,
    })),
    scan_limited: result.limited,
  };
}

const MASK = "[masked]";

/** The text, or a mask where the detectors find something in it, plain or percent-encoded. */
const masked = (text: string, detectors: CompiledDetectors): string =>
  finds(text, detectors) || finds(decoded(text), detectors) ? MASK : text;

function finds(text: string, detectors: CompiledDetectors): boolean {
  const scanner = new BodyScanner(detectors);
  scanner.push(Buffer.from(text));
  return scanner.end().findings.length > 0;
}

const decoded = (text: string): string =>
  text.replaceAll("+", " ").replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const rank = (finding: Finding): number => (finding.detector.confidence === "high" ? 0 : 1);
