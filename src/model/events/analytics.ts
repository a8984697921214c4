import type { PermissionGroupName } from "#model/access/permission-groups.ts";
import { EVENT_SERVICES, EVENT_SOURCES } from "#rules/services.ts";

/**
 * A field of a dataset that can be selected, grouped and filtered by. Times are rounded down to whole intervals (UTC);
 * `negated` inverts a stored 0 or 1.
 */
export type AnalyticsField = StoredField | ConstantField | UnknownField | EntriesField | MemberField | ListField;

export interface StoredField {
  /** Column of the row in the events database. */
  readonly column: string;
  readonly kind: "text" | "integer" | "boolean" | "negated" | "time" | "date";
  readonly intervalMs?: number;
  /** Stored in upper case; shown and filtered in lower case. */
  readonly isLowerCase?: boolean;
  /** The value that clients see instead of an empty text. */
  readonly emptyAs?: string;
  /** Other names that filters may give for values, ignoring case: each stands for these values of columns, null for no row. */
  readonly aliases?: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
  /** Values that rows have, which are no aliases in this case. */
  readonly stored?: readonly string[];
  /** A row also has the values of this member, in the objects of a stored list: comparisons with `=` and `in` find these too. */
  readonly alsoIn?: ListMember;
}

/** A member of the objects in a stored list (JSON as written by JSON.stringify). */
export interface ListMember {
  readonly of: string;
  readonly member: string;
}

/** The values of a member: available in filters only, which find rows with one of them. */
export interface MemberField extends ListMember {
  readonly kind: "member";
}

/** A stored list of objects, which only rows have: the member of each by the name in analytics. */
export interface ListField {
  readonly kind: "list";
  readonly of: string;
  readonly members: Readonly<Record<string, string>>;
}

/** The same value for every row: clients request the field, but rows do not differ in it here. */
export interface ConstantField {
  readonly kind: "constant";
  readonly value: string | number;
}

/**
 * A field that clients request but that has no data here: null in every row; cannot be filtered or sorted by. `entries`
 * makes it a list of objects, which only rows have.
 */
export interface UnknownField {
  readonly kind: "unknown";
  readonly entries?: readonly string[];
}

/** Names or values of a stored object (JSON as written by JSON.stringify): available in filters only. */
export interface EntriesField {
  readonly kind: "keys" | "values";
  readonly of: string;
}

/** Rows of one kind, and the names of their fields in analytics. */
export interface AnalyticsDataset {
  /** Prefix of the names of the dataset's types. */
  readonly type: string;
  /** Null if such rows never exist here, so that the result is always empty. */
  readonly table: "security_events" | "requests" | "dns_queries" | "gateway_logs" | null;
  readonly description: string;
  readonly fields: Readonly<Record<string, AnalyticsField>>;
  /** Columns by the names of their sums; the same for averages and percentiles. */
  readonly sums: Readonly<Record<string, string>>;
  readonly averages: Readonly<Record<string, string>>;
  readonly quantiles: Readonly<Record<string, string>>;
  readonly uniques: Readonly<Record<string, string>>;
  /** A row stands for several events, with a weight that counts do not include. */
  readonly isWeighted?: boolean;
  /** Measures that clients request but that are not measured here: always null. */
  readonly unmeasured?: Readonly<Partial<Record<"sum" | "avg" | "quantiles", readonly string[]>>>;
  /** Each of these permits a token to read the data of a zone, or of an account. */
  readonly zonePermissions: readonly PermissionGroupName[];
  readonly accountPermissions: readonly PermissionGroupName[];
}

