/** How DNS analytics name what questions can be counted by and filtered on; times are cut to whole intervals (UTC). */
export const DNS_DIMENSIONS = {
  queryName: { column: "query_name", kind: "text" },
  queryType: { column: "query_type", kind: "text" },
  responseCode: { column: "response_code", kind: "text" },
  protocol: { column: "protocol", kind: "text" },
  sourceIP: { column: "source_ip", kind: "text" },
  ipVersion: { column: "ip_version", kind: "integer" },
  datetime: { column: "at_ms", kind: "time", intervalMs: 1_000 },
  datetimeMinute: { column: "at_ms", kind: "time", intervalMs: 60_000 },
  datetimeFiveMinutes: { column: "at_ms", kind: "time", intervalMs: 300_000 },
  datetimeFifteenMinutes: { column: "at_ms", kind: "time", intervalMs: 900_000 },
  datetimeHour: { column: "at_ms", kind: "time", intervalMs: 3_600_000 },
  date: { column: "at_ms", kind: "date", intervalMs: 86_400_000 },
} as const satisfies Readonly<Record<string, DnsDimension>>;

export interface DnsDimension {
  /** Of the row in the events database. */
  readonly column: string;
  readonly kind: "text" | "integer" | "time" | "date";
  readonly intervalMs?: number;
}

export type DnsDimensionName = keyof typeof DNS_DIMENSIONS;
export const DNS_DIMENSION_NAMES = Object.keys(DNS_DIMENSIONS) as readonly DnsDimensionName[];

/** Comparisons that filters may end with; a time is compared only, a text also listed. */
export const DNS_FILTER_OPERATORS = {
  text: { "": "eq", _neq: "ne", _in: "in" },
  integer: { "": "eq", _neq: "ne", _in: "in" },
  time: { _geq: "ge", _gt: "gt", _leq: "le", _lt: "lt" },
  date: { _geq: "ge", _gt: "gt", _leq: "le", _lt: "lt" },
} as const;

export type DnsFilterOperator = "eq" | "ne" | "in" | "ge" | "gt" | "le" | "lt";

export interface DnsFilter {
  readonly dimension: DnsDimensionName;
  readonly operator: DnsFilterOperator;
  /** Times as Unix milliseconds. */
  readonly value: string | number | readonly (string | number)[];
}

export interface DnsAnalyticsQuery {
  readonly filters: readonly DnsFilter[];
  readonly dimensions: readonly DnsDimensionName[];
  readonly order: readonly { readonly by: DnsDimensionName | "count"; readonly direction: "asc" | "desc" }[];
  readonly limit: number;
}

/** Questions that are alike in the dimensions asked for. */
export interface DnsAnalyticsGroup {
  readonly count: number;
  /** Times in ISO 8601, dates as YYYY-MM-DD. */
  readonly dimensions: Readonly<Partial<Record<DnsDimensionName, string | number>>>;
  readonly sum: { readonly queryBytes: number; readonly responseBytes: number };
}

export const DNS_GROUPS_MAX = 10_000;
