import type { SecurityEventRow } from "#events/rows.ts";
import type { CompiledDetectors } from "#rules/detectors/compiled.ts";
import { scanText } from "#rules/detectors/scan-text.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import type { ScanSubject } from "./job.ts";
import type { ExaminedMatch } from "./matches.ts";

/**
 * The event of a scanned response, or null when nothing matched: one a response (SPEC 6), under the rule of the surest and
 * then first finding, with all findings as its matches. It holds no matched text, not even where the request itself carries
 * some.
 */
export function eventOf(
  subject: ScanSubject,
  matches: readonly ExaminedMatch[],
  { id, limited, masked }: { readonly id: string; readonly limited: boolean; masked(text: string): string },
): SecurityEventRow | null {
  const [strongest] = matches.toSorted((a, b) => rank(a) - rank(b) || a.match.offset - b.match.offset);
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
    path: masked(subject.path),
    query: masked(subject.query),
    user_agent: masked(subject.user_agent),
    status: subject.status,
    matches: matches.map(({ match }) => match),
    scan_limited: limited,
  };
}

const MASK = "[masked]";

/** Gives a text back, or a mask where the detectors find something in it, plain or percent-encoded. */
export const maskerOf =
  (detectors: CompiledDetectors) =>
  (text: string): string =>
    finds(text, detectors) || finds(decoded(text), detectors) ? MASK : text;

const finds = (text: string, detectors: CompiledDetectors): boolean => text !== "" && scanText(detectors, text).findings.length > 0;

const decoded = (text: string): string =>
  text.replaceAll("+", " ").replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const rank = ({ match }: ExaminedMatch): number => (match.confidence === "high" ? 0 : 1);
