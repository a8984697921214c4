import { RE2JS } from "re2js";
import { isLinear, repeatsOddly, simplifyTest } from "./regex-linear.ts";
import { requiredParts, type RequiredParts } from "./regex-parts.ts";
import { type ByteSet, without } from "./byte-set.ts";
import { type Assertion, parseRegex, type Regex, RegexError, sizeOf } from "./regex-syntax.ts";

export { RegexError };

/** A customer's regular expression. Its time is linear in the text, whatever both are. */
export interface RegexTest {
  test(text: string): boolean;
  /** `native` where the engine of the runtime is proven to be linear, `automaton` otherwise. */
  readonly engine: "native" | "automaton";
  /** What every text that matches contains; null where nothing is sure. */
  readonly required: RequiredParts | null;
}

/** Replaces the first match by what `replacement` makes of its groups; group 0 is the match itself. */
export type RegexReplacer = (text: string, replacement: (group: (number: number) => string) => string) => string;

/**
 * Reads a pattern in Rust's syntax, one char for each byte. Throws RegexError. `stepsMax`, for patterns that ship with the
 * program: what these may do at one place, where it is bounded.
 */
export function compileRegexTest(pattern: string, stepsMax?: number): RegexTest {
  const unicode = unicodePattern(pattern);
  if (unicode !== null) {
    const automaton = compileAutomaton(unicode);
    return { engine: "automaton", required: null, test: (text) => automaton.test(decode(text)) };
  }
  const parsed = parseRegex(pattern);
  const simple = simplifyTest(parsed);
  const required = requiredParts(simple);
  if (isLinear(simple, stepsMax)) {
    const native = new RegExp(write(simple, "native"));
    return { engine: "native", required, test: (text) => native.test(text) };
  }
  const automaton = compileTree(simple);
  const first = required?.folded === false && required.texts.length === 1 ? (required.texts[0] ?? "") : "";
  return { engine: "automaton", required, test: (text) => text.includes(first) && automaton.test(text) };
}

/** Throws RegexError. */
export function compileRegexReplacer(pattern: string): RegexReplacer {
  const unicode = unicodePattern(pattern);
  if (unicode !== null) return replaceByAutomaton(compileAutomaton(unicode), decode, encode);
  const parsed = parseRegex(pattern);
  if (!runsNatively(parsed)) return replaceByAutomaton(compileTree(parsed), same, same);
  const native = new RegExp(write(parsed, "native"));
  return (text, replacement) => {
    const found = native.exec(text);
    if (found === null) return text;
    return text.slice(0, found.index) + replacement((number) => found[number] ?? "") + text.slice(found.index + found[0].length);
  };
}

/** Whether the engine of the runtime tells where it matches, in time that is proven to be linear. */
export const runsNatively = (regex: Regex): boolean => isLinear(regex) && !repeatsOddly(regex);

const same = (text: string): string => text;

function replaceByAutomaton(automaton: RE2JS, into: (text: string) => string, back: (text: string) => string) {
  const groups = automaton.groupCount();
  return (text: string, replacement: (group: (number: number) => string) => string): string => {
    const given = into(text);
    const matcher = automaton.matcher(given);
    if (!matcher.find()) return text;
    const replaced = replacement((number) => (number > groups ? "" : back(matcher.group(number) ?? "")));
    return back(given.slice(0, matcher.start())) + replaced + back(given.slice(matcher.end()));
  };
}

const decode = (text: string): string => Buffer.from(text, "latin1").toString("utf8");
const encode = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** What stands behind a leading `(?u)`, in UTF-16, with its other flags; null for patterns over bytes. */
function unicodePattern(pattern: string): string | null {
  const found = /^\(\?([ims]*)u([ims]*)\)/.exec(pattern);
  if (found === null) return null;
  let repeated = 0;
  for (const [, least, most = ""] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) repeated += Math.max(Number(least), Number(most));
  if (repeated > AUTOMATON_SIZE_MAX) throw new RegexError(TOO_LARGE, 0);
  // RE2JS looks for the end of each of them as far as the end of the pattern.
  if (pattern.slice(pattern.lastIndexOf(":]") + 1).split("[:").length > UNCLOSED_MAX) throw new RegexError("too many [: without :]", 0);
  const flags = `${found[1]}${found[2]}`;
  return (flags === "" ? "" : `(?${flags})`) + decode(pattern.slice(found[0].length));
}

