/**
 * The parameters that rules of `http_request_cache_settings` set for a request, already validated; if several rules set
 * a parameter, the last one wins.
 */
export interface CacheRule {
  readonly cache?: boolean;
  readonly edge_ttl?: EdgeTtl;
  readonly browser_ttl?: { readonly mode: BrowserMode; readonly default?: number };
  readonly cache_key?: CacheKeyRule;
  readonly serve_stale?: { readonly disable_stale_while_updating?: boolean };
  readonly respect_strong_etags?: boolean;
  readonly origin_error_page_passthru?: boolean;
  /** Seconds that the edge waits between two reads from the origin. */
  readonly read_timeout?: number;
  readonly strip_etags?: boolean;
  readonly strip_last_modified?: boolean;
  readonly strip_set_cookie?: boolean;
}

export type BrowserMode = "respect_origin" | "bypass_by_default" | "override_origin" | "bypass";

export interface EdgeTtl {
  readonly mode: "respect_origin" | "bypass_by_default" | "override_origin";
  readonly default?: number;
  readonly status_code_ttl?: readonly StatusTtl[];
}

export interface StatusTtl {
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

/** How the cache took part in a response, with the usual names of CDNs. */
export type CacheStatus =
  /** From the cache, fresh. */
  | "HIT"
  /** Not in the cache; the response may be stored. */
  | "MISS"
  /** The stored response was too old; the origin sent a new one. */
  | "EXPIRED"
  /** The stored response is too old, but the origin failed. */
  | "STALE"
  /** The stored response is too old; the edge is fetching a new one. */
  | "UPDATING"
  /** The stored response was too old; the origin confirmed it with 304. */
  | "REVALIDATED"
  /** The origin or a setting forbids caching. */
  | "BYPASS"
  /** The kind of response is not cached. */
  | "DYNAMIC";
