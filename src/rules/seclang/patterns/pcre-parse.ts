import { ALL_BYTES, byteRange, type ByteSet, CLASSES, folded, NAMED, NEWLINE, oneByte, without } from "#rules/regex/byte-set.ts";
import { type PcreNode, PatternError } from "./pcre-node.ts";

const NESTING_MAX = 200;
const REPEATS_MAX = 65_535;

interface Flags {
  readonly isInsensitive: boolean;
  readonly isDotAll: boolean;
  readonly isMultiline: boolean;
}

// libmodsecurity compiles with PCRE_DOTALL and PCRE_MULTILINE.
const DEFAULT_FLAGS: Flags = { isInsensitive: false, isDotAll: true, isMultiline: true };

const FLAG_LETTERS: Readonly<Record<string, keyof Flags>> = { i: "isInsensitive", s: "isDotAll", m: "isMultiline" };

/** Reads a pattern in PCRE's syntax, one char for each byte. Throws PatternError. */
export function parsePcre(pattern: string): PcreNode {
  const reader = new Reader(pattern);
  const node = reader.choice(DEFAULT_FLAGS, 0);
  if (!reader.hasEnded()) throw new PatternError(") without (", reader.at);
  return node;
}

// Horizontal and vertical white space, \h and \v.
const HORIZONTAL: ByteSet = oneByte(0x09) | oneByte(0x20) | oneByte(0xa0);
const VERTICAL: ByteSet = byteRange(0x0a, 0x0d) | oneByte(0x85);
const SETS: ReadonlyMap<string, ByteSet> = new Map<string, ByteSet>(
  [...Object.entries(CLASSES), ["h", HORIZONTAL] as const, ["v", VERTICAL] as const, ["N", without(NEWLINE)] as const].flatMap(
    ([letter, bytes]): [string, ByteSet][] =>
      letter === "N"
        ? [[letter, bytes]]
        : [
            [letter, bytes],
            [letter.toUpperCase(), without(bytes)],
          ],
  ),
);
const CONTROLS: Readonly<Record<string, number>> = { a: 7, e: 27, f: 12, n: 10, r: 13, t: 9 };
const ASSERTIONS = { A: "start", B: "not-word", Z: "end", b: "word", z: "end" } as const;

