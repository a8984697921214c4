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

/** How the cache had to do with a response, in the field's own words. */
export type CacheStatus =
  /** From the cache, fresh. */
  | "HIT"
  /** Not there yet; it may be from now on. */
  | "MISS"
  /** It was there, too old; the origin sent another. */
  | "EXPIRED"
  /** It was there, too old; the origin does not answer as it should. */
  | "STALE"
  /** It was there, too old; a newer one is being fetched. */
  | "UPDATING"
  /** It was there, too old; the origin says that it still is as it was. */
  | "REVALIDATED"
  /** The origin or a setting forbids to keep it. */
  | "BYPASS"
  /** Nothing of the kind that is kept. */
  | "DYNAMIC";
