import { ALL_BYTES, byteRange, type ByteSet, CLASSES, folded, NAMED, NEWLINE, oneByte, without } from "./byte-set.ts";

/** A regular expression over bytes. */
export type Regex =
  | { readonly kind: "set"; readonly bytes: ByteSet }
  | { readonly kind: "sequence"; readonly items: readonly Regex[] }
  | { readonly kind: "choice"; readonly items: readonly Regex[] }
  /** `max` is null if the repetition is unbounded. */
  | { readonly kind: "repeat"; readonly item: Regex; readonly min: number; readonly max: number | null; readonly lazy: boolean }
  | { readonly kind: "capture"; readonly item: Regex; readonly name: string | null }
  | { readonly kind: "assert"; readonly what: Assertion };

export type Assertion = "start" | "end" | "line-start" | "line-end" | "word" | "not-word";

/** A mistake in a pattern; `at` is its offset in characters. */
export class RegexError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = "RegexError";
    this.at = at;
  }
}

// Rust's own limit is on memory; this one keeps compiling unnoticeably short.
const NESTING_MAX = 100;
const REPEATS_MAX = 1000;
const SIZE_MAX = 20_000;

/**
 * Reads the syntax of Rust's `regex` crate in its byte mode, one char of `pattern` for each byte: no look-around and no
 * back references, ASCII classes. Throws RegexError.
 */
export function parseRegex(pattern: string): Regex {
  const reader = new Reader(pattern);
  const regex = reader.choice({ insensitive: false, multiline: false, dotAll: false, swapGreed: false, verbose: false }, 0);
  if (!reader.ended()) throw new RegexError("unopened group: ) without (", reader.at);
  if (sizeOf(regex) > SIZE_MAX) throw new RegexError("the regular expression is too large", 0);
  return regex;
}

interface Flags {
  readonly insensitive: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly swapGreed: boolean;
  readonly verbose: boolean;
}

