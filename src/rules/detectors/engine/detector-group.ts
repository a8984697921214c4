import type { Detector, Pattern } from "./detector.ts";

/**
 * Detectors that share their patterns: a pattern runs once for all of them, and the first detector that accepts the match
 * gets the hit.
 */
export interface DetectorGroup {
  readonly patterns: readonly Pattern[];
  readonly detectors: readonly Detector[];
}
