import { charge } from "#rules/budget.ts";
import { NAMES, PLAIN_FINGERPRINTS, QUOTED_FINGERPRINTS } from "./fingerprint-shapes.ts";
import type { SqlShape } from "./sql-shapes.ts";
import { readSql, type SqlTokens } from "./sql-tokens.ts";

/** Bytes of a longer value that are tested: statements are shorter in practice, and tokens are few anyway. */
const TEXT_BYTES_MAX = 8192;
const TOKEN_STEPS = 10;

/** A text without any of these cannot be part of a statement. */
export const SQL_PARTS: readonly string[] = [
  ...["'", '"', "(", ")", "=", ";", "@", "#", "--", "/*", "||", "&&"],
  ...["or", "and", "union", "having", "limit", "select", "exec", "waitfor"],
];
/** The same, more exactly. */
const HAS_PART = /['"()=;@#]|--|\/\*|\|\||&&|\b(?:or|and|union|order|having|limit|select|exec|waitfor)\b/i;

/**
 * The name of the form in which a text would become part of an SQL statement that includes it, or null. The text is read
 * as a separate value, and as one that ends a quoted string, as in libinjection; forms are patterns over its tokens
 * rather than a list.
 */
export function detectSql(given: string): string | null {
  if (!HAS_PART.test(given)) return null;
  const text = given.length > TEXT_BYTES_MAX ? given.slice(0, TEXT_BYTES_MAX) : given;
  charge(text.length * TOKEN_STEPS);
  return findPlain(text) ?? findQuoted(text, "'") ?? findQuoted(text, '"');
}

function findPlain(text: string): string | null {
  const tokens = readSql(text, "")!;
  if (tokens.hasConditional && /[UETBF&]/.test(tokens.kinds)) return "conditional comment";
  if (tokens.hasComment && /^.{0,5}[1s]U/.test(tokens.kinds)) return "comment, union";
  if (tokens.kinds.includes("E") && SCHEMA.test(text)) return "query of the schema";
  return firstOf(PLAIN_FINGERPRINTS, tokens);
}

/** The text contains names of tables, as an attacker's query does who does not know the database. */
const SCHEMA = /\bfrom\s{1,20}information_schema\./i;

function findQuoted(text: string, quote: "'" | '"'): string | null {
  if (!text.includes(quote)) return null;
  const tokens = readSql(text, quote);
  if (tokens === null) return null;
  if (/^s\)*;?c$/.test(tokens.kinds) && endsStatement(text, quote, tokens)) return "text, comment";
  const isPath = /^\s*(?:[/%][\w.]{1,38}(?!\s?=)[^\w.]|[/%][\w.]{1,39}$|%u[0-9a-f]{4})/i.test(
    text.slice(text.indexOf(quote) + 1, text.indexOf(quote) + 40),
  );
  return firstOf(QUOTED_FINGERPRINTS, tokens) ?? (isPath ? null : firstOf([NAMES], tokens));
}

/** A comment after a quote ends a statement if the comment is empty, or if only one word precedes the quote. */
function endsStatement(text: string, quote: string, { lastComment }: SqlTokens): boolean {
  return /^[\s+;-]*$/.test(lastComment) || !/\s/.test(text.slice(0, text.indexOf(quote)).trim());
}

const firstOf = (shapes: readonly SqlShape[], { kinds }: SqlTokens): string | null =>
  shapes.find(({ pattern }) => pattern.test(kinds))?.name ?? null;
