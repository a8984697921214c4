import type { Exchange } from "#edge/exchange/exchange.ts";
import { cachedQuery, primaryKey } from "./primary-key.ts";
import { type ResponseField, valuesOf } from "#edge/cache/policy/response-fields.ts";

/**
 * Keys that a successful unsafe request invalidates: its target, and the Location and Content-Location of the same
 * origin (RFC 9111 §4.4).
 */
export function changedKeys(exchange: Exchange, fields: readonly ResponseField[]): readonly string[] {
  const { zone, scheme, authority } = exchange;
  if (zone === null) return [];
  const base = `${scheme}://${authority}`;
  const keys = new Set<string>();
  const add = (path: string, query: string): void => {
    const keyed = cachedQuery(query, zone.settings, exchange.cacheRule?.cache_key);
    if (keyed !== null) keys.add(primaryKey(zone.entry.id, { scheme, authority, path }, keyed));
  };
  add(exchange.origin_path, exchange.query);
  for (const named of [...valuesOf(fields, "location"), ...valuesOf(fields, "content-location")]) {
    const url = URL.parse(named, `${base}${exchange.originForm}`);
    // Only the same origin: otherwise a site could invalidate another site's responses.
    if (url !== null && url.origin === URL.parse(base)?.origin) add(url.pathname, url.search.slice(1));
  }
  return [...keys];
}
