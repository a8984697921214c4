import { ALL_BYTES, byteRange, type ByteSet, oneByte, without } from "#rules/regex/byte-set.ts";
import { parseRegex, type Regex } from "#rules/regex/regex-syntax.ts";

/** A JavaScript pattern as an expression over bytes, in which byte 255 stands for every character from there on. */
export interface BytePattern {
  readonly regex: Regex;
  /** Look-around is left out: it costs a bounded number of steps, but a match may fail after it. */
  readonly hasLookAround: boolean;
  /** A match does not start after one of these. */
  readonly notBehind: ByteSet;
}

/** A construct that the prover does not handle, such as a back reference. */
class UnreadableError extends Error {}

const LAST = 0xff;
/** JavaScript's white space; more of it lies above the last byte. */
const SPACES = byteRange(0x09, 0x0d) | oneByte(0x20) | oneByte(0xa0);
const DIGITS = byteRange(0x30, 0x39);
const WORDS = DIGITS | byteRange(0x41, 0x5a) | byteRange(0x61, 0x7a) | oneByte(0x5f);
const OTHERS = oneByte(LAST);

/** The pattern with sets that are never too small: sets that overlap in JavaScript also overlap here. Null if it cannot be parsed. */
export function bytePattern(source: string, flags: string): BytePattern | null {
  if (flags.includes("v")) return null;
  try {
    const reader = new Translator(source, flags.includes("i"));
    const text = reader.rest();
    const modes = [...flags].filter((flag) => "ims".includes(flag)).join("");
    const regex = parseRegex(`${modes === "" ? "" : `(?${modes})`}${flags.includes("y") ? `\\A(?:${text})` : text}`);
    // Of several alternatives it is the first one's alone.
    return { regex, hasLookAround: reader.hasLookAround, notBehind: regex.kind === "choice" ? 0n : reader.notBehind };
  } catch {
    return null;
  }
}

const ESCAPED_SETS: Readonly<Record<string, readonly [few: ByteSet, many: ByteSet]>> = {
  d: [DIGITS, DIGITS],
  w: [WORDS, WORDS],
  s: [SPACES, SPACES | OTHERS],
  D: [without(DIGITS | OTHERS), without(DIGITS)],
  W: [without(WORDS | OTHERS), without(WORDS)],
  S: [without(SPACES | OTHERS), without(SPACES)],
};
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, 0: 0 };

class Translator {
  hasLookAround = false;
  notBehind: ByteSet = 0n;
  private at = 0;
  private readonly source: string;
  private readonly isFolded: boolean;

  constructor(source: string, isFolded: boolean) {
    this.source = source;
    this.isFolded = isFolded;
  }

  rest(): string {
    let text = "";
    while (this.at < this.source.length) text += this.next();
    return text;
  }

  private next(): string {
    const { source, at } = this;
    const look = /^\(\?(?:[=!]|<[=!])/.exec(source.slice(at, at + 4))?.[0];
    if (look !== undefined) return this.lookAround(look);
    const char = source[this.at++] as string;
    if (char === "[") return written(this.set());
    if (char === "\\") return this.escape();
    if (char === "{") return /^\d+(?:,\d*)?\}/.test(source.slice(at + 1, at + 12)) ? char : written(this.oneOf(0x7b));
    if (char === "}") return /\{\d+(?:,\d*)?$/.test(source.slice(Math.max(0, at - 12), at)) ? char : written(this.oneOf(0x7d));
    return "()|*+?.^$:<>=!,-".includes(char) || /[\w]/.test(char) ? char : written(this.oneOf(char.charCodeAt(0)));
  }

  /** Left out if its length is bounded; the characters that a match must not start after are kept. */
  private lookAround(opening: string): string {
    const start = this.at;
    const end = closing(this.source, start);
    const inner = new Translator(this.source.slice(start + opening.length, end), this.isFolded);
    const regex = parseRegex(inner.rest());
    if (!isBounded(regex)) throw new UnreadableError();
    // A set within a lookbehind is written for its possible members, and only its certain ones count here.
    if (opening === "(?<!" && start === 0 && regex.kind === "set") this.notBehind = regex.bytes & ~OTHERS;
    this.hasLookAround = true;
    this.at = end + 1;
    return "";
  }

  private escape(): string {
    const char = this.source[this.at] as string;
    if (char === "b" || char === "B") {
      this.at++;
      return `\\${char}`;
    }
    const item = this.escaped();
    return written(typeof item === "number" ? this.oneOf(item) : item[1]);
  }

  /** A character's code, or a set that is at least and at most so large. */
  private escaped(): number | readonly [few: ByteSet, many: ByteSet] {
    const char = this.source[this.at++] as string;
    const set = ESCAPED_SETS[char];
    if (set !== undefined) return set;
    const control = CONTROLS[char];
    if (control !== undefined) return control;
    const digits = /^(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\})/.exec(this.source.slice(this.at - 1, this.at + 8));
    if (digits !== null) {
      this.at += digits[0].length - 1;
      return Number.parseInt(digits[1] ?? digits[2] ?? digits[3] ?? "", 16);
    }
    if (/[1-9kpPcux]/.test(char)) throw new UnreadableError();
    return char.charCodeAt(0);
  }

