import { lowerBytes, rememberedLower } from "#rules/text/text-functions.ts";
import { indexOfPart } from "#rules/text/text-search.ts";

/** The problem of a wildcard pattern, or null. `**` is an error (waf.md), and only `*` and `\` may be escaped. */
export function wildcardProblem(pattern: string): string | null {
  const bare = pattern.replace(/\\[\\*]/g, "");
  if (bare.includes("**")) return "two asterisks in a row are not allowed in a wildcard";
  return bare.includes("\\") ? String.raw`in a wildcard \ escapes only * and \ `.trimEnd() : null;
}

/**
 * Whether the whole text matches the pattern, in which `*` matches any text. Each part is searched once, so the time is
 * linear in the text for each part.
 */
export function wildcardTest(pattern: string, strict: boolean): (text: string) => boolean {
  const [first = "", ...rest] = literalParts(strict ? pattern : lowerBytes(pattern));
  const cased = strict ? (text: string): string => text : rememberedLower;
  const last = rest.pop();
  if (last === undefined) return (text) => text.length === first.length && cased(text) === first;
  return (given) => {
    const text = cased(given);
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of rest) {
      const found = indexOfPart(text, part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** The text of each `*`, as short as possible from left to right, or null if the whole text does not match. */
export function wildcardCaptures(pattern: string, strict: boolean): (text: string) => readonly string[] | null {
  const [first = "", ...rest] = literalParts(strict ? pattern : lowerBytes(pattern));
  const fits = wildcardTest(pattern, strict);
  return (text) => {
    if (!fits(text)) return null;
    const cased = strict ? text : lowerBytes(text);
    const captures: string[] = [];
    let at = first.length;
    for (const [i, part] of rest.entries()) {
      const found = i === rest.length - 1 ? text.length - part.length : indexOfPart(cased, part, at);
      captures.push(text.slice(at, found));
      at = found + part.length;
    }
    return captures;
  };
}

/** The literal parts between the asterisks. */
export function literalParts(pattern: string): string[] {
  const parts = [""];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? "";
    if (char === "*") parts.push("");
    else if (char === "\\") parts.push(`${parts.pop() ?? ""}${pattern[++at] ?? ""}`);
    else parts.push(`${parts.pop() ?? ""}${char}`);
  }
  return parts;
}
