import type { Exchange } from "#edge/exchange.ts";
import type { CacheStatus } from "./cache-status.ts";
import { hasCachedExtension } from "./extensions.ts";
import { keyedQuery, primaryKey } from "./primary-key.ts";
import { type RequestFacts, requestFacts } from "./request-facts.ts";
import type { Asked } from "./stored-response.ts";

/** A request that the cache may answer. */
export interface CachedRequest {
  readonly asked: Asked;
  readonly facts: RequestFacts;
}

/** Longer ones are not worth their place. */
const KEY_LENGTH_MAX = 8_192;

/** What the cache makes of a request before it looks for a response; a status where it is none of its business. */
export function cachedRequest(exchange: Exchange, hasBody: boolean): CachedRequest | CacheStatus {
  const { zone, method } = exchange;
  if (zone === null || (method !== "GET" && method !== "HEAD") || !hasCachedExtension(exchange.path)) return "DYNAMIC";
  // A name that is not proxied any more is not served, whatever was kept of it.
  if (!zone.names.addressRecords(exchange.host).some(({ proxied }) => proxied)) return "DYNAMIC";
  const { settings } = exchange;
  // What a body says is not part of the key.
  if (hasBody || exchange.at_ms < settings.development_mode_until_ms) return "BYPASS";
  const query = keyedQuery(exchange.query, settings);
  if (query === null) return "BYPASS";
  const facts = requestFacts(exchange);
  const { originHost, originPort, hostHeader } = exchange;
  const overridden = originHost !== "" || originPort !== 0 || hostHeader !== "";
  const apart = overridden ? `${originHost}:${originPort} ${hostHeader}\n${facts.keyed}` : facts.keyed;
  const key = primaryKey(zone.entry.id, exchange, query);
  if (facts.hasPreconditions || key.length + apart.length > KEY_LENGTH_MAX) return "BYPASS";
  const { scheme, host, authority, path } = exchange;
  const port = authority.length === host.length ? null : Number(authority.slice(host.length + 1));
  return { asked: { zoneId: zone.entry.id, key, apart, scheme, host, port, path, query, purges: 0 }, facts };
}
