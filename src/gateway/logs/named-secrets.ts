import type { Work } from "#kernel/process/slices.ts";

export type OnHit = (from: number, to: number) => void;

/** Bytes that one step looks at. */
export const PART_BYTES = 64 * 1024;
/** Measured cost of a pattern's worst text. */
const NAMED_UNITS = 1 / 13;
const AHEAD_BYTES = 16 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const NAMES =
  "(?:api[_-]?key|apikey|access[_-]?key|secret|passw(?:or)?d|passphrase|access[_-]?token|auth[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|authorization|private[_-]?key|credentials?|client[_-]?secret|x-api-key)";
/**
 * Its groups are the text before a value, and the beginning of the value. The rest is not part of the pattern: V8 keeps each character of
 * a repetition on a stack, which a value of megabytes overflows.
 */
interface Named {
  readonly pattern: RegExp;
  /** Where a value that goes on at `at` ends, in a text of these bytes. */
  endOf(text: string, at: number, bytes: Buffer): number;
}
const NAMED: readonly Named[] = [
  // A member of JSON, also inside a JSON string, whose quotes have backslashes before them; it takes all of them, so that
  // no run is tried twice.
  // linear: pumped
  { pattern: new RegExp(String.raw`((?<!\\)\\*"[\w-]{0,40}${NAMES}[\w-]{0,40}\\*"\s*:\s*\\*")`, "gi"), endOf: stringEnd },
  // A query, a form, or an assignment as in configuration files and code.
  {
    pattern: new RegExp(String.raw`(${NAMES}[\w.-]{0,40}\\*["']?\]?[ \t]{0,4}(?:=>|:=|[:=])[ \t]{0,4}\\*["']?)([^\s"'\\&,;]{6})`, "gi"),
    // linear: at most 4096 bytes (a sticky piece of a run)
    endOf: runOf(/[^\s"'\\&,;]{0,4096}/y),
  },
  {
    // linear: pumped
    pattern: new RegExp(String.raw`((?:authorization|x-api-key|api-key)\s*:\s*(?:bearer\s+|basic\s+)?)([^\s"'\\,;]{6})`, "gi"),
    // linear: at most 4096 bytes (a sticky piece of a run)
    endOf: runOf(/[^\s"'\\,;]{0,4096}/y),
  },
  {
    pattern: /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)([^-]{16})/g,
    // linear: at most 4096 bytes (a sticky piece of a run)
    endOf: runOf(/[^-]{0,4096}/y),
  },
  {
    pattern: /(\bbearer\s+)([A-Za-z0-9._~+/=-]{12})/gi,
    // linear: at most 4096 bytes (a sticky piece of a run)
    endOf: runOf(/[A-Za-z0-9._~+/=-]{0,4096}/y),
  },
];

/** Looks for the end of a run in short pieces. */
function runOf(piece: RegExp): Named["endOf"] {
  return (text, at) => {
    for (let end = at; ; end = piece.lastIndex) {
      piece.lastIndex = end;
      if (!piece.test(text) || piece.lastIndex === end) return end;
    }
  };
}

/** Finds values behind names of secrets, in steps. */
export function* findNamed(bytes: Buffer, onHit: OnHit): Work<void> {
  const text = bytes.toString("latin1");
  for (const named of NAMED)
    for (let next = 0; next < text.length;) {
      next = findNamedFrom(text, bytes, next, named, onHit);
      if (next < text.length) yield PART_BYTES * NAMED_UNITS;
    }
}

/** The end of a JSON string's text: before its quote and the backslashes in front of that. */
function stringEnd(_text: string, start: number, bytes: Buffer): number {
  let end = start;
  for (let at = start; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] !== BACKSLASH) end = at + 1;
  return end;
}

/**
 * Finds what begins in the next part, and returns where the part after it begins. A name is found if it ends `AHEAD_BYTES` behind the part,
 * and its value wherever that ends.
 */
function findNamedFrom(text: string, bytes: Buffer, start: number, { pattern, endOf }: Named, onHit: OnHit): number {
  // A pattern looks at the character before a match.
  const base = Math.max(0, start - 1);
  const end = start + PART_BYTES;
  const part = text.slice(base, end + AHEAD_BYTES);
  let next = start;
  while (next < end) {
    pattern.lastIndex = next - base;
    const match = pattern.exec(part);
    if (match === null || base + match.index >= end) return end;
    const { index, 1: before = "", 2: value = "" } = match;
    const from = base + index + before.length;
    next = endOf(text, from + value.length, bytes);
    if (next > from) onHit(from, next);
  }
  return next;
}
