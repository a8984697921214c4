import { fitsPath, fitsSteps, type JsonSteps, jsonSteps } from "#rules/detectors/masking/allowed-place.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import type { AllowedDataEntry } from "#snapshot/entries.ts";

/** What an allow-list looks at; each is asked for only where an entry needs it. */
export interface AllowedSubject {
  readonly detector: Detector;
  valueHash(): string;
  /** Null where the body is no JSON. */
  jsonPath(): string | null;
}

/** Those that may fit hits in answers to requests of this path: asked once for all of an answer's. */
export const allowedAt = (entries: readonly AllowedDataEntry[], requestPath: string): readonly AllowedDataEntry[] =>
  entries.filter(({ path }) => path === undefined || fitsPath(path, requestPath));

/** Whether one of the entries, which fit the request's path, takes all that the detector finds. */
export const isAllAllowed = (entries: readonly AllowedDataEntry[], { rule_id }: Detector): boolean =>
  entries.some((entry) => entry.value_hash === undefined && entry.json_path === undefined && (entry.rule_id ?? rule_id) === rule_id);

/** Whether one of the entries, which fit the request's path, fits with all of its other members. */
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

/** Entries are frozen, and asked about every hit. */
const known = new WeakMap<AllowedDataEntry, JsonSteps | null>();

/** Null where it names no place, or none that there is. */
function wantedSteps(entry: AllowedDataEntry): JsonSteps | null {
  let steps = known.get(entry);
  if (steps === undefined) known.set(entry, (steps = jsonSteps(entry.json_path ?? "")));
  return steps;
}