const TIMES = {
  datetime: { column: "at_ms", kind: "time", intervalMs: 1_000 },
  datetimeMinute: { column: "at_ms", kind: "time", intervalMs: 60_000 },
  datetimeFiveMinutes: { column: "at_ms", kind: "time", intervalMs: 300_000 },
  datetimeFifteenMinutes: { column: "at_ms", kind: "time", intervalMs: 900_000 },
  datetimeHalfOfHour: { column: "at_ms", kind: "time", intervalMs: 1_800_000 },
  datetimeHour: { column: "at_ms", kind: "time", intervalMs: 3_600_000 },
  datetimeSixHours: { column: "at_ms", kind: "time", intervalMs: 21_600_000 },
  datetimeDay: { column: "at_ms", kind: "time", intervalMs: 86_400_000 },
  date: { column: "at_ms", kind: "date", intervalMs: 86_400_000 },
} as const satisfies Readonly<Record<string, AnalyticsField>>;

const unknown: AnalyticsField = { kind: "unknown" };
const constant = (value: string | number): AnalyticsField => ({ kind: "constant", value });
/** Several unknown fields at once. */
const unknowns = <N extends string>(...names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, unknown])) as Record<N, AnalyticsField>;
const text = (column: string): AnalyticsField => ({ column, kind: "text" });
const integer = (column: string): AnalyticsField => ({ column, kind: "integer" });

const REQUEST_FIELDS = {
  clientIP: text("client_ip"),
  clientCountryName: text("country"),
  // The networks of addresses are not known here.
  clientAsn: constant(""),
  clientASNDescription: constant(""),
  clientRequestHTTPHost: text("host"),
  clientRequestHTTPMethodName: text("method"),
  clientRequestPath: text("path"),
  clientRequestQuery: text("query"),
  clientRequestScheme: text("scheme"),
  edgeResponseStatus: integer("status"),
  rayName: text("ray_id"),
  userAgent: text("user_agent"),
  zoneTag: text("zone_id"),
  // Of rows; groups have avg { sampleInterval }.
  sampleInterval: constant(1),
  clientIPClass: constant("noRecord"),
  // Scores that are not computed here, and request fields that rows lack.
  ...unknowns("botScore", "botScoreSrcName", "verifiedBotCategory", "ja3Hash", "ja4", "clientRefererHost"),
  ...unknowns("wafAttackScore", "wafAttackScoreClass", "wafRceAttackScore", "wafSqliAttackScore", "wafXssAttackScore"),
} as const;

const ACCOUNT_READERS: readonly PermissionGroupName[] = ["Account Analytics Read", "Logs Read"];

