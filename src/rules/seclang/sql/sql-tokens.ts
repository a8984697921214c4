import { SQL_FUNCTIONS, SQL_WORDS } from "./sql-words.ts";

/** The kinds of the tokens of a text, one character each, and its comments. */
export interface SqlTokens {
  readonly kinds: string;
  /** A closed comment is between two of them. */
  readonly hasComment: boolean;
  /** Whether it has a conditional comment, whose content MySQL executes. */
  readonly hasConditional: boolean;
  /** The quote that is still open at the end of the text, or "". */
  readonly openQuote: string;
  /** The text after the mark of the comment that extends to the end. */
  readonly lastComment: string;
}

const TOKENS_MAX = 48;
const COMPARISONS = new Set(["<=>", "<=", ">=", "<>", "!=", ":=", "==", "<<", ">>", "!<", "!>"]);

/** Reads a text as SQL. `quote`: the text starts inside such quotes; null if they are never closed. */
export function readSql(text: string, quote: "" | "'" | '"'): SqlTokens | null {
  const reader = new Reader(text);
  if (quote !== "" && !reader.closeFirst(quote)) return null;
  reader.run();
  return reader;
}

class Reader implements SqlTokens {
  kinds = "";
  hasComment = false;
  hasConditional = false;
  openQuote = "";
  lastComment = "";
  readonly #text: string;
  #at = 0;
  /** End of the previous word, and the word itself, because some keywords have two words. */
  #word = "";
  #wordEnd = -1;

  constructor(text: string) {
    this.#text = text;
  }

