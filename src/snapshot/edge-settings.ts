/**
 * What a zone's settings make of its traffic at the edge, every field with a value. Entries carry only what differs
 * from the defaults, since most zones keep most of them.
 */
export interface EdgeSettings {
  /**
   * How visitors and origins are spoken to: `off` serves no HTTPS, `flexible` speaks plain HTTP to origins, `full` speaks
   * TLS to them when the visitor does, and `strict` verifies their certificate as well.
   */
  readonly ssl: "off" | "flexible" | "full" | "strict";
  /** Visitors with an older protocol are refused; nothing below 1.2 is spoken in any case. */
  readonly min_tls_version: "1.0" | "1.1" | "1.2" | "1.3";
  readonly tls_1_3: boolean;
  readonly http2: boolean;
  readonly websockets: boolean;
  /** Whether responses are compressed with brotli where no rule names it. */
  readonly brotli: boolean;
  /** What of visitors' texts the writer of events masks: what leaves no doubt, what all detectors find that are on by default, or nothing. */
  readonly log_masking: "undoubted" | "all" | "off";
  /** Origins are told the visitor's country, where the edge knows it. */
  readonly ip_geolocation: boolean;
  /** Requests over plain HTTP are sent to the same address over HTTPS. */
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
  /** Until when nothing comes from the cache, in milliseconds of the epoch; 0 where the mode is off. */
  readonly development_mode_until_ms: number;
  /** `basic` stores nothing with a query, `simplified` ignores the query, `aggressive` keeps each query apart. */
  readonly cache_level: "basic" | "simplified" | "aggressive";
  /** Seconds that browsers may keep what came from the cache; 0 leaves the origin's own word. */
  readonly browser_cache_ttl: number;
  /** The order of a query's parameters makes no difference to the cache. */
  readonly sort_query_string_for_cache: boolean;
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
};
