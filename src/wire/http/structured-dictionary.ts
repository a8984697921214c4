import { withoutEnd } from "#kernel/trim.ts";

/** A bare value; integers and dates are numbers; decimals, byte sequences and tokens stay text. */
export type DictionaryValue = number | string | boolean;

const MEMBERS_MAX = 256;
const TEXT_LENGTH_MAX = 16_384;

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const NUMBER = /-?(?:\d{1,12}\.\d{1,3}|\d{1,15})(?![\d.])/y;
const STRING = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const BYTES = /:[A-Za-z0-9+/]*={0,2}:/y;
const BOOLEAN = /\?([01])/y;
const DATE = /@(-?\d{1,15})(?![\d.])/y;
// linear: pumped
const DISPLAY = /%"(?:[\x20-\x24\x26-\x7e](?<!")|%[0-9a-f]{2})*"/y;

/**
 * Parses a dictionary of structured fields (RFC 9651 §4.2.2) from all field lines joined by commas; null if any part is
 * malformed, because the whole field must then be ignored. Parameters are validated and dropped, inner lists become
 * `true`.
 */
export function parseDictionary(text: string): ReadonlyMap<string, DictionaryValue> | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  const scanner = new Scanner(text);
  const members = new Map<string, DictionaryValue>();
  scanner.skip(SPACES);
  while (!scanner.atEnd()) {
    const key = scanner.take(KEY);
    if (key === null || members.size === MEMBERS_MAX) return null;
    const value = scanner.skip("=") ? readMember(scanner) : true;
    if (value === null || !skipParameters(scanner)) return null;
    members.set(key[0], value);
    scanner.skip(BLANKS);
    if (scanner.atEnd()) return members;
    if (!scanner.skip(",")) return null;
    scanner.skip(BLANKS);
    if (scanner.atEnd()) return null;
  }
  return members;
}

const SPACES = / */y;
const BLANKS = /[ \t]*/y;

class Scanner {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = withoutEnd(text, " ");
  }

  atEnd(): boolean {
    return this.at >= this.text.length;
  }

  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match !== null) this.at = pattern.lastIndex;
    return match;
  }

  skip(what: string | RegExp): boolean {
    if (typeof what !== "string") return this.take(what) !== null;
    if (!this.text.startsWith(what, this.at)) return false;
    this.at += what.length;
    return true;
  }
}

function readMember(scanner: Scanner): DictionaryValue | null {
  if (!scanner.skip("(")) return readItem(scanner);
  for (;;) {
    scanner.skip(SPACES);
    if (scanner.skip(")")) return true;
    if (readItem(scanner) === null || !skipParameters(scanner)) return null;
    if (!scanner.skip(" ")) return scanner.skip(")") ? true : null;
  }
}

function readItem(scanner: Scanner): DictionaryValue | null {
  const number = scanner.take(NUMBER);
  if (number !== null) return number[0].includes(".") ? number[0] : Number(number[0]);
  const string = scanner.take(STRING);
  if (string !== null) return string[1]!.replace(/\\(.)/g, "$1");
  const boolean = scanner.take(BOOLEAN);
  if (boolean !== null) return boolean[1] === "1";
  const date = scanner.take(DATE);
  if (date !== null) return Number(date[1]);
  return (scanner.take(TOKEN) ?? scanner.take(BYTES) ?? scanner.take(DISPLAY))?.[0] ?? null;
}

function skipParameters(scanner: Scanner): boolean {
  while (scanner.skip(";")) {
    scanner.skip(SPACES);
    if (scanner.take(KEY) === null) return false;
    if (scanner.skip("=") && readItem(scanner) === null) return false;
  }
  return true;
}
