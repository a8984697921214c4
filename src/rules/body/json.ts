import { charge } from "#rules/budget.ts";

/** Facts about a JSON text beside its values. */
export interface JsonShape {
  /** The greatest depth of nested objects and arrays. */
  readonly depth: number;
  /** Whether an object has a name twice. */
  readonly hasRepeats: boolean;
}

/** Called with a value and its name; each is empty if missing. A name without a value is that of an object or array. */
export type TakeJson = (name: string, value: string, path: string) => void;

/** Deeper values are read as if they were at this depth. */
export const DEPTH_MAX = 512;
const PATH_CHARACTERS_MAX = 200;
const BYTE_STEPS = 3;
/** Of each mark, string and word. */
const TOKEN_STEPS = 12;
/** From this number on, names are looked up in a set instead of compared one by one. */
const FEW_NAMES = 8;

interface Frame {
  /** Names so far; the set exists once they are many. */
  readonly names: string[];
  set: Set<string> | null;
  readonly path: string;
  /** The name before the colon. */
  name: string;
}

/**
 * Reads every name, string, number and word of a JSON text in one pass, even if it is invalid: comments, single quotes,
 * names without quotes, missing or additional commas, several documents, text after them (as accepted by Gson, Jackson,
 * Oj and others). Texts have one char per byte and are UTF-8.
 */
export function readJson(text: string, take: TakeJson): JsonShape {
  charge(text.length * BYTE_STEPS);
  let frame: Frame = newFrame("");
  const frames: Frame[] = [];
  let depth = 0;
  let deepest = 0;
  let hasRepeats = false;
  /** A name or a value; the next character, a colon or not, tells which. */
  let pending: string | undefined;
  const settle = (): void => {
    if (pending === undefined) return;
    take(frame.name, pending, joined(frame.path, frame.name));
    pending = undefined;
  };
  /** The next backslash, so that it is searched once. */
  let slash = text.indexOf("\\");
  let tokens = 0;
  for (let at = 0; at < text.length;) {
    tokens++;
    const code = text.charCodeAt(at);
    switch (code) {
      case 0x09:
      case 0x0a:
      case 0x0d:
      case 0x20:
        at++;
        tokens--;
        break;
      case 0x22:
      case 0x27: {
        settle();
        if (slash !== -1 && slash <= at) slash = text.indexOf("\\", at + 1);
        const end = stringEnd(text, at, code, slash);
        pending = unescapeJson(text.slice(at + 1, end), code === 0x22);
        at = end + 1;
        break;
      }
      case 0x3a:
        if (pending !== undefined) {
          hasRepeats = addName(frame, pending) || hasRepeats;
          frame.name = pending;
          pending = undefined;
        }
        at++;
        break;
      case 0x2c:
        settle();
        // A name belongs to one member of an object; items of an array have none.
        if (frames.length > 0) frame.name = "";
        at++;
        break;
      case 0x7b:
      case 0x5b: {
        settle();
        if (frame.name !== "") take(frame.name, "", joined(frame.path, frame.name));
        deepest = Math.max(deepest, ++depth);
        if (depth <= DEPTH_MAX) {
          frames.push(frame);
          frame = newFrame(joined(frame.path, frame.name));
        }
        at++;
        break;
      }
      case 0x7d:
      case 0x5d:
        settle();
        if (depth > 0 && depth-- <= DEPTH_MAX) frame = frames.pop() ?? frame;
        frame.name = "";
        at++;
        break;
      default: {
        const behind = code === 0x2f ? commentEnd(text, at) : at;
        if (behind > at) {
          at = behind;
          break;
        }
        settle();
        const end = wordEnd(text, at);
        // Numbers in a list have no name, and no program reads them as anything else.
        if (frame.name !== "" || frames.length === 0 || !isNumber(text, at, end)) pending = text.slice(at, end);
        at = end;
      }
    }
  }
  settle();
  charge(tokens * TOKEN_STEPS);
  return { depth: deepest, hasRepeats };
}

