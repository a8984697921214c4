import { once } from "#kernel/once.ts";
import type { Anchor, Category, Detector } from "#rules/detectors/engine/detector.ts";
import { withoutSpelled } from "#rules/detectors/checks/separators.ts";

/** Many forms are a function, so that only threads that look for the code compute them. */
type Forms = readonly string[] | (() => readonly string[]);

/** A detector of numbers or codes with fixed forms; common members have defaults. */
export interface CodeRow {
  readonly id: string;
  readonly rule_id: string;
  readonly name: string;
  /** Forms of the code, in the notation of chains.ts. */
  readonly templates: Forms;
  /** Gets the number or code in upper case and without separators. */
  readonly isValid: (code: string) => boolean;
  readonly context?: readonly string[];
  readonly sureBeside?: readonly string[];
  /** With lower-case letters it is something else, such as a hexadecimal number. */
  readonly isUpperCase?: true;
  /** Whether a name may be directly before it (detector.ts). */
  readonly isStuck?: true;
  readonly confidence?: Detector["confidence"];
  readonly enabled?: boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

export function chainOf(forms: Forms, stuck?: true): Anchor {
  const templates = once(typeof forms === "function" ? forms : () => forms);
  return {
    kind: "chain",
    get templates() {
      return templates();
    },
    ...(stuck === undefined ? {} : { stuck }),
  };
}

export const codeDetectors = (category: Category, tags: readonly string[], rows: readonly CodeRow[]): readonly Detector[] =>
  rows.map(({ templates, isValid, isUpperCase, isStuck, confidence = "medium", enabled = true, ...row }) => ({
    ...row,
    category,
    tags,
    anchors: [chainOf(templates, isStuck)],
    patterns: [],
    accepts: (text) => (isUpperCase === undefined || !/[a-z]/.test(withoutSpelled(text))) && isValid(codeOf(text)),
    confidence,
    enabled,
  }));

// Dozens of detectors read the same number one after the other.
let lastText = "";
let lastCode = "";

function codeOf(text: string): string {
  if (text === lastText) return lastCode;
  lastText = text;
  lastCode = withoutSpelled(text)
    .replace(/[^A-Za-z0-9]/g, "")
    .toUpperCase();
  return lastCode;
}
