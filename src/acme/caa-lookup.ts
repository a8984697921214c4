import { caaRefusal, type CaaQuestion, type CaaRecord } from "./caa.ts";

/** What a resolver knows of CAA at one name, aliases followed; no records where there is none or no such name. */
export type LookUpCaa = (name: string, signal: AbortSignal) => Promise<CaaAnswer>;

export type CaaAnswer = { readonly records: readonly CaaRecord[] } | { readonly failed: string };

export type CaaVerdict =
  | { readonly kind: "allowed" }
  /** `reason` is a sentence for the owner of the domain. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Nobody knows, for now. */
  | { readonly kind: "unknown"; readonly reason: string };

/** RFC 1035 §2.3.4: a name has no more labels. */
const LABELS_MAX = 127;

/** Looks whether CAA records let the authority issue for the name, which may begin with `*.`, before it is asked to. */
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

/** RFC 8659 §3: the first set that is not empty, from the name upwards; the climb goes on at the name, not at what it is an alias of. */
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
