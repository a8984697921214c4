import { isUtf8 } from "node:buffer";
import { sealEnvelope } from "#kernel/crypto/envelope.ts";
import type { EventMatch } from "#events/rows/rows.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { jsonPaths } from "#rules/detectors/masking/json-path.ts";
import { confidences } from "#rules/detectors/engine/proximity.ts";
import type { ScanResult } from "#rules/detectors/engine/scan.ts";
import type { Finding, DetectorHit } from "#rules/detectors/engine/tallies.ts";
import type { TextMasker } from "#rules/detectors/masking/text-masker.ts";
import { maskedSample, type ValueHash } from "#rules/detectors/engine/value-hash.ts";
import type { AllowedDataEntry } from "#snapshot/entries.ts";
import { allowedAt, isAllAllowed, isAllowed } from "./allowed.ts";
import type { ScanSubject } from "./scan-plan.ts";

/** The findings of a scan, after the allow-list. */
export interface Examined {
  /** In the order of their first hits. */
  readonly matches: readonly ExaminedMatch[];
  /** Hits that the allow-list allows. */
  readonly allowed: number;
  /** There were more hits than are kept, so some were not compared with the allow-list. */
  readonly isPartial: boolean;
}

export interface ExaminedMatch {
  readonly detector: Detector;
  readonly match: EventMatch;
}

export interface ExamineDeps {
  readonly subject: ScanSubject;
  /** The scanned text, if it is JSON and was kept. */
  readonly body: Uint8Array | null;
  readonly allowed: readonly AllowedDataEntry[];
  readonly valueHash: ValueHash;
  readonly mask: TextMasker;
}

/** Removes allowed findings, and gives the position and confidence of the others, never their plain text. */
export function examine(result: ScanResult, deps: ExamineDeps): Examined {
  const { subject, valueHash } = deps;
  const allowed = allowedAt(deps.allowed, subject.path);
  const pathOf = createPaths(result, deps.body, allowed.length > 0);
  const hashOf = (detector: Detector, { text }: DetectorHit): string => valueHash(subject.zone_id, detector, text);
  let dropped = 0;
  const kept = result.findings.flatMap((finding): Finding[] => {
    const { detector } = finding;
    if (isAllAllowed(allowed, detector)) {
      dropped += finding.count;
      return [];
    }
    const hits = finding.hits.filter(
      (hit) => !isAllowed(allowed, { detector, valueHash: () => hashOf(detector, hit), jsonPath: () => pathOf(hit) }),
    );
    const gone = finding.hits.length - hits.length;
    dropped += gone;
    if (finding.count === gone) return [];
    return [{ ...finding, count: finding.count - gone, offset: hits[0]?.offset ?? finding.offset, hits }];
  });
  const confidenceOf = confidences(kept);
  const copiesOf = createCopies();
  const matches = kept.map((finding): ExaminedMatch => {
    const { detector, count, offset } = finding;
    const [first] = finding.hits;
    const path = first === undefined ? null : pathOf(first);
    const match: EventMatch = {
      detector: detector.id,
      rule_id: detector.rule_id,
      count,
      offset,
      confidence: confidenceOf(finding),
      ...(path === null ? {} : { json_path: deps.mask([path], "")[0] ?? "" }),
      ...(first === undefined ? {} : { value_hash: hashOf(detector, first), ...asked(subject, finding, copiesOf) }),
    };
    return { detector, match };
  });
  const isPartial = allowed.length > 0 && kept.some(({ count, hits }) => count > hits.length);
  return { matches: matches.sort((a, b) => a.match.offset - b.match.offset), allowed: dropped, isPartial };
}

/** Finds the path of each first hit, or of every hit if some may be allowed, in one walk over the JSON. */
function createPaths(result: ScanResult, body: Uint8Array | null, isOfEvery: boolean): (hit: DetectorHit) => string | null {
  if (body === null || result.findings.length === 0) return () => null;
  const asked = result.findings.flatMap(({ hits }) => (isOfEvery ? hits : hits.slice(0, 1)));
  const paths = jsonPaths(body, asked, result.findings);
  return ({ offset }) => paths.get(offset) ?? null;
}

const COPIES_MAX = 16;
/** Limit of all copies of an event: a page may be full of findings, and a full database deletes the oldest rows of every account. */
const COPIES_CHARS_MAX = 64 * 1024;

function createCopies(): (hits: readonly DetectorHit[]) => readonly DetectorHit[] {
  let left = COPIES_CHARS_MAX;
  return (hits) =>
    hits.slice(0, COPIES_MAX).filter((hit) => {
      const { length } = JSON.stringify(hit);
      if (length > left) return false;
      left -= length;
      return true;
    });
}

/** The parts of a match that the execute rule's `matched_data` requests. */
function asked(
  { public_key, masked_sample }: ScanSubject,
  { hits }: Finding,
  copiesOf: (hits: readonly DetectorHit[]) => readonly DetectorHit[],
): Pick<EventMatch, "sample" | "matched_data"> {
  const copies = public_key === "" ? [] : copiesOf(hits).map(({ offset, text }) => ({ offset, text: readable(text) }));
  return {
    ...(masked_sample ? { sample: maskedSample(readable(hits[0]?.text ?? "")) } : {}),
    ...(copies.length === 0 ? {} : { matched_data: sealEnvelope(public_key, JSON.stringify(copies)) }),
  };
}

/** Decodes UTF-8; text in other charsets stays one character per byte. */
function readable(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  return isUtf8(bytes) ? bytes.toString() : text;
}
