import { RegexError } from "./regex-syntax.ts";

// Each of them is a table of hundreds of ranges, which the library builds in about 200 µs.
const CHARACTER_CLASSES_MAX = 64;
const UNCLOSED_MAX = 100;

/**
 * An upper bound of the positions of a Unicode pattern with expanded repetitions, computed without the library, which
 * would expand them first. Throws RegexError for a pattern that would take too long to read.
 */
export function unicodeSizeOf(pattern: string): number {
  // For each of them the library searches up to the end of the pattern.
  if (pattern.slice(pattern.lastIndexOf(":]") + 1).split("[:").length > UNCLOSED_MAX) throw new RegexError("too many [: without :]", 0);
  if (pattern.split(/\\p/i).length > CHARACTER_CLASSES_MAX + 1)
    throw new RegexError(String.raw`more than ${CHARACTER_CLASSES_MAX} classes \p{…}`, 0);
  /** Of the open groups, the characters in them so far. */
  const open = [0];
  /** Start of the item that a repetition would repeat. */
  let last = 0;
  const adds = (places: number): void => {
    last = places;
    open[open.length - 1]! += places;
  };
  let at = 0;
  const skip = (token: RegExp): string => {
    token.lastIndex = at;
    const found = token.exec(pattern)?.[0] ?? "";
    at += found.length;
    return found;
  };
  while (at < pattern.length) {
    const count = COUNT.exec(skip(REPETITION));
    if (count !== null) adds(last * Math.max(Number(count[1]), Number(count[2] ?? 0), 1));
    else {
      const char = pattern[at++]!;
      if (char === "(") open.push(0);
      else if (char === ")" && open.length > 1) adds(open.pop()! + 1);
      else if (char === "*" || char === "+" || char === "?") open[open.length - 1]!++;
      else if (char === "\\" && pattern[at] === "Q") {
        const end = pattern.indexOf(String.raw`\E`, at);
        for (const stop = end < 0 ? pattern.length : end; at < stop; at++) adds(1);
      } else {
        if (char === "\\") skip(ESCAPED);
        else if (char === "[") at = endOfClass(pattern, at);
        adds(1);
      }
    }
  }
  return open.reduce((sum, places) => sum + places, 0);
}

const REPETITION = /\{\d{1,9}(?:,\d{0,9})?\}/y;
const COUNT = /^\{(\d{1,9})(?:,(\d{0,9}))?\}$/;
const ESCAPED = /[xpP]\{[^}]{0,40}\}|[\s\S]/y;
const NAMED_CLASS = /\[:\^?[a-z]{1,10}:\]/y;

/** Index after the bracket that closes a class. */
function endOfClass(pattern: string, from: number): number {
  let at = pattern[from] === "^" ? from + 1 : from;
  if (pattern[at] === "]") at++;
  while (at < pattern.length) {
    const char = pattern[at];
    NAMED_CLASS.lastIndex = at;
    if (char === "]") return at + 1;
    if (char === "\\") at += 2;
    else at = char === "[" && NAMED_CLASS.test(pattern) ? NAMED_CLASS.lastIndex : at + 1;
  }
  throw new RegexError("unclosed class", 0);
}
