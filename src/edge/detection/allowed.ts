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
export const isAllowed = (entries: readonly AllowedDataEntry[], subject: AllowedSubject): boolean =>
  entries.some(
    ({ rule_id, path, value_hash, json_path }) =>
      (rule_id === undefined || rule_id === subject.detector.rule_id) &&
      (path === undefined || fitsPath(path, subject.path)) &&
      (value_hash === undefined || value_hash === subject.valueHash()) &&
      (json_path === undefined || fitsJsonPath(json_path, subject.jsonPath())),
  );

const fitsPath = (wanted: string, path: string): boolean => (wanted.endsWith("*") ? path.startsWith(wanted.slice(0, -1)) : path === wanted);

/** Steps of a path one by one; `[*]` stands for every place of an array. */
function fitsJsonPath(wanted: string, path: string | null): boolean {
  if (path === null) return false;
  const steps = stepsOf(path);
  const wantedSteps = stepsOf(wanted);
  return (
    wantedSteps.length === steps.length &&
    wantedSteps.every((step, place) => step === steps[place] || (step === "[*]" && /^\[\d+\]$/.test(steps[place] ?? "")))
  );
}

const stepsOf = (path: string): readonly string[] => path.match(/\.[^.[]+|\["(?:[^"\\]|\\.)*"\]|\[[^\]]*\]/g) ?? [];