  private set(): ByteSet {
    const isNegated = this.source[this.at] === "^";
    if (isNegated) this.at++;
    let few = 0n;
    let many = 0n;
    for (;;) {
      if (this.at >= this.source.length) throw new UnreadableError();
      if (this.source[this.at] === "]") break;
      const first = this.item();
      const isRange = this.source[this.at] === "-" && this.source[this.at + 1] !== "]" && typeof first === "number";
      if (isRange) this.at++;
      const last = isRange ? this.item() : first;
      if (typeof first !== "number" || typeof last !== "number") {
        if (isRange) throw new UnreadableError();
        [few, many] = [few | (first as readonly [ByteSet, ByteSet])[0], many | (first as readonly [ByteSet, ByteSet])[1]];
        continue;
      }
      many |= this.fold(byteRange(Math.min(first, LAST), Math.min(last, LAST)));
      if (first < LAST) few |= this.fold(byteRange(first, Math.min(last, LAST - 1)));
    }
    this.at++;
    return isNegated ? without(few) : many;
  }

  private item(): number | readonly [few: ByteSet, many: ByteSet] {
    const char = this.source[this.at++] as string;
    if (char !== "\\") return char.charCodeAt(0);
    if (this.source[this.at] !== "b") return this.escaped();
    this.at++;
    return 8;
  }

  private oneOf(code: number): ByteSet {
    return this.fold(oneByte(Math.min(code, LAST)));
  }

  /** Letters beyond ASCII have another case too, which is not known here. */
  private fold(bytes: ByteSet): ByteSet {
    const beyond = byteRange(0x80, LAST);
    if (!this.isFolded || (bytes & beyond) === 0n || (bytes & beyond) === beyond) return bytes;
    throw new UnreadableError();
  }
}

/** As parseRegex reads it. */
function written(bytes: ByteSet): string {
  if (bytes === ALL_BYTES) return "(?s:.)";
  if (bytes === 0n) throw new UnreadableError();
  let text = "";
  for (let byte = 0; byte <= LAST; byte++) if ((bytes & oneByte(byte)) !== 0n) text += `\\x${byte.toString(16).padStart(2, "0")}`;
  return `[${text}]`;
}

/** Index of the parenthesis that closes the one at `from`. */
function closing(source: string, from: number): number {
  let depth = 0;
  let isInSet = false;
  for (let at = from; at < source.length; at++) {
    const char = source[at];
    if (char === "\\") at++;
    else if (isInSet) isInSet = char !== "]";
    else if (char === "[") isInSet = true;
    else if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return at;
  }
  throw new UnreadableError();
}

function isBounded(regex: Regex): boolean {
  if (regex.kind === "repeat") return regex.max !== null && isBounded(regex.item);
  if (regex.kind === "capture") return isBounded(regex.item);
  return regex.kind === "set" || regex.kind === "assert" || regex.items.every(isBounded);
}
