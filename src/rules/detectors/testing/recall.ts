import { readFileSync } from "node:fs";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

/** Results of the labelled cases of one kind. */
export interface KindRecall {
  /** The label of the cases: `pii.phone`. */
  readonly kind: string;
  readonly cases: number;
  /** Cases in which a detector found something. */
  readonly found: number;
  readonly missed: readonly string[];
}

export interface Recall {
  /** The kinds with the most cases first. */
  readonly kinds: readonly KindRecall[];
  readonly negatives: number;
  /** Texts without sensitive data in which a default detector found something, and the detectors. */
  readonly wrong: readonly { readonly text: string; readonly detectors: readonly string[] }[];
}

interface Case {
  readonly text: string;
  /** A kind, or `none`. */
  readonly label: string;
  /** `value_only`: a bare value, which in a page is near a word that names it. */
  readonly kind: string;
}

const compiled = compileDetectors(DETECTORS);
const found = (text: string) => scanText(compiled, text).findings.map(({ detector }) => detector);

/** Recall on a file with a JSON case per line. A bare value is put after the words of its label: `pii.tax_id_de` is `tax id`. */
export function recallOf(file: string | URL): Recall {
  const cases = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Case);
  const kinds = Array.from(
    Map.groupBy(
      cases.filter(({ label }) => label !== "none"),
      ({ label }) => label,
    ),
    ([kind, labelled]): KindRecall => {
      const missed = labelled.filter((one) => found(inContext(one)).length === 0);
      return { kind, cases: labelled.length, found: labelled.length - missed.length, missed: missed.map(({ text }) => text) };
    },
  );
  const negatives = cases.filter(({ label }) => label === "none");
  const wrong = negatives.flatMap(({ text }) => {
    const detectors = found(text).flatMap(({ id, enabled }) => (enabled ? [id] : []));
    return detectors.length === 0 ? [] : [{ text, detectors }];
  });
  return { kinds: kinds.toSorted((a, b) => b.cases - a.cases), negatives: negatives.length, wrong };
}

const inContext = ({ text, label, kind }: Case): string =>
  kind === "value_only"
    ? `${label
        .replace(/^[a-z]+\./, "")
        .replace(/_[a-z]{2}$/, "")
        .replaceAll("_", " ")} ${text}`
    : text;

export const percent = ({ found: hits, cases }: Pick<KindRecall, "found" | "cases">): string => `${((100 * hits) / cases).toFixed(1)} %`;