export const ANALYTICS_DATASETS = {
  firewallEvents: {
    type: "FirewallEvents",
    table: "security_events",
    description: "Security events: one for each rule that logged or acted on a request or response.",
    fields: {
      ...TIMES,
      ...REQUEST_FIELDS,
      action: text("action"),
      source: { column: "service", kind: "text", aliases: EVENT_SOURCES, stored: EVENT_SERVICES },
      phase: text("phase"),
      // An event of several managed rules has the strongest; all of them are among its matches.
      ruleId: { column: "rule_id", kind: "text", alsoIn: { of: "matches", member: "rule_id" } },
      valueHash: { kind: "member", of: "matches", member: "value_hash" },
      matches: {
        kind: "list",
        of: "matches",
        members: {
          ruleId: "rule_id",
          detector: "detector",
          count: "count",
          confidence: "confidence",
          part: "part",
          name: "name",
          jsonPath: "json_path",
          valueHash: "value_hash",
        },
      },
      rulesetId: text("ruleset_id"),
      deployedBy: text("deployed_by"),
      description: text("rule_description"),
      kind: constant("firewall"),
      edgeColoName: constant("local"),
      clientRequestHTTPProtocol: unknown,
      originResponseStatus: unknown,
      matchIndex: unknown,
      ...unknowns("clientRefererPath", "clientRefererQuery", "clientRefererScheme", "httpApplicationVersion", "originatorRayName", "ref"),
      ...unknowns("wafMlAttackScore", "wafMlSqliAttackScore", "wafMlXssAttackScore"),
      metadata: { kind: "unknown", entries: ["key", "value"] },
    },
    sums: {},
    averages: {},
    quantiles: {},
    uniques: { clientIPs: "client_ip", rayNames: "ray_id" },
    zonePermissions: [
      "Analytics Read",
      "Zone WAF Read",
      "Zone WAF Write",
      "Firewall Services Read",
      "Firewall Services Write",
      "Logs Read",
    ],
    accountPermissions: ACCOUNT_READERS,
  },
  httpRequests: {
    type: "HttpRequests",
    table: "requests",
    description: "Requests that the edge answered or that ended before it could.",
    fields: {
      ...TIMES,
      ...REQUEST_FIELDS,
      clientRequestHTTPProtocol: text("http_version"),
      clientSSLProtocol: { column: "tls_version", kind: "text", emptyAs: "none" },
      cacheStatus: { column: "cache_status", kind: "text", isLowerCase: true, emptyAs: "none" },
      edgeResponseContentTypeName: text("content_type"),
      edgeError: text("edge_error"),
      edgeErrorName: text("edge_error_name"),
      originResponseStatus: integer("origin_status"),
      // Requests of visitors; elsewhere requests of code at the edge exist too. An installation counts as one location.
      requestSource: constant("eyeball"),
      coloCode: constant("local"),
      ...unknowns("clientDeviceType", "clientRequestReferer", "userAgentBrowser", "userAgentOS", "upperTierColoName"),
      ...unknowns("securityAction", "securitySource", "originIP", "originASN", "originASNDescription", "zoneVersion"),
      ...unknowns("edgeDnsResponseTimeMs", "edgeTimeToFirstByteMs", "originResponseDurationMs", "httpApplicationVersion"),
    },
    sums: { edgeRequestBytes: "bytes_in", edgeResponseBytes: "bytes_out", edgeDurationMs: "duration_ms" },
    averages: { edgeRequestBytes: "bytes_in", edgeResponseBytes: "bytes_out", edgeDurationMs: "duration_ms" },
    quantiles: { edgeDurationMs: "duration_ms", edgeResponseBytes: "bytes_out" },
    uniques: { clientIPs: "client_ip", rayNames: "ray_id" },
    unmeasured: {
      sum: ["visits", "edgeDnsResponseTimeMs", "edgeTimeToFirstByteMs", "originResponseDurationMs"],
      avg: ["edgeDnsResponseTimeMs", "edgeTimeToFirstByteMs", "originResponseDurationMs"],
      quantiles: ["edgeTimeToFirstByteMs", "originResponseDurationMs"],
    },
    zonePermissions: ["Analytics Read", "Logs Read"],
    accountPermissions: ACCOUNT_READERS,
  },
  dnsAnalytics: {
    type: "DnsAnalytics",
    table: "dns_queries",
    description: "Queries that the nameservers answered.",
    fields: {
      ...TIMES,
      queryName: text("query_name"),
      queryType: text("query_type"),
      responseCode: text("response_code"),
      protocol: text("protocol"),
      sourceIP: text("source_ip"),
      ipVersion: integer("ip_version"),
      querySize: integer("query_bytes"),
      responseSize: integer("response_bytes"),
      sampleInterval: integer("sample_interval"),
      coloName: constant("local"),
      destinationIP: unknown,
      responseCached: unknown,
      zoneTag: text("zone_id"),
    },
    sums: { queryBytes: "query_bytes", responseBytes: "response_bytes" },
    averages: { queryBytes: "query_bytes", responseBytes: "response_bytes" },
    quantiles: {},
    uniques: { sourceIPs: "source_ip" },
    isWeighted: true,
    unmeasured: { avg: ["processingTimeUs"], quantiles: ["processingTimeUs"] },
    zonePermissions: ["Analytics Read", "DNS Read", "DNS Write"],
    accountPermissions: ACCOUNT_READERS,
  },
  aiGatewayRequests: {
    type: "AiGatewayRequests",
    table: "gateway_logs",
    description: "Requests that a gateway forwarded to a provider.",
    fields: {
      ...TIMES,
      gateway: text("gateway_id"),
      provider: text("provider"),
      model: text("model"),
      path: text("path"),
      requestType: text("request_type"),
      metadataRaw: text("metadata"),
      statusCode: integer("status_code"),
      cached: { column: "cached", kind: "boolean" },
      success: { column: "success", kind: "boolean" },
      error: { column: "success", kind: "negated" },
      // Requests refused by a limit have no row.
      rateLimited: constant(0),
      metadataKeys: { kind: "keys", of: "metadata" },
      metadataValues: { kind: "values", of: "metadata" },
    },
    sums: {
      cost: "cost",
      tokensIn: "tokens_in",
      tokensOut: "tokens_out",
      totalTokens: "tokens_all",
      cachedTokensIn: "tokens_in_cached",
      cachedTokensOut: "tokens_out_cached",
      uncachedTokensIn: "tokens_in_uncached",
      uncachedTokensOut: "tokens_out_uncached",
      cachedRequests: "cached",
      erroredRequests: "errored",
      durationMs: "duration_ms",
    },
    averages: { cost: "cost", tokensIn: "tokens_in", tokensOut: "tokens_out", durationMs: "duration_ms" },
    quantiles: { durationMs: "duration_ms", firstByteMs: "first_byte_ms" },
    uniques: {},
    // A gateway belongs to an account.
    zonePermissions: [],
    accountPermissions: [...ACCOUNT_READERS, "AI Gateway Read", "AI Gateway Write"],
  },
  healthCheckEvents: {
    type: "HealthCheckEvents",
    table: null,
    description: "Health checks of origins. Always empty: there are none, but exporters query them.",
    fields: {
      ...TIMES,
      fqdn: constant(""),
      healthStatus: constant(""),
      failureReason: constant(""),
      originIP: constant(""),
      region: constant(""),
    },
    sums: {},
    averages: {},
    quantiles: {},
    uniques: {},
    zonePermissions: ["Analytics Read", "Logs Read"],
    accountPermissions: ACCOUNT_READERS,
  },
} as const satisfies Readonly<Record<string, AnalyticsDataset>>;

