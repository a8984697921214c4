import { withoutEnd } from "#kernel/trim.ts";

/** One quoted character string; a backslash escapes the next character (RFC 1035 §5.1). */
// linear: pumped
const QUOTED = /^\s*"(?:[^"\\]|\\[^])*"(?:\s*"(?:[^"\\]|\\[^])*")*\s*$/;

/**
 * SPEC 2.2, TXT rules: content is one or more strings in double quotes; content without any quotes gets
 * them; undefined where quotes are inconsistent, for example opened and not closed.
 */
export function quoteText(content: string): string | undefined {
  if (QUOTED.test(content)) return content.trim();
  return hasBareQuote(content) || endsInEscape(content) ? undefined : `"${content}"`;
}

/** How TXT content without quotes is kept: in the quotes that SPEC 2.2 adds, or as the API was sent it. */
export type TxtContent = "quoted" | "as_sent";

/** `text` is for the wire, `shown` for responses; undefined where quotes are inconsistent. */
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

/** A final backslash would escape the quote that is about to be added. */
const endsInEscape = (content: string): boolean => (content.length - withoutEnd(content, "\\").length) % 2 === 1;

/**
 * The form in which filters compare content: quotes gone, neighbouring strings joined, white space as one
 * space, no final dot, lower case. Clients search TXT with and without quotes, and structured content
 * with tabs (contract.md §3).
 */
export const contentKey = (content: string): string => contentPart(content).trim().replace(/\.$/, "");

/** A part of content in the same form: where it does not reach the end, its last dot and space count. */
export const contentPart = (part: string): string => part.replace(/"\s*"/g, "").replaceAll('"', "").replace(/\s+/g, " ").toLowerCase();

/** Strings of a record's content, joined. Covers any text, so that no place of it is looked at twice. */
// linear: pumped
const STRINGS = /"((?:[^"\\]|\\[^]?)*)"?|[^"]+/g;

/** What the record says: its strings without quotes and escapes (RFC 1035 §5.1), one char for each `\ddd`. */
export function joinedText(content: string): string {
  return Array.from((quoteText(content) ?? content).matchAll(STRINGS), ([, quoted = ""]) =>
    quoted.replace(/\\(\d{3}|[^])/g, (_, escaped: string) => (escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped)),
  ).join("");
}
