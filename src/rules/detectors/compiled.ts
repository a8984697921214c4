import type { Detector } from "./detector.ts";

/** Detectors grouped by what starts them. */
export interface CompiledDetectors {
  readonly digits: readonly Detector[];
  readonly country_check: readonly Detector[];
  readonly literals: readonly { readonly bytes: Buffer; readonly word: boolean; readonly detectors: readonly Detector[] }[];
}

export function compileDetectors(detectors: readonly Detector[]): CompiledDetectors {
  const anchored = (kind: "digits" | "country_check"): readonly Detector[] => detectors.filter((detector) => detector.anchors.some((anchor) => anchor.kind === kind));
  const literals = new Map<string, { bytes: Buffer; word: boolean; detectors: Detector[] }>();
  for (const detector of detectors) {
    for (const anchor of detector.anchors) {
      if (anchor.kind !== "literal") continue;
      const key = `${anchor.word} ${anchor.text}`;
      const row = literals.get(key) ?? { bytes: Buffer.from(anchor.text, "latin1"), word: anchor.word, detectors: [] };
      row.detectors.push(detector);
      literals.set(key, row);
    }
  }
  return { digits: anchored("digits"), country_check: anchored("country_check"), literals: Array.from(literals.values()) };
}
