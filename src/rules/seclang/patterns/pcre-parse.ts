import { ALL_BYTES, folded, NEWLINE, oneByte, without } from "#rules/regex/byte-set.ts";
import { readClass } from "./pcre-class.ts";
import { PcreCursor } from "./pcre-cursor.ts";
import { ESCAPED_SETS, escapedByte, VERTICAL } from "./pcre-escapes.ts";
import type { PcreNode } from "./pcre-node.ts";

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
  const cursor = new PcreCursor(pattern);
  const node = new Reader(cursor).choice(DEFAULT_FLAGS, 0);
  if (!cursor.hasEnded()) cursor.fail(") without (");
  return node;
}

const ASSERTIONS = { A: "start", B: "not-word", Z: "end", b: "word", z: "end" } as const;

class Reader {
  readonly #cursor: PcreCursor;
  #groups = 0;
  readonly #names = new Map<string, number>();

  constructor(cursor: PcreCursor) {
    this.#cursor = cursor;
  }

  choice(given: Flags, depth: number): PcreNode {
    if (depth > NESTING_MAX) this.#cursor.fail(`groups nested deeper than ${NESTING_MAX}`);
    let flags = given;
    const branches: PcreNode[] = [];
    do {
      const items: PcreNode[] = [];
      while (!this.#cursor.hasEnded() && !this.#cursor.sees("|") && !this.#cursor.sees(")")) {
        const changed = this.#flagsHere(flags);
        if (changed === null) items.push(this.#repeated(flags, depth));
        else flags = changed;
      }
      branches.push(items.length === 1 ? items[0]! : { kind: "sequence", items });
    } while (this.#cursor.takes("|"));
    return branches.length === 1 ? branches[0]! : { kind: "choice", items: branches };
  }

  #flagsHere(flags: Flags): Flags | null {
    const letters = this.#cursor.match(/\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?\)/y);
    if (letters === null) return null;
    return this.#changed(flags, letters[1]!, letters[2] ?? "");
  }

  #changed(flags: Flags, on: string, off: string): Flags {
    const changed = { ...flags };
    for (const [letters, isOn] of [[on, true] as const, [off, false] as const]) {
      for (const letter of letters)
        changed[FLAG_LETTERS[letter] ?? this.#cursor.fail(`the flag ${letter} is not supported; i, s and m are`)] = isOn;
    }
    return changed;
  }

  #repeated(flags: Flags, depth: number): PcreNode {
    let node = this.#atom(flags, depth);
    for (let times = 0; times < NESTING_MAX; times++) {
      const bounds = this.#bounds();
      if (bounds === null) return node;
      const lazy = this.#cursor.takes("?");
      node = { kind: "repeat", item: node, ...bounds, lazy };
      if (!lazy && this.#cursor.takes("+")) node = { kind: "atomic", item: node };
    }
    return this.#cursor.fail("too many repetitions of repetitions");
  }

  #bounds(): { readonly min: number; readonly max: number | null } | null {
    if (this.#cursor.takes("*")) return { min: 0, max: null };
    if (this.#cursor.takes("+")) return { min: 1, max: null };
    if (this.#cursor.takes("?")) return { min: 0, max: 1 };
    // A brace that does not start a repetition is literal.
    const start = this.#cursor.at;
    const found = this.#cursor.match(/\{(\d{1,6})(?:(,)(\d{0,6}))?\}/y);
    if (found === null) return null;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === "" ? null : Number(found[3]);
    if ((max !== null && max < min) || Math.max(min, max ?? 0) > REPEATS_MAX)
      this.#cursor.fail("numbers of a repetition out of order or too large", start);
    return { min, max };
  }

  #atom(flags: Flags, depth: number): PcreNode {
    const char = this.#cursor.next();
    if (char === "(") return this.#group(flags, depth + 1);
    if (char === ".") return { kind: "set", bytes: flags.isDotAll ? ALL_BYTES : without(NEWLINE) };
    if (char === "^") return { kind: "assert", what: flags.isMultiline ? "line-start" : "start" };
    if (char === "$") return { kind: "assert", what: flags.isMultiline ? "line-end" : "end" };
    if (char === "[") return readClass(this.#cursor, flags.isInsensitive);
    if (char === "\\") return this.#escape(flags);
    if (char === "*" || char === "+" || char === "?") this.#cursor.fail(`nothing to repeat before ${char}`);
    return this.#byte(char.charCodeAt(0), flags);
  }

  #byte(code: number, { isInsensitive }: Flags): PcreNode {
    if (code > 0xff) this.#cursor.fail("characters beyond one byte");
    return { kind: "set", bytes: isInsensitive ? folded(oneByte(code)) : oneByte(code) };
  }

  #group(flags: Flags, depth: number): PcreNode {
    const start = this.#cursor.at - 1;
    const kind = this.#groupKind(flags, start);
    const item = this.choice(kind.flags, depth);
    if (!this.#cursor.takes(")")) this.#cursor.fail("the group is never closed", start);
    return kind.make(item);
  }

  #groupKind(flags: Flags, start: number): { readonly flags: Flags; readonly make: (item: PcreNode) => PcreNode } {
    if (!this.#cursor.takes("?")) {
      const number = ++this.#groups;
      return { flags, make: (item) => ({ kind: "capture", item, number }) };
    }
    if (this.#cursor.takes(">")) return { flags, make: (item) => ({ kind: "atomic", item }) };
    const looks = this.#cursor.match(/<?[=!]/y)?.[0];
    if (looks !== undefined) {
      return {
        flags,
        make: (item) => ({ kind: "look", item, isBehind: looks.startsWith("<"), isNegative: looks.endsWith("!") }),
      };
    }
    const named = this.#cursor.match(/(?:P?<([A-Za-z_]\w{0,31})>|'([A-Za-z_]\w{0,31})')/y);
    if (named !== null) {
      const number = ++this.#groups;
      this.#names.set(named[1] ?? named[2]!, number);
      return { flags, make: (item) => ({ kind: "capture", item, number }) };
    }
    const found = this.#cursor.match(/([a-zA-Z]*)(?:-([a-zA-Z]*))?:/y);
    if (found === null) return this.#cursor.fail("unknown kind of group", start);
    return { flags: this.#changed(flags, found[1]!, found[2] ?? ""), make: (item) => item };
  }

  #escape(flags: Flags): PcreNode {
    const char = this.#cursor.next();
    if (char in ASSERTIONS) return { kind: "assert", what: ASSERTIONS[char as keyof typeof ASSERTIONS] };
    const bytes = ESCAPED_SETS.get(char);
    if (bytes !== undefined) return { kind: "set", bytes };
    if (char === "R") return LINE_BREAK;
    if (char === "K" || char === "G" || char === "Q" || char === "p" || char === "P" || char === "X")
      this.#cursor.fail(`\\${char} is not supported`);
    const number = /[1-9]/.test(char) ? this.#reference(char) : 0;
    if (number > 0) return { kind: "reference", number };
    return this.#byte(escapedByte(this.#cursor, char), flags);
  }

  /** The referenced group, or 0 if the digits denote a byte: numbers of missing groups, from 10 on. */
  #reference(first: string): number {
    const second = this.#cursor.text[this.#cursor.at] ?? "";
    const number = Number(/\d/.test(second) ? first + second : first);
    if (number > 9 && number > this.#groups) return 0;
    if (number > this.#groups) this.#cursor.fail(`group ${number} does not exist`);
    if (number > 9) this.#cursor.at++;
    return number;
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