export type AnalyticsDatasetName = keyof typeof ANALYTICS_DATASETS;

/** Nodes through which a dataset is queried. */
export interface AnalyticsNode {
  readonly name: string;
  readonly dataset: AnalyticsDatasetName;
  readonly kind: "rows" | "groups" | "totals" | "overview" | "values";
  /** For `totals`: their times are rounded down to this. */
  readonly intervalMs?: number;
  readonly scopes: readonly ("zone" | "account")[];
}

const BOTH = ["zone", "account"] as const;

export const ANALYTICS_NODES: readonly AnalyticsNode[] = [
  { name: "firewallEventsAdaptive", dataset: "firewallEvents", kind: "rows", scopes: BOTH },
  { name: "firewallEventsAdaptiveGroups", dataset: "firewallEvents", kind: "groups", scopes: BOTH },
  { name: "firewallEventsAdaptiveByTimeGroups", dataset: "firewallEvents", kind: "groups", scopes: BOTH },
  { name: "sensitiveDataValues", dataset: "firewallEvents", kind: "values", scopes: BOTH },
  { name: "httpRequestsAdaptive", dataset: "httpRequests", kind: "rows", scopes: BOTH },
  { name: "httpRequestsAdaptiveGroups", dataset: "httpRequests", kind: "groups", scopes: BOTH },
  { name: "httpRequestsOverviewAdaptiveGroups", dataset: "httpRequests", kind: "overview", scopes: BOTH },
  { name: "httpRequests1mGroups", dataset: "httpRequests", kind: "totals", intervalMs: 60_000, scopes: BOTH },
  { name: "httpRequests1hGroups", dataset: "httpRequests", kind: "totals", intervalMs: 3_600_000, scopes: BOTH },
  { name: "httpRequests1dGroups", dataset: "httpRequests", kind: "totals", intervalMs: 86_400_000, scopes: BOTH },
  { name: "dnsAnalyticsAdaptive", dataset: "dnsAnalytics", kind: "rows", scopes: BOTH },
  { name: "dnsAnalyticsAdaptiveGroups", dataset: "dnsAnalytics", kind: "groups", scopes: BOTH },
  { name: "healthCheckEventsAdaptiveGroups", dataset: "healthCheckEvents", kind: "groups", scopes: ["zone"] },
  { name: "aiGatewayRequestsAdaptive", dataset: "aiGatewayRequests", kind: "rows", scopes: ["account"] },
  { name: "aiGatewayRequestsAdaptiveGroups", dataset: "aiGatewayRequests", kind: "groups", scopes: ["account"] },
];

