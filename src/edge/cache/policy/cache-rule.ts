import type { CacheRule, StatusTtl } from "#edge/exchange/cache-decision.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

/** TTL in seconds that a rule sets for a status, regardless of the origin; -1 forbids storing, null leaves it to the origin. */
export function ruledSeconds(rule: CacheRule | null, status: number): number | null {
  const ttl = rule?.edge_ttl;
  if (ttl === undefined) return null;
  const row = ttl.status_code_ttl?.find((one) => covers(one, status));
  if (row !== undefined) return row.value;
  return ttl.mode === "override_origin" ? (ttl.default ?? null) : null;
}

const covers = ({ status_code: code, status_code_range: range }: StatusTtl, status: number): boolean =>
  code === undefined ? range !== undefined && status >= (range.from ?? 100) && status <= (range.to ?? 999) : code === status;

/** How long browsers may keep a response that came through the cache. */
export interface BrowserTtl {
  /** `at_least`: raises a lower TTL of the origin. `bypass_by_default`: no caching unless the origin sets a TTL. */
  readonly mode: "at_least" | "exactly" | "bypass" | "bypass_by_default";
  readonly seconds: number;
}

const ORIGINS_WORD: BrowserTtl = { mode: "at_least", seconds: 0 };
const BYPASS: BrowserTtl = { mode: "bypass", seconds: 0 };
const BYPASS_BY_DEFAULT: BrowserTtl = { mode: "bypass_by_default", seconds: 0 };

export function browserTtlOf({ zone, settings, cacheRule }: Exchange): BrowserTtl {
  if (zone === null) return ORIGINS_WORD;
  const ruled = cacheRule?.browser_ttl;
  if (ruled === undefined) return { mode: "at_least", seconds: settings.browser_cache_ttl };
  if (ruled.mode === "respect_origin") return ORIGINS_WORD;
  if (ruled.mode === "bypass") return BYPASS;
  return ruled.mode === "bypass_by_default" ? BYPASS_BY_DEFAULT : { mode: "exactly", seconds: ruled.default ?? 0 };
}
