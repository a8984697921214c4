import type { Exchange } from "#edge/exchange/exchange.ts";

/** What rules of `http_request_cache_settings` chose for a request, as the rules' own shapes let it through: each parameter by the last rule that names it. */
export interface CacheRule {
  readonly cache?: boolean;
  readonly edge_ttl?: EdgeTtl;
  readonly browser_ttl?: { readonly mode: BrowserMode; readonly default?: number };
  readonly cache_key?: CacheKeyRule;
  readonly serve_stale?: { readonly disable_stale_while_updating?: boolean };
  readonly respect_strong_etags?: boolean;
  readonly origin_error_page_passthru?: boolean;
  /** Seconds between two reads from the origin. */
  readonly read_timeout?: number;
  readonly strip_etags?: boolean;
  readonly strip_last_modified?: boolean;
  readonly strip_set_cookie?: boolean;
}

type BrowserMode = "respect_origin" | "bypass_by_default" | "override_origin" | "bypass";

interface EdgeTtl {
  readonly mode: "respect_origin" | "bypass_by_default" | "override_origin";
  readonly default?: number;
  readonly status_code_ttl?: readonly StatusTtl[];
}

interface StatusTtl {
  readonly status_code?: number;
  readonly status_code_range?: { readonly from?: number; readonly to?: number };
  readonly value: number;
}

export interface CacheKeyRule {
  readonly custom_key?: CustomKey;
  readonly ignore_query_strings_order?: boolean;
  readonly cache_by_device_type?: boolean;
  readonly cache_deception_armor?: boolean;
}

export interface CustomKey {
  readonly query_string?: { readonly include?: AllOrList; readonly exclude?: AllOrList };
  readonly header?: {
    readonly include?: readonly string[];
    readonly check_presence?: readonly string[];
    readonly contains?: Readonly<Record<string, readonly string[]>>;
    readonly exclude_origin?: boolean;
  };
  readonly cookie?: { readonly include?: readonly string[]; readonly check_presence?: readonly string[] };
  readonly user?: { readonly device_type?: boolean; readonly geo?: boolean; readonly lang?: boolean };
}

export interface AllOrList {
  readonly all?: true;
  readonly list?: readonly string[];
}

/** Seconds that a rule gives a response of this status, whatever the origin says; -1 keeps it from being stored, and null leaves it to the origin. */
export function ruledSeconds(rule: CacheRule | null, status: number): number | null {
  const ttl = rule?.edge_ttl;
  if (ttl === undefined) return null;
  const row = ttl.status_code_ttl?.find((one) => covers(one, status));
  if (row !== undefined) return row.value;
  return ttl.mode === "override_origin" ? (ttl.default ?? null) : null;
}

const covers = ({ status_code: code, status_code_range: range }: StatusTtl, status: number): boolean =>
  code === undefined ? range !== undefined && status >= (range.from ?? 100) && status <= (range.to ?? 999) : code === status;

/** What a browser is told of how long it may keep what came through the cache. */
export interface BrowserTtl {
  /** `at_least`: where the origin allows less. `bypass_by_default`: not at all where the origin says nothing. */
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
