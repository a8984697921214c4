import type { ZoneSetting } from "#model/zones/zone-settings.ts";

export interface SettingRow {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  /** Values with their names; a switch without them. */
  readonly options?: readonly (readonly [value: string, name: string])[];
  readonly shown?: (value: ZoneSetting["value"]) => string;
  readonly sent?: (text: string) => unknown;
}

const PERIODS = [
  ["300", "5 minutes"],
  ["14400", "4 hours"],
  ["86400", "a day"],
  ["2592000", "30 days"],
  ["15552000", "180 days"],
  ["31536000", "a year"],
] as const;

interface Transport {
  readonly strict_transport_security?: { readonly enabled?: boolean; readonly max_age?: number };
}

const periodOf = (value: ZoneSetting["value"]): string => {
  const { enabled, max_age } = (value as Transport).strict_transport_security ?? {};
  return enabled === true ? String(max_age ?? 0) : "off";
};

export const SETTING_GROUPS: readonly { readonly title: string; readonly rows: readonly SettingRow[] }[] = [
  {
    title: "HTTPS",
    rows: [
      {
        id: "ssl",
        title: "Encryption",
        hint: "How visitors reach the edge, and the edge your origin.",
        options: [
          ["off", "Off: visitors are sent to plain HTTP"],
          ["flexible", "Flexible: plain HTTP to the origin"],
          ["full", "Full: TLS to the origin, with any certificate"],
          ["strict", "Strict: TLS to the origin, with a valid certificate"],
        ],
      },
      { id: "always_use_https", title: "Always use HTTPS", hint: "Plain HTTP is redirected to the same address over HTTPS." },
      {
        id: "min_tls_version",
        title: "Oldest TLS version",
        hint: "Visitors with an older one are refused.",
        options: [
          ["1.2", "TLS 1.2"],
          ["1.3", "TLS 1.3"],
        ],
      },
      { id: "tls_1_3", title: "TLS 1.3", hint: "Off: TLS 1.2 for all visitors." },
      {
        id: "security_header",
        title: "HSTS",
        hint: "Browsers use HTTPS alone for this time, even after you turn it off. Begin with minutes.",
        options: [["off", "off"], ...PERIODS],
        shown: periodOf,
        sent: (text) => ({
          strict_transport_security: text === "off" ? { enabled: false } : { enabled: true, max_age: Number(text) },
        }),
      },
    ],
  },
  {
    title: "Cache",
    rows: [
      {
        id: "cache_level",
        title: "Query strings",
        hint: "Whether two queries are two responses in the cache.",
        options: [
          ["aggressive", "each query is cached separately"],
          ["simplified", "the query is ignored"],
          ["basic", "nothing with a query is cached"],
        ],
      },
      { id: "sort_query_string_for_cache", title: "Sort query strings", hint: "The cache ignores the order of parameters." },
      {
        id: "browser_cache_ttl",
        title: "Time in browsers",
        hint: "How long browsers may keep what the cache sends.",
        options: [["0", "as the origin says"], ...PERIODS],
        sent: Number,
      },
      { id: "development_mode", title: "Development mode", hint: "The cache is bypassed for three hours." },
    ],
  },
  {
    title: "Connections and logs",
    rows: [
      { id: "http2", title: "HTTP/2", hint: "Off: HTTP/1.1 for all visitors." },
      { id: "websockets", title: "WebSockets", hint: "Off: they are refused with 403." },
      { id: "ip_geolocation", title: "Country of the visitor", hint: "Origins get it in a header field, where a GeoIP database has it." },
      {
        id: "log_masking",
        title: "Sensitive texts in logs",
        hint: "Parts of paths and queries that are masked in requests and events.",
        options: [
          ["undoubted", "masked where it is certain"],
          ["all", "all are masked"],
          ["off", "kept as they are"],
        ],
      },
    ],
  },
];
