import { fitsPath, fitsSteps, type JsonSteps, jsonSteps } from "#rules/detectors/masking/allowed-place.ts";
import { NORMALIZATIONS, normalizedPattern } from "#rules/expression/request/normalize-path.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import type { AllowedDataEntry } from "#snapshot/entries.ts";

/** A finding, as allow-lists see it. The methods are called only if an entry needs them. */
export interface AllowedSubject {
  readonly detector: Detector;
  valueHash(): string;
  /** Null if the body is not JSON. */
  jsonPath(): string | null;
}

/** The entries that apply to requests of this path, selected once per response. */
export const allowedAt = (entries: readonly AllowedDataEntry[], requestPath: string): readonly AllowedDataEntry[] =>
  entries.filter(({ path }) => path === undefined || fitsSpelling(path, requestPath));

/** Entries belong to accounts too, whose zones may show paths as received or their normal form. */
const fitsSpelling = (wanted: string, path: string): boolean =>
  fitsPath(wanted, path) || NORMALIZATIONS.some((normalization) => fitsPath(normalizedPattern(wanted, normalization), path));

/** True if one of the entries, selected by path, allows everything that the detector finds. */
export const isAllAllowed = (entries: readonly AllowedDataEntry[], { rule_id }: Detector): boolean =>
  entries.some((entry) => entry.value_hash === undefined && entry.json_path === undefined && (entry.rule_id ?? rule_id) === rule_id);

/** True if one of the entries, selected by path, matches in all of its other members. */
export function isAllowed(entries: readonly AllowedDataEntry[], subject: AllowedSubject): boolean {
  let steps: JsonSteps | null | undefined;
  let hash: string | undefined;
  return entries.some((entry) => {
    const { rule_id, value_hash } = entry;
    if (rule_id !== undefined && rule_id !== subject.detector.rule_id) return false;
    if (value_hash !== undefined && value_hash !== (hash ??= subject.valueHash())) return false;
    const wanted = wantedSteps(entry);
    if (wanted === null) return entry.json_path === undefined;
    if (steps === undefined) steps = jsonSteps(subject.jsonPath() ?? "");
    return steps !== null && fitsSteps(wanted, steps);
  });
}

/** Parsed once per entry: entries are frozen, and tested for every finding. */
const known = new WeakMap<AllowedDataEntry, JsonSteps | null>();

/** Null if the entry has no valid JSON path. */
function wantedSteps(entry: AllowedDataEntry): JsonSteps | null {
  let steps = known.get(entry);
  if (steps === undefined) known.set(entry, (steps = jsonSteps(entry.json_path ?? "")));
  return steps;
}