class Reader {
  at = 0;
  readonly #text: string;
  #groups = 0;
  readonly #names = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  hasEnded(): boolean {
    return this.at >= this.#text.length;
  }

  choice(given: Flags, depth: number): PcreNode {
    if (depth > NESTING_MAX) this.#fail(`groups nested deeper than ${NESTING_MAX}`);
    let flags = given;
    const branches: PcreNode[] = [];
    do {
      const items: PcreNode[] = [];
      while (!this.hasEnded() && !this.#sees("|") && !this.#sees(")")) {
        const changed = this.#flagsHere(flags);
        if (changed === null) items.push(this.#repeated(flags, depth));
        else flags = changed;
      }
      branches.push(items.length === 1 ? items[0]! : { kind: "sequence", items });
    } while (this.#takes("|"));
    return branches.length === 1 ? branches[0]! : { kind: "choice", items: branches };
  }

  #flagsHere(flags: Flags): Flags | null {
    const found = /\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?\)/y;
    found.lastIndex = this.at;
    const letters = found.exec(this.#text);
    if (letters === null) return null;
    this.at = found.lastIndex;
    return this.#changed(flags, letters[1]!, letters[2] ?? "");
  }

  #changed(flags: Flags, on: string, off: string): Flags {
    const changed = { ...flags };
    for (const [letters, isOn] of [[on, true] as const, [off, false] as const]) {
      for (const letter of letters)
        changed[FLAG_LETTERS[letter] ?? this.#fail(`the flag ${letter} is not supported; i, s and m are`)] = isOn;
    }
    return changed;
  }

  #repeated(flags: Flags, depth: number): PcreNode {
    let node = this.#atom(flags, depth);
    for (let times = 0; times < NESTING_MAX; times++) {
      const bounds = this.#bounds();
      if (bounds === null) return node;
      const lazy = this.#takes("?");
      node = { kind: "repeat", item: node, ...bounds, lazy };
      if (!lazy && this.#takes("+")) node = { kind: "atomic", item: node };
    }
    return this.#fail("too many repetitions of repetitions");
  }

  #bounds(): { readonly min: number; readonly max: number | null } | null {
    if (this.#takes("*")) return { min: 0, max: null };
    if (this.#takes("+")) return { min: 1, max: null };
    if (this.#takes("?")) return { min: 0, max: 1 };
    // A brace that begins no repetition stands for itself.
    const braces = /\{(\d{1,6})(?:(,)(\d{0,6}))?\}/y;
    braces.lastIndex = this.at;
    const found = braces.exec(this.#text);
    if (found === null) return null;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === "" ? null : Number(found[3]);
    if ((max !== null && max < min) || Math.max(min, max ?? 0) > REPEATS_MAX)
      this.#fail("numbers of a repetition out of order or too large");
    this.at = braces.lastIndex;
    return { min, max };
  }

  #atom(flags: Flags, depth: number): PcreNode {
    const char = this.#next();
    if (char === "(") return this.#group(flags, depth + 1);
    if (char === ".") return { kind: "set", bytes: flags.isDotAll ? ALL_BYTES : without(NEWLINE) };
    if (char === "^") return { kind: "assert", what: flags.isMultiline ? "line-start" : "start" };
    if (char === "$") return { kind: "assert", what: flags.isMultiline ? "line-end" : "end" };
    if (char === "[") return this.#class(flags);
    if (char === "\\") return this.#escape(flags);
    if (char === "*" || char === "+" || char === "?") this.#fail(`nothing to repeat before ${char}`);
    return this.#byte(char.charCodeAt(0), flags);
  }

  #byte(code: number, { isInsensitive }: Flags): PcreNode {
    if (code > 0xff) this.#fail("characters beyond one byte");
    return { kind: "set", bytes: isInsensitive ? folded(oneByte(code)) : oneByte(code) };
  }

  #group(flags: Flags, depth: number): PcreNode {
    const start = this.at - 1;
    const kind = this.#groupKind(flags, start);
    const item = this.choice(kind.flags, depth);
    if (!this.#takes(")")) this.#fail("the group is never closed", start);
    return kind.make(item);
  }

  #groupKind(flags: Flags, start: number): { readonly flags: Flags; readonly make: (item: PcreNode) => PcreNode } {
    if (!this.#takes("?")) {
      const number = ++this.#groups;
      return { flags, make: (item) => ({ kind: "capture", item, number }) };
    }
    if (this.#takes(">")) return { flags, make: (item) => ({ kind: "atomic", item }) };
    const look = /<?[=!]/y;
    look.lastIndex = this.at;
    const looks = look.exec(this.#text)?.[0];
    if (looks !== undefined) {
      this.at = look.lastIndex;
      return {
        flags,
        make: (item) => ({ kind: "look", item, isBehind: looks.startsWith("<"), isNegative: looks.endsWith("!") }),
      };
    }
    const name = /(?:P?<([A-Za-z_]\w{0,31})>|'([A-Za-z_]\w{0,31})')/y;
    name.lastIndex = this.at;
    const named = name.exec(this.#text);
    if (named !== null) {
      this.at = name.lastIndex;
      const number = ++this.#groups;
      this.#names.set(named[1] ?? named[2]!, number);
      return { flags, make: (item) => ({ kind: "capture", item, number }) };
    }
    const letters = /([a-zA-Z]*)(?:-([a-zA-Z]*))?:/y;
    letters.lastIndex = this.at;
    const found = letters.exec(this.#text);
    if (found === null) return this.#fail("unknown kind of group", start);
    this.at = letters.lastIndex;
    return { flags: this.#changed(flags, found[1]!, found[2] ?? ""), make: (item) => item };
  }

  #escape(flags: Flags): PcreNode {
    const char = this.#next();
    if (char in ASSERTIONS) return { kind: "assert", what: ASSERTIONS[char as keyof typeof ASSERTIONS] };
    const bytes = SETS.get(char);
    if (bytes !== undefined) return { kind: "set", bytes };
    if (char === "R") return LINE_BREAK;
    if (char === "K" || char === "G" || char === "Q" || char === "p" || char === "P" || char === "X")
      this.#fail(`\\${char} is not supported`);
    const number = /[1-9]/.test(char) ? this.#reference(char) : 0;
    if (number > 0) return { kind: "reference", number };
    return this.#byte(this.#code(char), flags);
  }

  /** The group that is meant, or 0 where the digits write a byte: those of groups that are not there, from 10 on. */
  #reference(first: string): number {
    const second = this.#text[this.at] ?? "";
    const number = Number(/\d/.test(second) ? first + second : first);
    if (number > 9 && number > this.#groups) return 0;
    if (number > this.#groups) this.#fail(`there is no group ${number}`);
    if (number > 9) this.at++;
    return number;
  }

  /** The byte that an escape stands for. */
  #code(char: string): number {
    const control = CONTROLS[char];
    if (control !== undefined) return control;
    if (char === "x") {
      const hex = /\{([0-9a-fA-F]{1,8})\}|[0-9a-fA-F]{0,2}/y;
      hex.lastIndex = this.at;
      const found = hex.exec(this.#text)!;
      this.at = hex.lastIndex;
      return Number.parseInt(found[1] ?? (found[0] || "0"), 16);
    }
    if (/[0-7]/.test(char)) {
      const octal = /[0-7]{0,2}/y;
      octal.lastIndex = this.at;
      const digits = char + octal.exec(this.#text)![0];
      this.at += digits.length - 1;
      return Number.parseInt(digits, 8) & 0xff;
    }
    if (char === "c") return this.#next().toUpperCase().charCodeAt(0) ^ 0x40;
    if (/[A-Za-z]/.test(char)) this.#fail(`unknown escape \\${char}`);
    return char.charCodeAt(0);
  }

  #class(flags: Flags): PcreNode {
    const start = this.at - 1;
    const isNegated = this.#takes("^");
    let bytes = 0n;
    for (let isFirst = true; isFirst || !this.#takes("]"); isFirst = false) {
      if (this.hasEnded()) this.#fail("the class is never closed", start);
      bytes |= this.#classItem();
    }
    const cased = flags.isInsensitive ? folded(bytes) : bytes;
    return { kind: "set", bytes: isNegated ? without(cased) : cased };
  }

  #classItem(): ByteSet {
    const first = this.#classAtom();
    if (typeof first === "bigint") return first;
    if (!this.#sees("-") || this.#text[this.at + 1] === "]") return oneByte(first);
    this.at++;
    const last = this.#classAtom();
    // A hyphen before a set stands for itself.
    if (typeof last === "bigint") return oneByte(first) | oneByte(0x2d) | last;
    if (last < first) this.#fail("a range in a class goes from one byte to a later one");
    return byteRange(first, last);
  }

  #classAtom(): number | ByteSet {
    const named = /\[:(\^?)([a-z]+):\]/y;
    named.lastIndex = this.at;
    const found = named.exec(this.#text);
    if (found !== null) {
      const bytes = NAMED[found[2]!] ?? this.#fail(`unknown class [:${found[2]}:]`);
      this.at = named.lastIndex;
      return found[1] === "^" ? without(bytes) : bytes;
    }
    const char = this.#next();
    if (char !== "\\") return char.charCodeAt(0) & 0xff;
    const escaped = this.#next();
    if (escaped === "b") return 8;
    const code = SETS.get(escaped) ?? this.#code(escaped);
    if (typeof code === "number" && code > 0xff) this.#fail("characters beyond one byte in a class");
    return code;
  }

  #next(): string {
    return this.#text[this.at++] ?? this.#fail("the pattern ends too early");
  }

  #sees(char: string): boolean {
    return this.#text[this.at] === char;
  }

  #takes(char: string): boolean {
    const isHere = this.#sees(char);
    if (isHere) this.at++;
    return isHere;
  }

  #fail(message: string, at = this.at): never {
    throw new PatternError(message, Math.min(at, this.#text.length));
  }
}

const LINE_BREAK: PcreNode = {
  kind: "choice",
  items: [
    {
      kind: "sequence",
      items: [
        { kind: "set", bytes: oneByte(0x0d) },
        { kind: "set", bytes: oneByte(0x0a) },
      ],
    },
    { kind: "set", bytes: VERTICAL },
  ],
};
