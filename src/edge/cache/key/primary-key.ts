import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import type { CacheKeyRule, CustomKey } from "#edge/exchange/cache-decision.ts";

/** The parts of a request that its key consists of. */
export interface KeyedRequest {
  readonly scheme: string;
  /** `host[:port]`, canonical. */
  readonly authority: string;
  readonly path: string;
}

const PARAMETERS_MAX = 1_000;

/**
 * The cache key of a request, with the query from `keyedQuery`. The path is not normalized: an origin may distinguish
 * `/a%2Fb` from `/a/b`.
 */
export function primaryKey(zoneId: string, { scheme, authority, path }: KeyedRequest, query: string): string {
  const base = `${zoneId} ${scheme}://${authority}${path}`;
  return query === "" ? base : `${base}?${query}`;
}

/** The query as part of the key, by a rule or else by the zone's cache level; null if a request with this query is not cached. */
export function cachedQuery(query: string, settings: EdgeSettings, rule: CacheKeyRule | undefined): string | null {
  const ruled = ruledQueryOf(rule);
  const kept = ruled === undefined ? keyedQuery(query, settings) : ruledQuery(query, ruled);
  return kept !== null && rule?.ignore_query_strings_order === true ? sortedQuery(kept) : kept;
}

/** The rule's part about the query; undefined where it is an empty object or absent. */
export function ruledQueryOf(rule: CacheKeyRule | undefined): CustomKey["query_string"] {
  const ruled = rule?.custom_key?.query_string;
  return ruled?.include === undefined && ruled?.exclude === undefined ? undefined : ruled;
}

/** Compares names as sent. Parameters outside the key do not reach the origin either. */
function ruledQuery(query: string, { include, exclude }: NonNullable<CustomKey["query_string"]>): string {
  if (query === "" || exclude?.all === true) return "";
  if (include?.all === true) return query;
  const names = new Set(include?.list ?? exclude?.list);
  const parameters = query.split("&").filter((parameter) => names.has(parameter.split("=", 1)[0]!) === (include !== undefined));
  return parameters.join("&");
}

/** The query as part of the key; null if the level caches no request with a query. */
export function keyedQuery(query: string, { cache_level: level, sort_query_string_for_cache: sorted }: EdgeSettings): string | null {
  if (query === "" || level === "simplified") return "";
  if (level === "basic") return null;
  return sorted ? sortedQuery(query) : query;
}

/** Sorted by name. Parameters of the same name keep their order, which may matter to the origin. */
export function sortedQuery(query: string): string {
  const parameters = query.split("&");
  if (parameters.length > PARAMETERS_MAX) return query;
  const nameOf = (parameter: string): string => parameter.split("=", 1)[0]!;
  return parameters.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0)).join("&");
}
