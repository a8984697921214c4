import type { Detector } from "./detector.ts";
import type { Finding } from "./tallies.ts";

/**
 * This many distinct kinds of data, this near to each other, are a record of a person and not a coincidence
 * (sensitive-data.md).
 */
const KINDS_MIN = 3;
const NEAR_BYTES = 256;

/**
 * Confidence of each finding, from all findings: high if a word near a hit or the kind's own check leaves no doubt, or if
 * hits of two other kinds are near. Data that is published on purpose has low confidence anywhere.
 */
export function confidences(findings: readonly Finding[]): (finding: Pick<Finding, "detector" | "isSure">) => Detector["confidence"] {
  const confirmed = confirmedByProximity(findings.filter(({ detector }) => detector.confidence !== "low"));
  return ({ detector, isSure }) => (isSure || confirmed.has(detector) ? "high" : detector.confidence);
}

function confirmedByProximity(findings: readonly Finding[]): ReadonlySet<Detector> {
  const confirmed = new Set<Detector>();
  if (findings.length < KINDS_MIN) return confirmed;
  const hits = findings
    .flatMap(({ detector, hits: own }) => own.map(({ offset }) => ({ detector, offset })))
    .sort((a, b) => a.offset - b.offset);
  const near = new Map<Detector, number>();
  let first = 0;
  for (const hit of hits) {
    near.set(hit.detector, (near.get(hit.detector) ?? 0) + 1);
    for (; hit.offset - (hits[first]?.offset ?? 0) > NEAR_BYTES; first++) forget(near, hits[first]?.detector);
    if (near.size >= KINDS_MIN) for (const detector of near.keys()) confirmed.add(detector);
  }
  return confirmed;
}

function forget(near: Map<Detector, number>, detector: Detector | undefined): void {
  if (detector === undefined) return;
  const left = (near.get(detector) ?? 0) - 1;
  if (left > 0) near.set(detector, left);
  else near.delete(detector);
}
