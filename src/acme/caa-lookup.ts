import { caaRefusal, type CaaQuestion, type CaaRecord } from "./caa.ts";

/** Looks up CAA records at one name, aliases followed; no records if the set or the name does not exist. */
export type LookUpCaa = (name: string, signal: AbortSignal) => Promise<CaaAnswer>;

export type CaaAnswer = { readonly records: readonly CaaRecord[] } | { readonly failed: string };

export type CaaVerdict =
  | { readonly kind: "allowed" }
  /** `reason` is a sentence for the owner of the domain. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Unknown for now. */
  | { readonly kind: "unknown"; readonly reason: string };

/** RFC 1035 §2.3.4: the most labels that a name can have. */
const LABELS_MAX = 127;

/** Checks whether CAA records let the authority issue for the name, which may begin with `*.`, before the authority is asked. */
export async function checkCaa(
  lookUp: LookUpCaa,
  host: string,
  question: Omit<CaaQuestion, "isWildcard">,
  signal: AbortSignal,
): Promise<CaaVerdict> {
  const isWildcard = host.startsWith("*.");
  const found = await relevantRecords(lookUp, isWildcard ? host.slice(2) : host, signal);
  if ("failed" in found) return { kind: "unknown", reason: `the CAA records of ${found.at} could not be looked up: ${found.failed}` };
  const refusal = caaRefusal(found.records, { ...question, isWildcard });
  if (refusal === null) return { kind: "allowed" };
  return { kind: "refused", reason: `CAA records of ${found.at} do not let ${question.authority.name} issue for ${host}: ${refusal}` };
}

/** RFC 8659 §3: the first non-empty set, from the name upwards; the climb continues from the name, not from its alias target. */
async function relevantRecords(
  lookUp: LookUpCaa,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly at: string; readonly records: readonly CaaRecord[] } | { readonly at: string; readonly failed: string }> {
  const labels = name.split(".").slice(-LABELS_MAX);
  for (let at = 0; at < labels.length; at++) {
    signal.throwIfAborted();
    const domain = labels.slice(at).join(".");
    const answer = await lookUp(domain, signal);
    if ("failed" in answer) return { at: domain, failed: answer.failed };
    if (answer.records.length > 0) return { at: domain, records: answer.records };
  }
  return { at: name, records: [] };
}
