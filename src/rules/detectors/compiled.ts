import type { Anchor, Detector } from "./detector.ts";

/** Detectors that share their patterns: a pattern runs once for all, and the first detector that accepts has the hit. */
export interface DetectorGroup {
  readonly patterns: readonly RegExp[];
  readonly detectors: readonly Detector[];
}

/** Detectors by what starts them. */
export interface CompiledDetectors {
  readonly digits: readonly DetectorGroup[];
  readonly country_check: readonly DetectorGroup[];
  readonly literals: readonly { readonly bytes: Buffer; readonly word: boolean; readonly groups: readonly DetectorGroup[] }[];
}

type Literal = Anchor & { readonly kind: "literal" };

export function compileDetectors(detectors: readonly Detector[]): CompiledDetectors {
  const anchored = (holds: (anchor: Anchor) => boolean): readonly DetectorGroup[] =>
    grouped(detectors.filter((detector) => detector.anchors.some(holds)));
  const literals = new Map<string, Literal>();
  for (const anchor of detectors.flatMap((detector) => detector.anchors))
    if (anchor.kind === "literal") literals.set(`${anchor.word} ${anchor.text}`, anchor);
  return {
    digits: anchored((anchor) => anchor.kind === "digits"),
    country_check: anchored((anchor) => anchor.kind === "country_check"),
    literals: Array.from(literals.values(), ({ text, word }) => ({
      bytes: Buffer.from(text, "latin1"),
      word,
      groups: anchored((anchor) => anchor.kind === "literal" && anchor.text === text && anchor.word === word),
    })),
  };
}

const grouped = (detectors: readonly Detector[]): readonly DetectorGroup[] =>
  Array.from(
    Map.groupBy(detectors, (detector) => detector.patterns),
    ([patterns, members]) => ({ patterns, detectors: members }),
  );
