import type { Exchange } from "#edge/exchange/exchange.ts";
import type { FieldChange } from "#rules/actions/field-change.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import { customKeyParts } from "#edge/cache/key/custom-key.ts";
import { hasCachedExtension } from "#edge/cache/policy/extensions.ts";
import { cachedQuery, primaryKey, ruledQueryOf } from "#edge/cache/key/primary-key.ts";
import { type RequestFacts, requestFacts } from "#edge/cache/key/request-facts.ts";
import type { RequestKey } from "#edge/cache/store/stored-response.ts";

/** A request that the cache may answer. */
export interface CachedRequest {
  readonly asked: RequestKey;
  readonly facts: RequestFacts;
  /** Fields that the origin receives with other values, because of the cache key. */
  readonly changes: readonly FieldChange[];
}

/** A longer key is not cached. */
const KEY_LENGTH_MAX = 8_192;

/** Prepares a request for the cache lookup. Returns a cache status if the cache does not handle it. */
export function cachedRequest(exchange: Exchange, hasBody: boolean): CachedRequest | CacheStatus {
  const { zone, method, cacheRule: rule } = exchange;
  if (zone === null || (method !== "GET" && method !== "HEAD")) return "DYNAMIC";
  if (rule?.cache === false) return "BYPASS";
  if (rule?.cache !== true && !hasCachedExtension(exchange.origin_path)) return "DYNAMIC";
  // A name that is no longer proxied is not served, even if the cache still has responses for it.
  if (exchange.customHostname === null && !zone.names.addressRecords(exchange.host).some(({ proxied }) => proxied)) return "DYNAMIC";
  const { settings } = exchange;
  // The cache key does not include the body.
  if (hasBody || exchange.at_ms < settings.development_mode_until_ms) return "BYPASS";
  const query = cachedQuery(exchange.query, settings, rule?.cache_key);
  if (query === null) return "BYPASS";
  const ruledKey = rule?.cache_key;
  const { apart: custom, device, changes } = customKeyParts(exchange, ruledKey);
  const facts = requestFacts(exchange, ruledKey?.custom_key?.header?.exclude_origin === true);
  const apart = [originPart(exchange), facts.keyed, custom].filter((part) => part !== "").join("\n");
  const { scheme, host, authority, origin_path: path } = exchange;
  const key = primaryKey(zone.entry.id, { scheme, authority, path }, query);
  if (facts.hasPreconditions || key.length + apart.length > KEY_LENGTH_MAX) return "BYPASS";
  exchange.deviceType = device;
  const port = authority.length === host.length ? null : Number(authority.slice(host.length + 1));
  const asked = { zoneId: zone.entry.id, key, apart, scheme, host, port, path, query, purges: 0 };
  return { asked: ruledQueryOf(ruledKey) === undefined ? asked : { ...asked, isQueryRuled: true }, facts, changes };
}

/** The origin override of origin rules, as part of the key; empty without one. */
const originPart = ({ originHost, originPort, hostHeader }: Exchange): string =>
  originHost !== "" || originPort !== 0 || hostHeader !== "" ? `${originHost}:${originPort} ${hostHeader}` : "";
