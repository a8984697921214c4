import { executeManaged, SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import type { ScannedRequest, ScanSubject } from "#edge/detection/scan-plan.ts";
import type { BodyCopy, BodyTee } from "#edge/detection/body-tee.ts";

const managed = executeManaged({ id: SENSITIVE_DATA_RULESET_ID });

/** A subject for tests: an HTML page, with every default rule on. */
export const testSubject = (changes: Partial<ScanSubject> = {}): ScanSubject => ({
  ray_id: "00000000000000aa",
  at_ms: 1_700_000_000_000,
  account_id: "a".repeat(32),
  zone_id: "b".repeat(32),
  client_ip: "192.0.2.7",
  method: "GET",
  scheme: "https",
  host: "www.example.com",
  path: "/account",
  query: "tab=cards",
  user_agent: "test/1",
  country: "",
  status: 200,
  content_type: "text/html",
  charset: "",
  content_encoding: "",
  cut: "none",
  ruleset_id: SENSITIVE_DATA_RULESET_ID,
  enabled: managed?.enabled ?? "0",
  own: "",
  public_key: "",
  masked_sample: false,
  deployed_by: "c".repeat(32),
  ...changes,
});

/** The request of a subject, as the edge describes it. */
export const requestOf = (subject: ScanSubject): ScannedRequest => ({
  ...subject,
  place: subject.country === "" ? undefined : { country: subject.country },
});

/** Begins a body with such a subject, in a separate scope. */
export function beginTest(tap: BodyTee, changes: Partial<ScanSubject> = {}): BodyCopy | null {
  const subject = testSubject(changes);
  return tap.begin(subject, requestOf(subject), subject);
}