/** Comparison suffixes of filters, by the kind of the field. */
export const ANALYTICS_OPERATORS = {
  text: { "": "eq", _neq: "ne", _in: "in", _notin: "not_in", _like: "like", _notlike: "not_like" },
  integer: { "": "eq", _neq: "ne", _in: "in", _notin: "not_in", _gt: "gt", _geq: "ge", _lt: "lt", _leq: "le" },
  boolean: { "": "eq", _neq: "ne" },
  negated: { "": "eq", _neq: "ne", _in: "in", _notin: "not_in" },
  constant: { "": "eq", _neq: "ne", _in: "in", _notin: "not_in" },
  unknown: {},
  keys: { _has: "has" },
  values: { _has: "has" },
  member: { "": "eq", _in: "in" },
  list: {},
  time: { "": "eq", _neq: "ne", _in: "in", _notin: "not_in", _gt: "gt", _geq: "ge", _lt: "lt", _leq: "le" },
  date: { "": "eq", _neq: "ne", _in: "in", _notin: "not_in", _gt: "gt", _geq: "ge", _lt: "lt", _leq: "le" },
} as const;

export type AnalyticsOperator = "eq" | "ne" | "in" | "not_in" | "like" | "not_like" | "has" | "gt" | "ge" | "lt" | "le";

/** All conditions must hold; of `any`, one of the lists. Times are Unix milliseconds. */
export type AnalyticsFilter =
  | {
      readonly field: string;
      readonly operator: AnalyticsOperator;
      readonly value: string | number | boolean | readonly (string | number)[];
    }
  | { readonly any: readonly (readonly AnalyticsFilter[])[] };

export type AnalyticsScope = { readonly zone_id: string } | { readonly account_id: string };

export interface AnalyticsMeasure {
  /** A number: that percentile. */
  readonly kind: "sum" | "average" | "unique" | number;
  readonly column: string;
}

export interface AnalyticsQuery {
  readonly filters: readonly AnalyticsFilter[];
  readonly dimensions: readonly string[];
  readonly measures: readonly AnalyticsMeasure[];
  readonly order: readonly {
    readonly by: "count" | { readonly dimension: string } | { readonly measure: number };
    readonly direction: "asc" | "desc";
  }[];
  readonly limit: number;
}

/** Rows with equal values of the requested dimensions. */
export interface AnalyticsGroup {
  readonly count: number;
  /** Times in ISO 8601, dates as YYYY-MM-DD. */
  readonly dimensions: Readonly<Record<string, AnalyticsValue>>;
  /** In the requested order. */
  readonly measures: readonly number[];
  readonly sampleInterval: number;
}

export type AnalyticsValue = string | number | boolean | null;
/** A field of a row: also the objects of a list. */
export type AnalyticsCell = AnalyticsValue | readonly Readonly<Record<string, AnalyticsValue>>[];

/** Maximum number of rows or groups per node. */
export const ANALYTICS_LIMIT_MAX = 10_000;