  closeFirst(quote: string): boolean {
    const end = this.#endOfQuote(0, quote);
    if (end === this.#text.length) return false;
    this.#at = end + 1;
    this.kinds = "s";
    return true;
  }

  run(): void {
    while (this.#at < this.#text.length && this.kinds.length < TOKENS_MAX) {
      const char = this.#text[this.#at]!;
      const code = char.charCodeAt(0);
      if (code <= 0x20 || code === 0xa0) this.#at++;
      else if (isWordStart(code)) this.#readWord();
      else if (isDigit(code) || (char === "." && isDigit(this.#text.charCodeAt(this.#at + 1)))) this.#readNumber();
      else if (char === "'" || char === '"' || char === "`") this.#readQuoted(char);
      else if (!this.#readComment(char)) this.#readMark(char);
    }
  }

  #add(kind: string): void {
    this.kinds += kind;
  }

  /** End of the quoted text that begins at `from`, or of the text. */
  #endOfQuote(from: number, quote: string): number {
    const text = this.#text;
    for (let at = from; at < text.length; at++) {
      const char = text[at];
      if (char === "\\") at++;
      else if (char === quote) {
        if (text[at + 1] !== quote || at === 0) return at;
        at++;
      }
    }
    return text.length;
  }

  #readQuoted(quote: string): void {
    // A prefix such as N'…' or x'…' belongs to the text, and texts side by side are one.
    if (this.#wordEnd === this.#at && this.#isPrefix(this.#at + 1)) this.kinds = this.kinds.slice(0, -1);
    const isAlias = this.#wordEnd === this.#at && this.kinds.endsWith("n");
    const end = this.#endOfQuote(this.#at + 1, quote);
    if (end >= this.#text.length) this.openQuote = quote;
    this.#at = Math.min(this.#text.length, end + 1);
    // A name in quotes behind another one is the same column by another name.
    if (quote === "`") this.kinds = isAlias ? this.kinds : `${this.kinds}n`;
    else if (!this.kinds.endsWith("s") || this.kinds.length === 1) this.#add("s");
  }

  /** Digits follow the prefixes of numbers. */
  #isPrefix(from: number): boolean {
    if (/^[xb]$/.test(this.#word)) return /^[\s0-9a-f]{0,40}(?:$|[^?.!\s])/i.test(this.#text.slice(from, from + 42));
    return /^(?:n|e|q|nq|u|_utf8|_latin1|_binary)$/.test(this.#word);
  }

  #readNumber(): void {
    for (const part of [/0[xX][0-9a-fA-F]+|[0-9]+/y, /\.[0-9]*/y, /[eE][+-]?[0-9]+/y]) {
      part.lastIndex = this.#at;
      if (part.test(this.#text)) this.#at = part.lastIndex;
    }
    this.#add("1");
  }

  #readWord(): void {
    const text = this.#text;
    let end = this.#at + 1;
    while (end < text.length && isWordByte(text.charCodeAt(end))) end++;
    const word = text.slice(this.#at, end).toLowerCase();
    const wasWord = this.#wordEnd !== -1 && this.#isBlank(this.#wordEnd, this.#at);
    const pair = wasWord ? SQL_WORDS.get(`${this.#word} ${word}`) : undefined;
    if (pair !== undefined) this.kinds = this.kinds.slice(0, -1) + pair;
    else this.#add(this.#kindOf(word, end));
    this.#word = pair === undefined ? word : `${this.#word} ${word}`;
    this.#at = this.#wordEnd = end;
  }

  #kindOf(word: string, end: number): string {
    const called = this.#text[this.#skipBlanks(end)] === "(" ? SQL_FUNCTIONS.get(word) : undefined;
    return called ?? SQL_WORDS.get(word) ?? "n";
  }

  /** Comments are spaces, unless one reaches to the end. */
  #readComment(char: string): boolean {
    const next = this.#text[this.#at + 1];
    if (char === "#" || (char === "-" && next === "-" && !isDigit(this.#text.charCodeAt(this.#at + 2)))) return this.#lineComment(char);
    if (char === "*" && next === "/" && this.hasConditional) {
      this.#at += 2;
      return true;
    }
    if (char !== "/" || next !== "*") return false;
    if (this.#text[this.#at + 2] === "!") {
      this.hasConditional = true;
      this.#at += 3;
      while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++;
      return true;
    }
    const end = this.#text.indexOf("*/", this.#at + 2);
    if (end === -1) return this.#lastComment(2, this.#text.length);
    this.hasComment = true;
    this.#at = end + 2;
    return true;
  }

  /** To the end of the line, and if that is the end of the text, to be seen. */
  #lineComment(char: string): boolean {
    const length = char === "#" ? 1 : 2;
    const end = this.#text.indexOf("\n", this.#at);
    if (end === -1) return this.#lastComment(length, this.#text.length);
    this.hasComment = true;
    this.#at = end + 1;
    return true;
  }

  #lastComment(length: number, end: number): true {
    this.lastComment = this.#text.slice(this.#at + length);
    this.#at = end;
    this.#add("c");
    return true;
  }

  #readMark(char: string): void {
    const text = this.#text;
    const two = text.slice(this.#at, this.#at + 2);
    const three = text.slice(this.#at, this.#at + 3);
    if (two === "||" || two === "&&") return this.#mark("&", 2);
    if (COMPARISONS.has(three)) return this.#mark("o", 3);
    if (COMPARISONS.has(two)) return this.#mark("o", 2);
    // NULL in MySQL.
    if (two === "\\N") return this.#mark("1", 2);
    if (char === "$" && this.#readDollars()) return;
    if (two === "@@") return this.#variable("V", 2);
    if (char === "@") return this.#variable("v", 1);
    this.#mark(MARKS.get(char) ?? "x", 1);
  }

  /** A text of PostgreSQL between equal tags, as $$text$$ or $a$text$a$. */
  #readDollars(): boolean {
    const tag = /^\$[a-z_]{0,20}\$/i.exec(this.#text.slice(this.#at, this.#at + 22))?.[0];
    const end = tag === undefined ? -1 : this.#text.indexOf(tag, this.#at + tag.length);
    if (tag === undefined || end === -1) return false;
    this.#add("s");
    this.#at = end + tag.length;
    return true;
  }

  #mark(kind: string, length: number): void {
    this.#add(kind);
    this.#at += length;
  }

  #variable(kind: string, length: number): void {
    let end = this.#at + length;
    while (end < this.#text.length && (isWordByte(this.#text.charCodeAt(end)) || this.#text[end] === ".")) end++;
    this.#add(end === this.#at + length ? "x" : kind);
    this.#at = end;
  }

  #isBlank(from: number, to: number): boolean {
    return this.#skipBlanks(from) >= to || /^\s*\/\*/.test(this.#text.slice(from, from + 8));
  }

  #skipBlanks(from: number): number {
    let at = from;
    while (at < this.#text.length && (this.#text.charCodeAt(at) <= 0x20 || this.#text.charCodeAt(at) === 0xa0)) at++;
    return at;
  }
}

const MARKS: ReadonlyMap<string, string> = new Map([
  ...["(", ")", ",", ";", "."].map((char): [string, string] => [char, char]),
  ...["=", "<", ">", "^", "|", "&"].map((char): [string, string] => [char, "o"]),
  ...["+", "-", "*", "/", "%", "!", "~"].map((char): [string, string] => [char, "a"]),
]);

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isWordStart = (code: number): boolean => ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a ? true : code === 0x5f || code >= 0x80);
const isWordByte = (code: number): boolean => isWordStart(code) || isDigit(code) || code === 0x24;
