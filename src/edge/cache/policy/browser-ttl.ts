import { parseCacheControl } from "#wire/http/cache-control.ts";
import { parseHttpDate } from "#wire/http/http-date.ts";
import { listMembers } from "#wire/http/list-members.ts";
import type { BrowserTtl } from "./cache-rule.ts";
import { type ResponseField, singleValue, valuesOf } from "./response-fields.ts";

/**
 * The fields of a cached response with the zone's or rule's browser TTL in Cache-Control. Error responses stay
 * unchanged. If the setting can only raise the TTL, responses that require revalidation stay unchanged too.
 */
export function withBrowserTtl(status: number, fields: readonly ResponseField[], { mode, seconds }: BrowserTtl): readonly ResponseField[] {
  if (mode === "bypass") return replaced(fields, "no-store");
  const lines = valuesOf(fields, "cache-control");
  if (mode === "bypass_by_default")
    return lines.length > 0 || fields.some(({ key }) => key === "expires") ? fields : replaced(fields, "no-store");
  if (status >= 400) return fields;
  if (mode === "exactly") return replaced(fields, lasting(lines, FORBIDDING, seconds));
  if (seconds === 0) return fields;
  const { noStore, noCache, isPrivate, maxAge } = parseCacheControl(lines);
  if (noStore || noCache || isPrivate || (maxAge ?? expiresSeconds(fields)) >= seconds) return fields;
  return replaced(fields, lasting(lines, /^max-age(?:\s*=|$)/i, seconds));
}

/** Directives that an explicit TTL replaces. */
const FORBIDDING = /^(?:max-age|no-cache|no-store|private|must-revalidate)(?:\s*=|$)/i;

const CLOSED = /^[^"]*(?:"(?:[^"\\]|\\[^])*"[^"]*)*$/;

/** Keeps the other directives and adds max-age. Puts it before an unclosed quoted string, behind which no parser would find it. */
function lasting(lines: readonly string[], without: RegExp, seconds: number): string {
  const kept = lines.flatMap(listMembers).filter((directive) => !without.test(directive));
  const open = kept.findIndex((directive) => !CLOSED.test(directive));
  return kept.toSpliced(open < 0 ? kept.length : open, 0, `max-age=${seconds}`).join(", ");
}

function replaced(fields: readonly ResponseField[], value: string): readonly ResponseField[] {
  const kept = fields.filter(({ key }) => key !== "cache-control" && key !== "expires");
  return [...kept, { name: "Cache-Control", key: "cache-control", value }];
}

function expiresSeconds(fields: readonly ResponseField[]): number {
  const dateMs = parseHttpDate(singleValue(fields, "date") ?? "", 0);
  const expiresMs = parseHttpDate(singleValue(fields, "expires") ?? "", 0);
  return dateMs === null || expiresMs === null ? 0 : (expiresMs - dateMs) / 1000;
}
