import { fitsPath, fitsSteps, type JsonSteps, jsonSteps } from "#rules/detectors/allowed-place.ts";
import type { Detector } from "#rules/detectors/detector.ts";
import type { AllowedDataEntry } from "#snapshot/entries.ts";

/** What an allow-list looks at; each is asked for only where an entry needs it. */
export interface AllowedSubject {
  readonly detector: Detector;
  /** Path of the request. */
  readonly path: string;
  valueHash(): string;
  /** Null where the body is no JSON. */
  jsonPath(): string | null;
}

/** Whether one of the entries fits with all of its members. */
export function isAllowed(entries: readonly AllowedDataEntry[], subject: AllowedSubject): boolean {
  let steps: JsonSteps | null | undefined;
  let hash: string | undefined;
  return entries.some((entry) => {
    const { rule_id, path, value_hash } = entry;
    if (rule_id !== undefined && rule_id !== subject.detector.rule_id) return false;
    if (path !== undefined && !fitsPath(path, subject.path)) return false;
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
