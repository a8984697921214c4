import type { UrlNormalization } from "#rules/expression/request/normalize-path.ts";

/**
 * The effect of a zone's settings on its traffic at the edge, every field with a value. Entries contain only the
 * differences from the defaults, because most zones keep most of them.
 */
export interface EdgeSettings {
  /**
   * Protocol to visitors and origins: `off` serves no HTTPS, `flexible` uses plain HTTP to origins, `full` uses TLS to
   * them when the visitor does, and `strict` also verifies their certificate.
   */
  readonly ssl: "off" | "flexible" | "full" | "strict";
  /** Visitors with an older protocol are refused; versions below 1.2 are never supported. */
  readonly min_tls_version: "1.0" | "1.1" | "1.2" | "1.3";
  readonly tls_1_3: boolean;
  readonly http2: boolean;
  readonly websockets: boolean;
  /** Whether responses are compressed with brotli if no rule says otherwise. */
  readonly brotli: boolean;
  /**
   * Masking of visitors' texts by the writer of events: certain findings only, findings of all detectors that are on by
   * default, or none.
   */
  readonly log_masking: "undoubted" | "all" | "off";
  /** Origins receive the visitor's country, if the edge knows it. */
  readonly ip_geolocation: boolean;
  /** Requests over plain HTTP are redirected to the same address over HTTPS. */
  readonly always_use_https: boolean;
  /** Strict-Transport-Security (RFC 6797) and nosniff. */
  readonly security_header: {
    readonly enabled: boolean;
    /** Seconds. */
    readonly max_age: number;
    readonly include_subdomains: boolean;
    readonly preload: boolean;
    readonly nosniff: boolean;
  };
  /** End of the time without cached responses, in milliseconds of the epoch; 0 if the mode is off. */
  readonly development_mode_until_ms: number;
  /** `basic` stores nothing with a query, `simplified` ignores the query, `aggressive` keeps each query apart. */
  readonly cache_level: "basic" | "simplified" | "aggressive";
  /** Seconds that browsers may keep cached responses; 0 leaves the origin's header. */
  readonly browser_cache_ttl: number;
  /** The order of a query's parameters makes no difference to the cache. */
  readonly sort_query_string_for_cache: boolean;
  /** The kinds of bodies in the cache that are sent without white space and comments that mean nothing; null for none. */
  readonly minify: { readonly css: boolean; readonly html: boolean; readonly js: boolean } | null;
  /** A passed challenge counts at every address of the visitor's browser, not only at the one that passed it. */
  readonly privacy_pass: boolean;
  /** Suspicious visitors get pages without the parts between `<!--sse-->` and `<!--/sse-->`. */
  readonly server_side_exclude: boolean;
  /** The label to which mobile devices are sent from the zone's apex and `www`; null if they are not. */
  readonly mobile_redirect: { readonly subdomain: string; readonly strip_uri: boolean } | null;
  /** Whether rules, and origins too, get the normal form of paths. */
  readonly url_normalization: UrlNormalization;
  /** Browsers report what the zone's pages load, connections with or without the path of their URL; null if they do not. */
  readonly page_shield: { readonly connection_paths: boolean } | null;
}

export const EDGE_SETTINGS_DEFAULTS: EdgeSettings = {
  ssl: "flexible",
  min_tls_version: "1.2",
  tls_1_3: true,
  http2: true,
  websockets: true,
  brotli: true,
  log_masking: "undoubted",
  ip_geolocation: true,
  always_use_https: false,
  security_header: { enabled: false, max_age: 0, include_subdomains: false, preload: false, nosniff: false },
  development_mode_until_ms: 0,
  cache_level: "aggressive",
  browser_cache_ttl: 14_400,
  sort_query_string_for_cache: false,
  minify: null,
  privacy_pass: false,
  server_side_exclude: false,
  mobile_redirect: null,
  url_normalization: { scope: "incoming", type: "cloudflare" },
  page_shield: null,
};