const newFrame = (path: string): Frame => ({ names: [], set: null, path, name: "" });

function joined(path: string, name: string): string {
  if (name === "" || path.length > PATH_CHARACTERS_MAX) return path;
  const short = name.length > PATH_CHARACTERS_MAX ? name.slice(0, PATH_CHARACTERS_MAX) : name;
  return path === "" ? short : `${path}.${short}`;
}

/** Whether the object already had the name. */
function addName(frame: Frame, name: string): boolean {
  const { names } = frame;
  if (frame.set === null) {
    if (names.includes(name)) return true;
    names.push(name);
    if (names.length > FEW_NAMES) frame.set = new Set(names);
    return false;
  }
  const before = frame.set.size;
  return frame.set.add(name).size === before;
}

/** Index of the closing quote, or the end of the text; `slash`: index of the first backslash after `start`, or -1. */
function stringEnd(text: string, start: number, quote: number, slash: number): number {
  const found = text.indexOf(quote === 0x22 ? '"' : "'", start + 1);
  const end = found === -1 ? text.length : found;
  if (slash === -1 || slash > end) return end;
  const mark = quote === 0x22 ? '"' : "'";
  for (let at = end; at < text.length; at = text.indexOf(mark, at + 1)) {
    if (at === -1) break;
    // A quote behind an odd number of backslashes is a part of the string.
    let first = at;
    while (first > slash && text.charCodeAt(first - 1) === 0x5c) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}

/** Index after the comment that begins at `at`; `at` if none does. */
function commentEnd(text: string, at: number): number {
  const next = text.charCodeAt(at + 1);
  if (next === 0x2a) return endOf(text, "*/", at + 2);
  return next === 0x2f ? endOf(text, "\n", at + 2) : at;
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + mark.length;
}

function isNumber(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!NUMBER_CHARACTERS[text.charCodeAt(at) & 0xff]) return false;
  return true;
}

const NUMBER_CHARACTERS: readonly boolean[] = Array.from({ length: 256 }, (_, code) =>
  "0123456789+-.eE".includes(String.fromCharCode(code)),
);

/** A word ends before a value, a name or a blank; its first character may be any. */
function wordEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && !WORD_ENDS[text.charCodeAt(at) & 0xff]) at++;
  return at;
}

const WORD_ENDS: readonly boolean[] = Array.from({ length: 256 }, (_, code) => " \t\r\n\"',:[]{}".includes(String.fromCharCode(code)));

/** The bytes that a JSON string stands for; in an unknown escape, the character after the backslash. `isQuoted`: it was between double quotes. */
export function unescapeJson(text: string, isQuoted = false): string {
  if (!text.includes("\\")) return text;
  if (isQuoted && text.length >= LONG_BYTES_MIN && !UNUSUAL.test(text)) return JSON.parse(`"${text}"`) as string;
  return text.replace(ESCAPED, (whole, hex: string | undefined, char: string | undefined) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (char !== undefined) return ESCAPES[char] ?? char;
    let points = "";
    for (let at = 2; at < whole.length; at += 6) points += String.fromCharCode(Number.parseInt(whole.slice(at, at + 4), 16));
    return /[^\0-\x7f]/.test(points) ? Buffer.from(points, "utf8").toString("latin1") : points;
  });
}

/** Of a shorter string, the replacement takes less time. */
const LONG_BYTES_MIN = 32;
/** In every text between double quotes that is not a strict string of JSON, and in those whose escapes stand for characters beyond a byte. */
// oxlint-disable-next-line no-control-regex
const UNUSUAL = /[\0-\x1f]|\\(?:[^"\\/bfnrt]|$)/;

// Surrogates of a pair are adjacent, so a run of escapes is decoded together.
// linear: pumped
const ESCAPED = /(?:\\u[0-9A-Fa-f]{4})+|\\x([0-9A-Fa-f]{2})|\\([^])/g;
const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
