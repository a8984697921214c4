import { CLASSES } from "../expression/byte-set.ts";
import { parseRegex, type Regex, RegexError } from "../expression/regex-syntax.ts";
import { compileRegexReplacer } from "../expression/regex.ts";
import { luhn, mod97 } from "./checks.ts";
import type { Anchor, Detector, Pattern } from "./detector.ts";

/** A customer's own kind of sensitive data. */
export interface CustomPattern {
  /** Also the id of its rule in events. */
  readonly id: string;
  readonly name: string;
  /** A regular expression as rules have them: Rust's syntax, bytes. */
  readonly pattern: string;
  /** One of these, in lower case, has to stand shortly before. */
  readonly context: readonly string[];
  readonly validator: "none" | "luhn" | "mod97";
  readonly tags: readonly string[];
  /** False where only an override switches it on. */
  readonly enabled?: boolean;
}

/** Compiles the pattern to a detector. Throws RegexError for what cannot be run, or has no place to begin at. */
export function customDetector({ id, name, pattern, context, validator, tags }: CustomPattern): Detector {
  // First as it was written, so that a mistake is told where it stands there.
  const start = startOf(parseRegex(pattern));
  const find = compileRegexReplacer(`^(?:${pattern})`);
  if (start === null || start.texts.some((text) => text.length < LITERAL_CHARACTERS_MIN)) throw new RegexError(NO_START, 0);
  const sticky: Pattern = {
    lastIndex: 0,
    exec: (window) => {
      let found = "";
      find(window, (group) => ((found = group(0)), ""));
      return found === "" ? null : [found];
    },
  };
  return {
    id: `custom.${id}`,
    rule_id: id,
    name,
    category: "custom",
    tags,
    anchors: start.texts.map((text): Anchor => ({ kind: "literal", text, word: false })).concat(start.digits ? [{ kind: "number" }] : []),
    patterns: [sticky],
    accepts: VALIDATORS[validator],
    ...(context.length === 0 ? {} : { context: context.map((word) => word.toLowerCase()) }),
    confidence: "medium",
    enabled: true,
    hits: [],
    misses: [],
  };
}

const LITERAL_CHARACTERS_MIN = 3;
const NO_START = `the pattern must begin with at least ${LITERAL_CHARACTERS_MIN} characters that stand for themselves, such as EMP-, or with a digit`;

const VALIDATORS: Readonly<Record<CustomPattern["validator"], (text: string) => boolean>> = {
  none: () => true,
  luhn: (text) => luhn(text.replace(/\D/g, "")),
  mod97: (text) => mod97(text.replace(/[^A-Za-z0-9]/g, "").toUpperCase()),
};

/** What every match begins with: one of the texts, or a digit. */
interface Start {
  readonly texts: readonly string[];
  readonly digits: boolean;
}

const TEXTS_MAX = 32;

function startOf(regex: Regex): Start | null {
  if (regex.kind === "capture") return startOf(regex.item);
  if (regex.kind === "choice") {
    const starts = regex.items.map(startOf);
    const known = starts.filter((start) => start !== null);
    const texts = known.flatMap((start) => start.texts);
    return known.length < starts.length || texts.length > TEXTS_MAX ? null : { texts, digits: known.some(({ digits }) => digits) };
  }
  const items = regex.kind === "sequence" ? regex.items.filter((item) => item.kind !== "assert" || item.what !== "word") : [regex];
  const text = leadingText(items);
  if (text !== "") return { texts: [text], digits: false };
  const [first] = items;
  if (first === undefined) return null;
  if (first.kind === "set") return (first.bytes & ~(CLASSES["d"] ?? 0n)) === 0n ? { texts: [], digits: true } : null;
  if (first.kind === "repeat") return first.min > 0 ? startOf(first.item) : null;
  return first.kind === "assert" || first.kind === "sequence" ? null : startOf(first);
}

function leadingText(items: readonly Regex[]): string {
  let text = "";
  for (const item of items) {
    const byte = item.kind === "set" ? onlyByte(item.bytes) : -1;
    // A number is found by its digits, whatever they are.
    if (byte < 0 || (text === "" && byte >= 0x30 && byte <= 0x39)) return text;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** -1 where the set has none, or several. */
function onlyByte(bytes: bigint): number {
  const isOne = bytes !== 0n && (bytes & (bytes - 1n)) === 0n;
  return isOne ? bytes.toString(2).length - 1 : -1;
}
