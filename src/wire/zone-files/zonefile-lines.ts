import { RdataError } from "#wire/dns/errors.ts";
import type { Token } from "#wire/dns/presentation.ts";

/** One entry of a master file: a line, or several joined by parentheses (RFC 1035 §5.1). */
export interface ZoneFileLine {
  /** Number of its first line, from 1. */
  readonly line: number;
  /** It begins with white space, so it belongs to the previous owner. */
  readonly indented: boolean;
  readonly tokens: readonly Token[];
  /** Text after the semicolon on its last line, trimmed; empty if none. */
  readonly comment: string;
  /** Number of characters of the file up to its end. */
  readonly end: number;
  /** Why it is malformed; the tokens are then incomplete. */
  readonly problem?: string;
}

interface Scanner {
  readonly text: string;
  at: number;
  line: number;
}

/**
 * Limit of the words of one entry in total. 65,535 bytes of RDATA, each as `\DDD`, are shorter; longer text would only be
 * refused later.
 */
const ENTRY_LENGTH_MAX = 300_000;
/** The longest record in a zone has 4,096 bytes, so it has at most as many character strings. */
const ENTRY_WORDS_MAX = 5_000;

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const OPEN = 0x28;
const CLOSE = 0x29;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;

/** Splits a master file into entries, without comment lines and empty ones. Visits each character once. */
export function* zoneFileLines(text: string): Generator<ZoneFileLine> {
  // Some editors begin files with a byte order mark.
  const scanner: Scanner = { text, at: text.charCodeAt(0) === 0xfeff ? 1 : 0, line: 1 };
  while (scanner.at < text.length) {
    const entry = readEntry(scanner);
    if (entry.tokens.length > 0 || entry.problem !== undefined) yield entry;
  }
}

function readEntry(scanner: Scanner): ZoneFileLine {
  const { text } = scanner;
  const tokens: Token[] = [];
  const indented = isSpace(text.charCodeAt(scanner.at));
  let line = scanner.line;
  let comment = "";
  let depth = 0;
  let length = 0;
  let problem: string | undefined;
  const entry = (): ZoneFileLine => ({ line, indented, tokens, comment, end: scanner.at, ...(problem === undefined ? {} : { problem }) });
  try {
    while (scanner.at < text.length) {
      const code = text.charCodeAt(scanner.at);
      if (code === NEWLINE) {
        scanner.at += 1;
        scanner.line += 1;
        if (depth === 0) return entry();
      } else if (code === SEMICOLON) {
        const from = scanner.at + 1;
        skipToLineEnd(scanner);
        if (depth === 0) comment = text.slice(from, scanner.at).trim();
      } else if (code === OPEN) {
        depth += 1;
        scanner.at += 1;
      } else if (code === CLOSE) {
        if (depth === 0) throw new RdataError("a closing parenthesis without an opening one");
        depth -= 1;
        scanner.at += 1;
      } else if (isSpace(code)) scanner.at += 1;
      else {
        if (tokens.length === 0) line = scanner.line;
        const token = readToken(scanner);
        length += token.raw.length + 1;
        if (length > ENTRY_LENGTH_MAX) throw new RdataError("more text than a record can have");
        // The entry is still read to its end, because the rest of its parentheses would be taken for records.
        if (tokens.length === ENTRY_WORDS_MAX) problem = "more text than a record can have";
        else tokens.push(token);
      }
    }
    if (depth > 0) throw new RdataError("a parenthesis that does not close");
    return entry();
  } catch (error) {
    if (!(error instanceof RdataError)) throw error;
    skipToLineEnd(scanner);
    problem = error.message;
    return entry();
  }
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0d;

function skipToLineEnd(scanner: Scanner): void {
  const end = scanner.text.indexOf("\n", scanner.at);
  scanner.at = end < 0 ? scanner.text.length : end;
}

function readToken(scanner: Scanner): Token {
  const { text, at: from } = scanner;
  const quoted = text.charCodeAt(from) === QUOTE;
  const end = quoted ? quoteEnd(text, from + 1) : wordEnd(text, from);
  scanner.at = quoted ? end + 1 : end;
  return { raw: text.slice(quoted ? from + 1 : from, end), quoted };
}

/** Strings end with their line at the latest. */
function quoteEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === NEWLINE) break;
    if (code === BACKSLASH && text.charCodeAt(at + 1) !== NEWLINE) at += 1;
  }
  throw new RdataError("a quote that does not close on its line");
}

function wordEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE || code === SEMICOLON || code === OPEN || code === CLOSE || isSpace(code)) break;
    if (code === BACKSLASH && text.charCodeAt(at + 1) !== NEWLINE) at += 1;
    if (code === QUOTE) {
      if (text.charCodeAt(at - 1) !== EQUALS) throw new RdataError("a quote inside a word");
      at = quoteEnd(text, at + 1);
    }
  }
  return Math.min(at, text.length);
}