// An automaton's time is linear in the text, and in the worst case in its own size as well.
const AUTOMATON_SIZE_MAX = 1000;
const UNCLOSED_MAX = 100;

function compileTree(regex: Regex): RE2JS {
  if (sizeOf(regex) > AUTOMATON_SIZE_MAX) throw new RegexError(TOO_LARGE, 0);
  return compileAutomaton(write(regex, "automaton"));
}

const TOO_LARGE = "the regular expression is too large once its repetitions are written out";

function compileAutomaton(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw new RegexError(error instanceof Error ? error.message : String(error), 0);
  }
}

type Engine = RegexTest["engine"];

/** Neither engine needs flags: cases and line breaks are in the sets. */
function write(regex: Regex, engine: Engine): string {
  if (regex.kind === "set") return writeSet(regex.bytes);
  if (regex.kind === "assert") return ASSERTIONS[regex.what][engine];
  if (regex.kind === "capture") return `(${write(regex.item, engine)})`;
  if (regex.kind === "choice") return `(?:${regex.items.map((item) => write(item, engine)).join("|")})`;
  if (regex.kind === "sequence") return regex.items.length === 0 ? "(?:)" : regex.items.map((item) => write(item, engine)).join("");
  const item = write(regex.item, engine);
  const whole = regex.item.kind === "set" || regex.item.kind === "capture" ? item : `(?:${item})`;
  return `${whole}{${regex.min},${regex.max ?? ""}}${regex.lazy ? "?" : ""}`;
}

const ASSERTIONS: Readonly<Record<Assertion, Readonly<Record<Engine, string>>>> = {
  start: { native: "^", automaton: "\\A" },
  end: { native: "$", automaton: "\\z" },
  "line-start": { native: "(?<![^\\n])", automaton: "(?m:^)" },
  "line-end": { native: "(?![^\\n])", automaton: "(?m:$)" },
  word: { native: "\\b", automaton: "\\b" },
  "not-word": { native: "\\B", automaton: "\\B" },
};

/** The same few sets are in most expressions. */
const writtenSets = new Map<ByteSet, string>();
const WRITTEN_SETS_MAX = 4096;

function writeSet(bytes: ByteSet): string {
  const known = writtenSets.get(bytes);
  if (known !== undefined) return known;
  if (writtenSets.size >= WRITTEN_SETS_MAX) writtenSets.clear();
  const written = writeRanges(bytes);
  writtenSets.set(bytes, written);
  return written;
}

function writeRanges(bytes: ByteSet): string {
  const ranges = rangesOf(bytes);
  const [only] = ranges;
  if (ranges.length === 1 && only !== undefined && only[0] === only[1]) return writeByte(only[0]);
  if (bytes === 0n) return "[^\\x00-\\xff]";
  const inverse = rangesOf(without(bytes));
  const negated = inverse.length > 0 && inverse.length < ranges.length;
  const items = (negated ? inverse : ranges).map(([first, last]) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`));
  return `[${negated ? "^" : ""}${items.join("")}]`;
}

function rangesOf(bytes: ByteSet): readonly (readonly [first: number, last: number])[] {
  const ranges: [number, number][] = [];
  for (let byte = 0; byte < 256; byte++) {
    if ((bytes & (1n << BigInt(byte))) === 0n) continue;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === byte - 1) last[1] = byte;
    else ranges.push([byte, byte]);
  }
  return ranges;
}

const hex = (byte: number): string => `\\x${byte.toString(16).padStart(2, "0")}`;

function writeByte(byte: number): string {
  const char = String.fromCharCode(byte);
  return /[A-Za-z0-9_/-]/.test(char) ? char : hex(byte);
}
