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
  /** A regular expression as in rules: Rust's syntax, over bytes. */
  readonly pattern: string;
  /** One of these words, in lower case, must be shortly before the match. */
  readonly context: readonly string[];
  readonly validator: "none" | "luhn" | "mod97";
  readonly tags: readonly string[];
  /** False if only an override switches it on. */
  readonly enabled?: boolean;
}

/** Compiles the pattern to a detector. Throws RegexError for a pattern that cannot be run or has no anchor. */
export function customDetector({ id, name, pattern, context, validator, tags }: CustomPattern): Detector {
  // Checked unchanged first, so that the error has the position in the customer's pattern.
  checkBytes(bytesOf(pattern));
  // A repetition must repeat the whole character, not the last of its bytes.
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

/**
 * Compiles stored patterns, without those that this version refuses: a pattern that an older version accepted must not
 * stop the others.
 */
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

/** Texts are scanned as bytes, which are nearly always UTF-8; so is the pattern, one char per byte. */
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

/** In Unicode mode, the first bytes of a match cannot be known without character tables. */
const UNICODE = /^\(\?[imsUx]*u/;
const NO_UNICODE = "(?u) is not supported here: write non-ASCII characters as they are, and alternatives as (?:ä|ö)";
const LITERAL_CHARACTERS_MIN = 3;
/** An automaton's time is linear in its size: the largest, with 1,000 states, takes over a millisecond for a try at 512 bytes. */
const TRY_SIZE = 64;
/** The runtime's own engine takes a third of a microsecond, like managed rules, so even a page full of numbers may be tried. */
const NATIVE_TRIES = 1 / 32;
const NO_START = `the pattern must begin with at least ${LITERAL_CHARACTERS_MIN} literal characters, such as EMP-, or with a digit`;

const VALIDATORS: Readonly<Record<CustomPattern["validator"], (text: string) => boolean>> = {
  none: () => true,
  luhn: (text) => luhn(text.replace(/\D/g, "")),
  mod97: (text) => mod97(text.replace(/[^A-Za-z0-9]/g, "").toUpperCase()),
};

/** The beginning of every match: one of the texts, or a digit. */
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

/** All spellings of the beginning, such as letters in both cases; empty if it is a digit or anything else. */
function leadingTexts(items: readonly Regex[]): readonly string[] {
  let texts = [""];
  for (const item of items) {
    const bytes = item.kind === "set" ? fewBytes(item.bytes) : [];
    // A number is found by any of its digits.
    const isNumber = texts[0] === "" && bytes.some((byte) => byte >= 0x30 && byte <= 0x39);
    if (bytes.length === 0 || isNumber || texts.length * bytes.length > TEXTS_MAX) break;
    // A text that is long enough for an anchor gets no further alternatives.
    if (bytes.length > 1 && (texts[0] as string).length >= LITERAL_CHARACTERS_MIN) break;
    texts = texts.flatMap((text) => bytes.map((byte) => text + String.fromCharCode(byte)));
  }
  return texts[0] === "" ? [] : texts;
}

const BYTES_MAX = 3;

/** The bytes of the set; empty if they are more than a few. */
function fewBytes(set: bigint): readonly number[] {
  const bytes: number[] = [];
  for (let rest = set; rest !== 0n; rest &= rest - 1n) {
    if (bytes.length === BYTES_MAX) return [];
    bytes.push((rest & -rest).toString(2).length - 1);
  }
  return bytes;
}
