import { parseCacheControl } from "#wire/http/cache-control.ts";
import { parseHttpDate } from "#wire/http/http-date.ts";
import { type ResponseField, singleValue, valuesOf } from "./response-fields.ts";

/**
 * The fields of a cached response with the zone's own time for browsers in them, where that is longer than the origin's. What
 * the origin wants to be asked about first, and answers that say that something is not there, stay as they are.
 */
export function withBrowserTtl(status: number, fields: readonly ResponseField[], ttlSeconds: number): readonly ResponseField[] {
  if (ttlSeconds === 0 || status >= 400) return fields;
  const lines = valuesOf(fields, "cache-control");
  const { noStore, noCache, isPrivate, maxAge } = parseCacheControl(lines);
  if (noStore || noCache || isPrivate || (maxAge ?? expiresSeconds(fields)) >= ttlSeconds) return fields;
  const others = lines
    .flatMap((line) => line.match(/[^",]*(?:"(?:[^"\\]|\\.)*"[^",]*)*/g) ?? [])
    .map((directive) => directive.trim())
    .filter((directive) => directive !== "" && !/^max-age(?:\s*=|$)/i.test(directive));
  const kept = fields.filter(({ key }) => key !== "cache-control" && key !== "expires");
  return [...kept, { name: "Cache-Control", key: "cache-control", value: [...others, `max-age=${ttlSeconds}`].join(", ") }];
}

function expiresSeconds(fields: readonly ResponseField[]): number {
  const dateMs = parseHttpDate(singleValue(fields, "date") ?? "", 0);
  const expiresMs = parseHttpDate(singleValue(fields, "expires") ?? "", 0);
  return dateMs === null || expiresMs === null ? 0 : (expiresMs - dateMs) / 1000;
}
