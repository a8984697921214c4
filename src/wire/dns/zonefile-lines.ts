import { RdataError } from "./errors.ts";
import { type Token, closingQuote } from "./presentation.ts";

/** One entry of a master file: a line, or several that parentheses join (RFC 1035 §5.1). */
export interface ZoneFileLine {
  /** Of its first word, counted from 1. */
  readonly line: number;
  /** It starts with white space, so that it belongs to the owner before. */
  readonly indented: boolean;
  readonly tokens: readonly Token[];
  /** Why it cannot be read; the tokens are then incomplete. */
  readonly problem?: string;
}

interface Scanner {
  readonly text: string;
  at: number;
  line: number;
}

/** Splits a master file into its entries, without comments and empty lines. Each character is seen once. */
export function* zoneFileLines(text: string): Generator<ZoneFileLine> {
  const scanner: Scanner = { text, at: 0, line: 1 };
  while (scanner.at < text.length) {
    const entry = readEntry(scanner);
    if (entry.tokens.length > 0 || entry.problem !== undefined) yield entry;
  }
}

function readEntry(scanner: Scanner): ZoneFileLine {
  const { text } = scanner;
  const tokens: Token[] = [];
  const first = { line: scanner.line, indented: isSpace(text[scanner.at]) };
  let depth = 0;
  try {
    while (scanner.at < text.length) {
      const character = text[scanner.at];
      if (character === "\n") {
        scanner.at += 1;
        scanner.line += 1;
        if (depth === 0) return { ...first, tokens };
      } else if (character === ";") skipToLineEnd(scanner);
      else if (character === "(") {
        depth += 1;
        scanner.at += 1;
      } else if (character === ")") {
        if (depth === 0) throw new RdataError("a closing parenthesis without an opening one");
        depth -= 1;
        scanner.at += 1;
      } else if (isSpace(character)) scanner.at += 1;
      else tokens.push(readToken(scanner));
    }
    if (depth > 0) throw new RdataError("a parenthesis that does not close");
    return { ...first, tokens };
  } catch (error) {
    if (!(error instanceof RdataError)) throw error;
    skipToLineEnd(scanner);
    return { ...first, tokens, problem: error.message };
  }
}

const isSpace = (character: string | undefined): boolean => character === " " || character === "\t" || character === "\r";

function skipToLineEnd(scanner: Scanner): void {
  const end = scanner.text.indexOf("\n", scanner.at);
  scanner.at = end < 0 ? scanner.text.length : end;
}

function readToken(scanner: Scanner): Token {
  const { text, at: from } = scanner;
  const quoted = text[from] === '"';
  const end = quoted ? quoteEnd(text, from + 1) : wordEnd(text, from);
  scanner.at = quoted ? end + 1 : end;
  return { raw: text.slice(quoted ? from + 1 : from, end), quoted };
}

/** Strings do not reach past their line. */
function quoteEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  try {
    return from + closingQuote(text.slice(from, newline < 0 ? text.length : newline), 0);
  } catch {
    throw new RdataError("a quote that does not close on its line");
  }
}

function wordEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\n" || character === ";" || character === "(" || character === ")" || isSpace(character)) break;
    if (character === "\\" && text[at + 1] !== "\n") at += 1;
    if (character === '"') {
      if (text[at - 1] !== "=") throw new RdataError("a quote inside a word");
      at = quoteEnd(text, at + 1);
    }
  }
  return Math.min(at, text.length);
}
