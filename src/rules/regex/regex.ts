import { charge } from "#rules/budget.ts";
import { regexCost, isLinear, repeatsOddly, simplifyTest } from "./regex-linear.ts";
import { type Automaton, createAutomaton } from "./regex-automaton.ts";
import { type LearnedStates, statePool } from "./learned-states.ts";
import { requiredParts, type RequiredParts } from "./regex-parts.ts";
import { type ByteSet, without } from "./byte-set.ts";
import { type Assertion, parseRegex, type Regex, RegexError, sizeOf } from "./regex-syntax.ts";
import { unicodeSizeOf } from "./regex-unicode.ts";
import { indexOfPart } from "#rules/text/text-search.ts";

export { RegexError };

/** A customer's regular expression. Its time is linear in the text, for any pattern and text. */
export interface RegexTest {
  test(text: string): boolean;
  /** `native` if the runtime's engine is provably linear, `automaton` otherwise. */
  readonly engine: "native" | "automaton";
  /** Texts that every match contains; null if none is certain. */
  readonly required: RequiredParts | null;
  /** Its positions with expanded repetitions, which time and memory are proportional to. */
  readonly size: number;
  /** Builds the automaton now instead of at the first test, in up to ten microseconds per position. */
  prepare(): void;
}

/** Replaces the first match of a customer's regular expression. */
export interface RegexReplacer extends Pick<RegexTest, "size" | "prepare"> {
  /** Replaces by the result of `replacement` for its groups; group 0 is the match itself. */
  replace(text: string, replacement: (group: (number: number) => string) => string): string;
}

/** Steps for one step of a pattern in the runtime's engine. */
const NATIVE_STEPS = 6;
/** Steps up to which that engine gets a text; for a longer one an automaton is cheaper if the pattern has many steps per byte. */
const NATIVE_TEXT_STEPS_MAX = 32_768;
const NATIVE_BYTE_STEPS_MAX = 4;
/** Steps of making an automaton, per position of its pattern. */
const MAKING_STEPS = 5000;

/**
 * Compiles a pattern in Rust's syntax, one char per byte. Throws RegexError. `stepsMax`, for patterns that the program
 * includes: the steps that they may take at one position, if that is bounded; the caller charges for them. `states`:
 * those of its ruleset.
 */
export function compileRegexTest(pattern: string, stepsMax?: number, states = statePool.createGroup()): RegexTest {
  const unicode = unicodePattern(pattern, states);
  if (unicode !== null) {
    const { automaton, size } = unicode;
    return { engine: "automaton", required: null, size, prepare: nothing, test: (text) => automaton.test(decode(text)) };
  }
  const simple = simplifyTest(parseRegex(pattern));
  const required = requiredParts(simple);
  const size = sizeOf(simple);
  if (isLinear(simple, stepsMax)) {
    const native = new RegExp(write(simple, "native"));
    const test = (text: string): boolean => native.test(text);
    const tests = stepsMax === undefined ? nativeOrAutomaton(simple, test, states) : test;
    return { engine: "native", required, size, prepare: nothing, test: tests };
  }
  const { automaton, prepare } = compileTree(simple, size, states);
  const first = required?.folded === false && required.texts.length === 1 ? (required.texts[0] ?? "") : "";
  const test = (text: string): boolean => indexOfPart(text, first) !== -1 && automaton().test(text);
  return { engine: "automaton", required, size, prepare, test };
}

const nothing = (): void => undefined;

/** Tests with the runtime's engine, and long texts with an automaton if that certainly takes less time. */
function nativeOrAutomaton(regex: Regex, test: (text: string) => boolean, states: LearnedStates): (text: string) => boolean {
  const { once, perByte } = regexCost(regex);
  const size = sizeOf(regex);
  const staysNative = perByte <= NATIVE_BYTE_STEPS_MAX || size > AUTOMATON_SIZE_MAX;
  const automaton = staysNative ? null : compileTree(regex, size, states).automaton;
  return (text) => {
    const steps = once + text.length * perByte;
    if (automaton === null || steps <= NATIVE_TEXT_STEPS_MAX) {
      charge(steps * NATIVE_STEPS);
      return test(text);
    }
    return automaton().test(text);
  };
}

/** Throws RegexError. */
export function compileRegexReplacer(pattern: string, states = statePool.createGroup()): RegexReplacer {
  const unicode = unicodePattern(pattern, states);
  if (unicode !== null) {
    const { automaton, size } = unicode;
    return { size, prepare: nothing, replace: replaceByAutomaton(() => automaton, decode, encode) };
  }
  const parsed = parseRegex(pattern);
  const size = sizeOf(parsed);
  if (!runsNatively(parsed)) {
    const { automaton, prepare } = compileTree(parsed, size, states);
    return { size, prepare, replace: replaceByAutomaton(automaton, same, same) };
  }
  const native = new RegExp(write(parsed, "native"));
  const { once, perByte } = regexCost(parsed);
  return {
    size,
    prepare: nothing,
    replace: (text, replacement) => {
      charge((once + text.length * perByte) * NATIVE_STEPS);
      const found = native.exec(text);
      if (found === null) return text;
      return text.slice(0, found.index) + replacement((number) => found[number] ?? "") + text.slice(found.index + found[0].length);
    },
  };
}

/** Whether the runtime's engine finds the position of a match in provably linear time. */
export const runsNatively = (regex: Regex): boolean => isLinear(regex) && !repeatsOddly(regex);

const same = (text: string): string => text;

function replaceByAutomaton(
  automaton: () => Automaton,
  into: (text: string) => string,
  back: (text: string) => string,
): RegexReplacer["replace"] {
  return (text, replacement) => {
    const given = into(text);
    const found = automaton().find(given);
    if (found === null) return text;
    return back(given.slice(0, found.start)) + replacement((number) => back(found.group(number))) + back(given.slice(found.end));
  };
}

const decode = (text: string): string => Buffer.from(text, "latin1").toString("utf8");
const encode = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** An automaton over UTF-16 for the pattern after a leading `(?u)`, with its other flags; null for patterns over bytes. */
function unicodePattern(pattern: string, states: LearnedStates): { readonly automaton: Automaton; readonly size: number } | null {
  const found = /^\(\?([ims]*)u([ims]*)\)/.exec(pattern);
  if (found === null) return null;
  const flags = `${found[1]}${found[2]}`;
  const body = decode(pattern.slice(found[0].length));
  const size = unicodeSizeOf(body);
  if (size > AUTOMATON_SIZE_MAX) throw new RegexError(TOO_LARGE, 0);
  return { automaton: createAutomaton((flags === "" ? "" : `(?${flags})`) + body, states), size };
}

// An automaton's time is linear in the text, and in the worst case in its own size as well.
const AUTOMATON_SIZE_MAX = 1000;

/** Made at its first use, which is charged for it unless it was prepared. */
function compileTree(regex: Regex, size: number, states: LearnedStates): { automaton(): Automaton; prepare(): void } {
  if (size > AUTOMATON_SIZE_MAX) throw new RegexError(TOO_LARGE, 0);
  let made: Automaton | undefined;
  const make = (): Automaton => (made ??= createAutomaton(write(regex, "automaton"), states));
  return {
    prepare: () => void make(),
    automaton: () => {
      if (made === undefined) charge(size * MAKING_STEPS);
      return make();
    },
  };
}

const TOO_LARGE = "the regular expression is too large after expanding its repetitions";

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

/** Most expressions use the same few sets. */
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
