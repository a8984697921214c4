import { CLASSES } from "#rules/regex/byte-set.ts";
import { parseRegex, type Regex, RegexError, sizeOf } from "#rules/regex/regex-syntax.ts";
import { compileRegexReplacer, runsNatively } from "#rules/regex/regex.ts";
import { luhn, mod97 } from "#rules/detectors/checks/checks.ts";
import { LITERAL_BYTES_MAX } from "./literals.ts";
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
  checkBytes(bytesOf(pattern));
  // What is repeated is the character, and not the last of its bytes.
  const bytes = bytesOf(pattern.replace(/[^\x00-\x7f](?=[?*+{])/gu, "(?:$&)"));
  const parsed = parseRegex(bytes);
  const start = startOf(parsed);
  const anchored = `^(?:${bytes})`;
  const { replace } = compileRegexReplacer(anchored);
  if (start === null || start.texts.some((text) => charactersIn(text) < LITERAL_CHARACTERS_MIN)) throw new RegexError(NO_START, 0);
  const sticky: Pattern = {
    lastIndex: 0,
    exec: (window) => {
      let found = "";
      replace(window, (group) => ((found = group(0)), ""));
      return found === "" ? null : [found];
    },
  };
  return {
    id: `custom.${id}`,
    rule_id: id,
    name,
    category: "custom",
    tags,
    anchors: start.texts
      .map((text): Anchor => ({ kind: "literal", text: text.slice(0, LITERAL_BYTES_MAX), word: false }))
      .concat(start.digits ? [{ kind: "number" }] : []),
    patterns: [sticky],
    accepts: VALIDATORS[validator],
    ...(context.length === 0 ? {} : { context: context.map((word) => word.toLowerCase()) }),
    tries: runsNatively(parseRegex(anchored)) ? NATIVE_TRIES : Math.ceil(sizeOf(parsed) / TRY_SIZE),
    confidence: "medium",
    enabled: true,
    hits: [],
    misses: [],
  };
}

/** Of stored patterns: what an older version let through and this one does not must not stop the others. */
export function customDetectors(patterns: readonly CustomPattern[]): readonly Detector[] {
  return patterns.flatMap((pattern) => {
    try {
      return [customDetector(pattern)];
    } catch (error) {
      if (error instanceof RegexError) return [];
      throw error;
    }
  });
}

/** Texts are scanned as they come, which is UTF-8 nearly always: so is the pattern, one char a byte. */
const bytesOf = (pattern: string): string => Buffer.from(pattern).toString("latin1");

function checkBytes(bytes: string): void {
  if (UNICODE.test(bytes)) throw new RegexError(NO_UNICODE, 0);
  try {
    parseRegex(bytes);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new RegexError(error.message, charactersIn(bytes.slice(0, error.at)));
  }
}

const charactersIn = (bytes: string): number => Buffer.from(bytes, "latin1").toString().length;

/** What it begins with could not be told without its tables of characters. */
const UNICODE = /^\(\?[imsUx]*u/;
const NO_UNICODE = "(?u) is not taken here: characters beyond ASCII stand for themselves, and (?:ä|ö) for one of several";
const LITERAL_CHARACTERS_MIN = 3;
/** An automaton's time is linear in its size: of the largest, 1,000, a try at 512 bytes takes a millisecond and more. */
const TRY_SIZE = 64;
/** The runtime's own engine takes a third of a microsecond, as do managed rules: a page full of numbers is none too many. */
const NATIVE_TRIES = 1 / 32;
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
  const texts = leadingTexts(items);
  if (texts.length > 0) return { texts, digits: false };
  const [first] = items;
  if (first === undefined) return null;
  if (first.kind === "set") return (first.bytes & ~(CLASSES["d"] ?? 0n)) === 0n ? { texts: [], digits: true } : null;
  if (first.kind === "repeat") return first.min > 0 ? startOf(first.item) : null;
  return first.kind === "assert" || first.kind === "sequence" ? null : startOf(first);
}

/** In each way to write them, such as letters in both cases; none where they begin with a digit or with anything else. */
function leadingTexts(items: readonly Regex[]): readonly string[] {
  let texts = [""];
  for (const item of items) {
    const bytes = item.kind === "set" ? fewBytes(item.bytes) : [];
    // A number is found by its digits, whatever they are.
    const isNumber = texts[0] === "" && bytes.some((byte) => byte >= 0x30 && byte <= 0x39);
    if (bytes.length === 0 || isNumber || texts.length * bytes.length > TEXTS_MAX) break;
    // What is certain enough to begin at is not multiplied any further.
    if (bytes.length > 1 && (texts[0] as string).length >= LITERAL_CHARACTERS_MIN) break;
    texts = texts.flatMap((text) => bytes.map((byte) => text + String.fromCharCode(byte)));
  }
  return texts[0] === "" ? [] : texts;
}

const BYTES_MAX = 3;

/** Those of the set; none where it has more than a few. */
function fewBytes(set: bigint): readonly number[] {
  const bytes: number[] = [];
  for (let rest = set; rest !== 0n; rest &= rest - 1n) {
    if (bytes.length === BYTES_MAX) return [];
    bytes.push((rest & -rest).toString(2).length - 1);
  }
  return bytes;
}