const FLAGS: Readonly<Record<string, keyof Flags>> = { i: "insensitive", m: "multiline", s: "dotAll", U: "swapGreed", x: "verbose" };

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const PUNCTUATION = /[!-/:-@[-`{-~]/;

class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  ended(): boolean {
    return this.at >= this.#text.length;
  }

  choice(flags: Flags, depth: number): Regex {
    if (depth > NESTING_MAX) this.#fail(`groups nested deeper than ${NESTING_MAX}`);
    const branches: Regex[] = [];
    let current = flags;
    do {
      const items: Regex[] = [];
      while (!this.ended() && !this.#sees("|") && !this.#sees(")")) {
        const changed = this.#flagsHere(current);
        if (changed !== null) current = changed;
        else if (!(current.verbose && this.#skipVerbose())) items.push(this.#repeated(current, depth));
      }
      branches.push(items.length === 1 && items[0] !== undefined ? items[0] : { kind: "sequence", items });
    } while (this.#takes("|"));
    const [only] = branches;
    return branches.length === 1 && only !== undefined ? only : { kind: "choice", items: branches };
  }

  /** Flags such as `(?i)`, which apply to the end of the group. */
  #flagsHere(flags: Flags): Flags | null {
    const found = /\(\?([a-zA-Z-]+)\)/y;
    found.lastIndex = this.at;
    const letters = found.exec(this.#text)?.[1];
    if (letters === undefined) return null;
    const changed = this.#changed(flags, letters);
    this.at = found.lastIndex;
    return changed;
  }

  #changed(flags: Flags, letters: string): Flags {
    const changed: Record<keyof Flags, boolean> = { ...flags };
    let on = true;
    for (const letter of letters) {
      const flag = FLAGS[letter];
      if (letter === "-") on = false;
      else if (letter === "u" && !on) continue;
      else if (letter === "u") this.#fail("(?u) is allowed only at the start of the expression");
      else if (flag === undefined) this.#fail(`unknown flag "${letter}"; known are i, m, s, U, x and u`);
      else changed[flag] = on;
    }
    return changed;
  }

  #skipVerbose(): boolean {
    const from = this.at;
    this.#skipSpace();
    if (this.#sees("#")) while (!this.ended() && !this.#sees("\n")) this.at++;
    return this.at > from;
  }

  #repeated(flags: Flags, depth: number): Regex {
    let item = this.#atom(flags, depth);
    for (let times = 0; ; times++) {
      if (flags.verbose) while (this.#skipVerbose());
      const bounds = this.#bounds();
      if (bounds === null) return item;
      if (times === NESTING_MAX) this.#fail(`more than ${NESTING_MAX} repetitions of repetitions`);
      const lazy = this.#takes("?") !== flags.swapGreed;
      item = { kind: "repeat", item, ...bounds, lazy };
    }
  }

  #bounds(): { readonly min: number; readonly max: number | null } | null {
    if (this.#takes("*")) return { min: 0, max: null };
    if (this.#takes("+")) return { min: 1, max: null };
    if (this.#takes("?")) return { min: 0, max: 1 };
    if (!this.#sees("{")) return null;
    const start = this.at++;
    const first = this.#digits();
    const hasComma = this.#takes(",");
    const last = hasComma ? this.#digits() : first;
    if (!this.#takes("}") || (first === "" && last === "")) this.#fail("expected {n}, {n,} or {n,m}", start);
    const min = first === "" ? 0 : Number(first);
    const max = hasComma && last === "" ? null : Number(last);
    if (max !== null && max < min) this.#fail("the repetition's maximum is below its minimum", start);
    if (Math.max(min, max ?? 0) > REPEATS_MAX) this.#fail(`repeated more than ${REPEATS_MAX} times`, start);
    return { min, max };
  }

  /** A number or nothing, with white space around it. */
  #digits(): string {
    this.#skipSpace();
    const from = this.at;
    while (/[0-9]/.test(this.#peek())) this.at++;
    const digits = this.#text.slice(from, this.at);
    this.#skipSpace();
    return digits;
  }

  #skipSpace(): void {
    while (/\s/.test(this.#peek())) this.at++;
  }

  #atom(flags: Flags, depth: number): Regex {
    if (this.#takes("(")) return this.#group(flags, depth);
    if (this.#takes("[")) return { kind: "set", bytes: this.#class(flags, depth + 1) };
    if (this.#takes(".")) return { kind: "set", bytes: flags.dotAll ? ALL_BYTES : without(NEWLINE) };
    if (this.#takes("^")) return { kind: "assert", what: flags.multiline ? "line-start" : "start" };
    if (this.#takes("$")) return { kind: "assert", what: flags.multiline ? "line-end" : "end" };
    if (/[*+?{]/.test(this.#peek())) this.#fail(`nothing to repeat before ${this.#peek()}`);
    if (this.#takes("\\")) return this.#escape(flags);
    return this.#byte(this.#next().charCodeAt(0), flags);
  }

  #byte(byte: number, flags: Flags): Regex {
    return { kind: "set", bytes: flags.insensitive ? folded(oneByte(byte)) : oneByte(byte) };
  }

  #group(flags: Flags, depth: number): Regex {
    const start = this.at - 1;
    let inside = flags;
    let name: string | null | undefined = null;
    if (this.#takes("?")) {
      const named = /P?<([A-Za-z_][A-Za-z0-9_.[\]]*)>/y;
      named.lastIndex = this.at;
      const found = named.exec(this.#text);
      const plain = /([a-zA-Z-]*):/y;
      plain.lastIndex = this.at;
      const letters = plain.exec(this.#text);
      if (found !== null) name = found[1];
      else if (letters === null) this.#fail(/[=!<]/.test(this.#peek()) ? "look-around is not supported" : "unknown kind of group", start);
      else {
        inside = this.#changed(flags, letters[1] ?? "");
        name = undefined;
      }
      this.at = found === null ? plain.lastIndex : named.lastIndex;
    }
    const item = this.choice(inside, depth + 1);
    if (!this.#takes(")")) this.#fail("unclosed group", start);
    return name === undefined ? item : { kind: "capture", item, name };
  }

  #escape(flags: Flags): Regex {
    const start = this.at - 1;
    const char = this.#next();
    if (char === "b" || char === "B") {
      if (this.#sees("{")) this.#fail(String.raw`\b{…} is not supported`, start);
      return { kind: "assert", what: char === "b" ? "word" : "not-word" };
    }
    if (char === "A") return { kind: "assert", what: "start" };
    if (char === "z") return { kind: "assert", what: "end" };
    const named = this.#namedClass(char, start);
    if (named !== null) return { kind: "set", bytes: named };
    const bytes = this.#literal(char, start);
    const items = Array.from(bytes, (byte) => this.#byte(byte.charCodeAt(0), flags));
    const [only] = items;
    return items.length === 1 && only !== undefined ? only : { kind: "sequence", items };
  }

  #namedClass(char: string, start: number): ByteSet | null {
    const lower = CLASSES[char.toLowerCase()];
    if (lower !== undefined) return char === char.toLowerCase() ? lower : without(lower);
    if (char === "p" || char === "P") this.#fail(String.raw`\p{…} needs (?u) at the start of the expression`, start);
    return null;
  }

  /** The bytes of an escape. */
  #literal(char: string, start: number): string {
    const control = CONTROLS[char];
    if (control !== undefined) return String.fromCharCode(control);
    if (char === "x" || char === "u" || char === "U") return this.#code(char, start);
    if (/[0-9]/.test(char)) this.#fail("back references are not supported", start);
    if (!PUNCTUATION.test(char) || char === "<" || char === ">") this.#fail(`unknown escape \\${char}`, start);
    return char;
  }

  #code(char: string, start: number): string {
    const digits = char === "x" ? 2 : char === "u" ? 4 : 8;
    const braced = /\{([0-9A-Fa-f]{1,8})\}/y;
    braced.lastIndex = this.at;
    const plain = this.#text.slice(this.at, this.at + digits);
    const hex = braced.exec(this.#text)?.[1] ?? (plain.length === digits && /^[0-9A-Fa-f]+$/.test(plain) ? plain : "");
    const code = Number.parseInt(hex, 16);
    if (Number.isNaN(code)) this.#fail(`\\${char} needs ${digits} hexadecimal digits or {…}`, start);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) this.#fail("no such character", start);
    this.at = braced.lastIndex === 0 ? this.at + digits : braced.lastIndex;
    // `\xff` is the byte; characters are their UTF-8.
    return char === "x" && code <= 0xff ? String.fromCharCode(code) : Buffer.from(String.fromCodePoint(code), "utf8").toString("latin1");
  }

  #class(flags: Flags, depth: number): ByteSet {
    const start = this.at - 1;
    if (depth > NESTING_MAX) this.#fail(`classes nested deeper than ${NESTING_MAX}`);
    const negated = this.#takes("^");
    let result: ByteSet | null = null;
    let operation = "";
    let current = 0n;
    // A bracket or hyphens at the start are literal.
    if (this.#takes("]")) current |= oneByte(0x5d);
    while (!this.#takes("]")) {
      if (this.ended()) this.#fail("unclosed class", start);
      const next = ["&&", "--", "~~"].find((known) => this.#text.startsWith(known, this.at));
      if (next !== undefined && !(next === "--" && this.#text[this.at + 2] === "]")) {
        result = combine(result, operation, current);
        operation = next;
        current = 0n;
        this.at += 2;
      } else if (!(flags.verbose && this.#skipVerbose())) current |= this.#classItem(flags, depth);
    }
    const bytes = combine(result, operation, current);
    const cased = flags.insensitive ? folded(bytes) : bytes;
    return negated ? without(cased) : cased;
  }

  #classItem(flags: Flags, depth: number): ByteSet {
    const posix = /\[:(\^?)([a-z]+):\]/y;
    posix.lastIndex = this.at;
    const found = posix.exec(this.#text);
    if (found !== null) {
      const bytes = NAMED[found[2] ?? ""] ?? this.#fail(`unknown class [:${found[2]}:]`);
      this.at = posix.lastIndex;
      return found[1] === "^" ? without(bytes) : bytes;
    }
    if (this.#takes("[")) return this.#class(flags, depth + 1);
    const start = this.at;
    const first = this.#classByte();
    if (typeof first === "bigint") return first;
    if (!this.#sees("-") || this.#text[this.at + 1] === "]" || this.#text[this.at + 1] === "-") return oneByte(first);
    this.at++;
    const last = this.#classByte();
    if (typeof last === "bigint" || last < first) return this.#fail("a range in a class goes from one byte to a later one", start);
    return byteRange(first, last);
  }

  /** A byte, or a set if the item is a class itself. */
  #classByte(): number | ByteSet {
    const start = this.at;
    const char = this.#next();
    if (char !== "\\") {
      if (char.charCodeAt(0) > 0x7f) this.#fail("characters beyond ASCII in a class need (?u) at the start of the expression", start);
      return char.charCodeAt(0);
    }
    const escaped = this.#next();
    const named = this.#namedClass(escaped, start);
    if (named !== null) return named;
    const bytes = escaped === "b" ? "\b" : this.#literal(escaped, start);
    if (bytes.length > 1) this.#fail("characters beyond ASCII in a class need (?u) at the start of the expression", start);
    return bytes.charCodeAt(0);
  }

  #peek(): string {
    return this.#text[this.at] ?? "";
  }

  #next(): string {
    if (this.ended()) this.#fail("the regular expression ends in the middle of an escape or class");
    return this.#text[this.at++] ?? "";
  }

  #sees(char: string): boolean {
    return this.#text[this.at] === char;
  }

  #takes(char: string): boolean {
    const found = this.#sees(char);
    if (found) this.at++;
    return found;
  }

  #fail(message: string, at = this.at): never {
    throw new RegexError(message, at);
  }
}

function combine(left: ByteSet | null, operation: string, right: ByteSet): ByteSet {
  if (left === null) return right;
  if (operation === "&&") return left & right;
  return operation === "--" ? left & without(right) : left ^ right;
}

/** How many sets and assertions there are once counted repetitions are written out. */
export function sizeOf(regex: Regex): number {
  if (regex.kind === "set" || regex.kind === "assert") return 1;
  if (regex.kind === "capture") return sizeOf(regex.item) + 1;
  if (regex.kind === "repeat") return sizeOf(regex.item) * Math.max(regex.max ?? regex.min + 1, 1) + 1;
  return regex.items.reduce((sum, item) => sum + sizeOf(item), 1);
}
