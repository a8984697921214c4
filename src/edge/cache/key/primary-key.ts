import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import type { CacheKeyRule, CustomKey } from "#edge/exchange/cache-decision.ts";

/** What of a request names what it asks for. */
export interface KeyedRequest {
  readonly scheme: string;
  /** `host[:port]`, canonical. */
  readonly authority: string;
  readonly path: string;
}

const PARAMETERS_MAX = 1_000;

/**
 * The key of what a request asks for, with the query as `keyedQuery` gives it. The path stands as it came: an origin may tell
 * `/a%2Fb` from `/a/b`.
 */
export function primaryKey(zoneId: string, { scheme, authority, path }: KeyedRequest, query: string): string {
  const base = `${zoneId} ${scheme}://${authority}${path}`;
  return query === "" ? base : `${base}?${query}`;
}

/** The query as it is told apart from others, by a rule before the zone's own level; null where nothing that has one is kept. */
export function cachedQuery(query: string, settings: EdgeSettings, rule: CacheKeyRule | undefined): string | null {
  const ruled = rule?.custom_key?.query_string;
  const kept = ruled === undefined ? keyedQuery(query, settings) : ruledQuery(query, ruled);
  return kept !== null && rule?.ignore_query_strings_order === true ? sortedQuery(kept) : kept;
}

/** Names are compared as they came: what is left out of the key does not reach the origin either. */
function ruledQuery(query: string, { include, exclude }: NonNullable<CustomKey["query_string"]>): string {
  if (query === "" || exclude?.all === true) return "";
  if (include?.all === true) return query;
  const names = new Set(include?.list ?? exclude?.list);
  const parameters = query.split("&").filter((parameter) => names.has(parameter.split("=", 1)[0]!) === (include !== undefined));
  return parameters.join("&");
}

/** The query as it is told apart from others; null where the level keeps nothing that has one. */
export function keyedQuery(query: string, { cache_level: level, sort_query_string_for_cache: sorted }: EdgeSettings): string | null {
  if (query === "" || level === "simplified") return "";
  if (level === "basic") return null;
  return sorted ? sortedQuery(query) : query;
}

/** By name and value; parameters of one name keep their order, which origins may read as a list. */
export function sortedQuery(query: string): string {
  const parameters = query.split("&");
  if (parameters.length > PARAMETERS_MAX) return query;
  const nameOf = (parameter: string): string => parameter.split("=", 1)[0]!;
  return parameters.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0)).join("&");
}
