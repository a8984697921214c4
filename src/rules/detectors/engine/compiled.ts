import { once } from "#kernel/once.ts";
import type { DetectorGroup } from "./detector-group.ts";
import { Chains } from "./chains.ts";
import { type Countries, countriesOf } from "./countries.ts";
import { namedIndex, type NamedIndex } from "./named-index.ts";
import type { Anchor, Detector } from "./detector.ts";
import { createLiteralIndex, type Literal, type LiteralIndex } from "./literals.ts";
import { allForms, masksWhere, noForms, type NumberForms } from "#rules/detectors/prefilter/number-forms.ts";
import { AT_SIGN, COLON, createPrefilter, type Prefilter } from "#rules/detectors/prefilter/prefilter.ts";
import { HINTS } from "./rendered.ts";

/** Detectors by their anchors. */
export interface CompiledDetectors {
  readonly chains: Chains;
  readonly country_check: readonly DetectorGroup[];
  readonly countries: Countries;
  readonly plus: readonly DetectorGroup[];
  readonly base58: readonly DetectorGroup[];
  readonly at_sign: readonly DetectorGroup[];
  readonly colon: readonly DetectorGroup[];
  readonly number: readonly DetectorGroup[];
  readonly literals: LiteralIndex;
  readonly prefilter: Prefilter;
  /** Detectors with words near their hits (`context`, or `sureBeside`) that the text contains. */
  readonly named: NamedIndex<Detector>;
}

function onesOf(mask: number): number {
  let ones = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) ones++;
  return ones;
}

const ALL_DIGITS = 0xffff;
/** `91 ABNA 0417 164`. */
const BANK_OF_LETTERS = 0xef03;

/**
 * Forms of numbers without templates: computed once, because each zone with custom patterns is compiled separately, and
 * only when needed, because most threads never scan.
 */
const FORMS_OF_ANCHORS: ReadonlyMap<Anchor["kind"], () => NumberForms> = new Map([
  // Two check digits after two letters. The others may be letters; after lower-case letters, which are common in texts,
  // and if the country stands alone, digits must follow.
  [
    "country_check",
    once(() => ({
      ...noForms(),
      alone: masksWhere((mask) => mask === ALL_DIGITS || mask === BANK_OF_LETTERS || ((mask & 7) === 3 && onesOf(mask) >= 12)),
      afterCapital: masksWhere((mask) => (mask & 3) === 3),
      afterSmall: masksWhere((mask) => (mask & 3) === 3 && onesOf(mask) >= 9 && onesOf(mask & 0xfc00) >= 5),
    })),
  ],
  ["number", once(() => ({ ...noForms(), alone: masksWhere((mask) => (mask & 1) === 1), spacedDigitsMin: 1, areCut: false }))],
  // Eight digits; each may have a separator before it, and there may be two parentheses.
  ["plus", once(() => ({ ...noForms(), alone: masksWhere((mask) => onesOf(mask) >= 6), spacedDigitsMin: 6, areCut: false }))],
]);

const HINT_LITERALS = HINTS.map((text): Literal => ({
  bytes: Buffer.from(text, "latin1"),
  word: false,
  needs: undefined,
  behindName: false,
  groups: [],
  isHint: true,
}));

type LiteralAnchor = Anchor & { readonly kind: "literal" };

export function compileDetectors(detectors: readonly Detector[]): CompiledDetectors {
  const anchored = (holds: (anchor: Anchor) => boolean): readonly DetectorGroup[] =>
    grouped(detectors.filter((detector) => detector.anchors.some(holds)));
  const anchors = new Map<string, LiteralAnchor>();
  const byLiteral = new Map<string, Set<Detector>>();
  for (const detector of detectors) {
    for (const anchor of detector.anchors) {
      if (anchor.kind !== "literal") continue;
      const key = keyOf(anchor);
      anchors.set(key, anchor);
      const known = byLiteral.get(key) ?? new Set<Detector>();
      byLiteral.set(key, known.add(detector));
    }
  }
  const literals: Literal[] = Array.from(anchors, ([key, { text, word, needs, behindName }]) => ({
    bytes: Buffer.from(text, "latin1"),
    word,
    needs: needs?.charCodeAt(0),
    behindName: behindName === true,
    groups: grouped([...(byLiteral.get(key) ?? [])]),
    isHint: false,
  }));
  if (detectors.length > 0) literals.push(...HINT_LITERALS);
  const index = createLiteralIndex(literals);
  const chains = new Chains(detectors);
  const at_sign = anchored(({ kind }) => kind === "at_sign");
  const colon = anchored(({ kind }) => kind === "colon");
  return {
    chains,
    country_check: anchored(({ kind }) => kind === "country_check"),
    countries: countriesOf(
      detectors.flatMap(({ anchors: all }) => all.flatMap((one) => (one.kind === "country_check" ? one.countries : []))),
    ),
    plus: anchored(({ kind }) => kind === "plus"),
    number: anchored(({ kind }) => kind === "number"),
    base58: anchored(({ kind }) => kind === "base58"),
    at_sign,
    colon,
    literals: index,
    prefilter: createPrefilter({
      grams: index.grams,
      signs: [...(at_sign.length > 0 ? [AT_SIGN] : []), ...(colon.length > 0 ? [COLON] : [])],
      run: index.isRun.includes(1) ? index.isRun.indexOf(1) : undefined,
      forms: allForms([
        chains.forms,
        ...Array.from(FORMS_OF_ANCHORS, ([kind, forms]) => (anchored((anchor) => anchor.kind === kind).length > 0 ? forms() : noForms())),
      ]),
    }),
    named: namedIndex(detectors.map((detector) => [detector, detector.context ?? detector.sureBeside ?? []])),
  };
}

const keyOf = ({ text, word, needs = "", behindName }: LiteralAnchor): string => `${word} ${behindName} ${needs} ${text}`;

const grouped = (detectors: readonly Detector[]): readonly DetectorGroup[] =>
  Array.from(
    Map.groupBy(detectors, (detector) => detector.patterns),
    ([patterns, members]) => ({ patterns, detectors: members }),
  );
