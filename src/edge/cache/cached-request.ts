import type { Exchange } from "#edge/exchange/exchange.ts";
import type { FieldChange } from "#rules/field-change.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import { customKeyParts } from "#edge/cache/key/custom-key.ts";
import { hasCachedExtension } from "#edge/cache/policy/extensions.ts";
import { cachedQuery, primaryKey } from "#edge/cache/key/primary-key.ts";
import { type RequestFacts, requestFacts } from "#edge/cache/key/request-facts.ts";
import type { Asked } from "#edge/cache/store/stored-response.ts";

/** A request that the cache may answer. */
export interface CachedRequest {
  readonly asked: Asked;
  readonly facts: RequestFacts;
  /** What of the visitor's fields the origin sees otherwise, because of the key. */
  readonly changes: readonly FieldChange[];
}

/** Longer ones are not worth their place. */
const KEY_LENGTH_MAX = 8_192;

/** What the cache makes of a request before it looks for a response; a status where it is none of its business. */
export function cachedRequest(exchange: Exchange, hasBody: boolean): CachedRequest | CacheStatus {
  const { zone, method, cacheRule: rule } = exchange;
  if (zone === null || (method !== "GET" && method !== "HEAD")) return "DYNAMIC";
  if (rule?.cache === false) return "BYPASS";
  if (rule?.cache !== true && !hasCachedExtension(exchange.path)) return "DYNAMIC";
  // A name that is not proxied any more is not served, whatever was kept of it.
  if (exchange.customHostname === null && !zone.names.addressRecords(exchange.host).some(({ proxied }) => proxied)) return "DYNAMIC";
  const { settings } = exchange;
  // What a body says is not part of the key.
  if (hasBody || exchange.at_ms < settings.development_mode_until_ms) return "BYPASS";
  const query = cachedQuery(exchange.query, settings, rule?.cache_key);
  if (query === null) return "BYPASS";
  const ruledKey = rule?.cache_key;
  const { apart: custom, device, changes } = customKeyParts(exchange, ruledKey);
  const facts = requestFacts(exchange, ruledKey?.custom_key?.header?.exclude_origin === true);
  const apart = [originPart(exchange), facts.keyed, custom].filter((part) => part !== "").join("\n");
  const key = primaryKey(zone.entry.id, exchange, query);
  if (facts.hasPreconditions || key.length + apart.length > KEY_LENGTH_MAX) return "BYPASS";
  exchange.deviceType = device;
  const { scheme, host, authority, path } = exchange;
  const port = authority.length === host.length ? null : Number(authority.slice(host.length + 1));
  const asked = { zoneId: zone.entry.id, key, apart, scheme, host, port, path, query, purges: 0 };
  return { asked: ruledKey?.custom_key?.query_string === undefined ? asked : { ...asked, isQueryRuled: true }, facts, changes };
}

/** Where origin rules send it; empty where they say nothing. */
const originPart = ({ originHost, originPort, hostHeader }: Exchange): string =>
  originHost !== "" || originPort !== 0 || hostHeader !== "" ? `${originHost}:${originPort} ${hostHeader}` : "";
