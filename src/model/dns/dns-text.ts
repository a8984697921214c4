import { withoutEnd } from "#kernel/trim.ts";

/** One quoted character string; a backslash escapes the next character (RFC 1035 §5.1). */
// linear: pumped
const QUOTED = /^\s*"(?:[^"\\]|\\[^])*"(?:\s*"(?:[^"\\]|\\[^])*")*\s*$/;

/**
 * SPEC 2.2, TXT rules: content is one or more strings in double quotes; content without quotes gets them. Undefined if
 * quotes are inconsistent, such as one that is not closed.
 */
export function quoteText(content: string): string | undefined {
  if (QUOTED.test(content)) return content.trim();
  return hasBareQuote(content) || endsInEscape(content) ? undefined : `"${withoutNeedlessEscapes(content)}"`;
}

/** Text that gets quotes loses the escapes that it does not need in them: `a\;b` becomes `a;b` (RFC 1035 §5.1). */
const withoutNeedlessEscapes = (content: string): string =>
  content.replace(/\\(\d{3}|[^])/g, (written, escaped: string) => {
    const character = escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped;
    if (escaped.length === 1 && /[0-9]/.test(escaped)) return written;
    if (character === '"' || character === "\\") return `\\${character}`;
    return /^[ -~]$/.test(character) || escaped.length === 1 ? character : written;
  });

/** How unquoted TXT content is stored: with the quotes that SPEC 2.2 adds, or as sent. */
export type TxtContent = "quoted" | "as_sent";

/** `text` is for the wire, `shown` for responses; undefined if quotes are inconsistent. */
export function readText(content: string, form: TxtContent): { readonly text: string; readonly shown: string } | undefined {
  const text = quoteText(content);
  return text === undefined ? undefined : { text, shown: form === "as_sent" ? content : text };
}

function hasBareQuote(content: string): boolean {
  for (let i = 0; i < content.length; i++) {
    if (content[i] === "\\") i++;
    else if (content[i] === '"') return true;
  }
  return false;
}

/** A final backslash would escape the closing quote. */
const endsInEscape = (content: string): boolean => (content.length - withoutEnd(content, "\\").length) % 2 === 1;

/**
 * Content as filters compare it: without quotes, adjacent strings joined, white space as one space, no final dot, lower
 * case. Clients search TXT with and without quotes, and structured content with tabs (contract.md §3).
 */
export const contentKey = (content: string): string => contentPart(content).trim().replace(/\.$/, "");

/** A part of content in the same form, but with a trailing dot or space, since it may continue. */
export const contentPart = (part: string): string => part.replace(/"\s*"/g, "").replaceAll('"', "").replace(/\s+/g, " ").toLowerCase();

/** The strings of a record's content. Matches any text, so that no position is scanned twice. */
// linear: pumped
const STRINGS = /"((?:[^"\\]|\\[^]?)*)"?|[^"]+/g;

/** The text of a record: its strings without quotes and escapes (RFC 1035 §5.1), one char per `\ddd`. */
export function joinedText(content: string): string {
  return Array.from((quoteText(content) ?? content).matchAll(STRINGS), ([, quoted = ""]) =>
    quoted.replace(/\\(\d{3}|[^])/g, (_, escaped: string) => (escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped)),
  ).join("");
}
