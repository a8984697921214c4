import type { Detector, Pattern } from "./detector.ts";

/** Detectors that share their patterns: a pattern runs once for all, and the first detector that accepts has the hit. */
export interface DetectorGroup {
  readonly patterns: readonly Pattern[];
  readonly detectors: readonly Detector[];
}
