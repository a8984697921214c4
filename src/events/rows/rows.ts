/** One row per request that the edge answered. Times are Unix milliseconds. */
export interface RequestRow {
  readonly ray_id: string;
  readonly at_ms: number;
  readonly account_id: string;
  readonly zone_id: string;
  readonly client_ip: string;
  readonly method: string;
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly user_agent: string;
  readonly status: number;
  readonly origin_status: number | null;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly duration_ms: number;
  /** Fields that rules of `http_log_custom_fields` asked for; null if none did. */
  readonly custom_fields: LoggedFields | null;
  /** `HTTP/2`; the visitor's side, as rules see it. */
  readonly http_version?: string;
  /** `TLSv1.3`; empty over plain HTTP. */
  readonly tls_version?: string;
  /** Media type of the response, without parameters. */
  readonly content_type?: string;
  /** How the cache handled the response; empty if it was not used. */
  readonly cache_status?: string;
  /** Two letters; empty if unknown. */
  readonly country?: string;
  /** The edge's error code if the edge itself refused or answered the request (edge-errors.ts); otherwise empty. */
  readonly edge_error?: string;
  /** Name of that error, which distinguishes causes with the same code; empty without an error. */
  readonly edge_error_name?: string;
}

/** Fields of a request and its response by the name in the rule: an array if the field occurred more than once. */
export interface LoggedFields {
  readonly cookies?: Readonly<Record<string, string>>;
  readonly request_headers?: Readonly<Record<string, string>>;
  readonly transformed_request_headers?: Readonly<Record<string, string>>;
  readonly response_headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly raw_response_headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** One row per rule that logged or acted on a request or response (SPEC 6). */
export interface SecurityEventRow {
  /** ULID. */
  readonly id: string;
  readonly ray_id: string;
  readonly at_ms: number;
  readonly account_id: string;
  readonly zone_id: string;
  readonly ruleset_id: string;
  readonly rule_id: string;
  /** The deployed (execute) rule that ran a managed ruleset; empty otherwise. */
  readonly deployed_by: string;
  readonly rule_description: string;
  readonly phase: string;
  readonly action: string;
  /** The service that detected it (SPEC 6): `Data Loss Protection`, `WAF`, … (rules/services.ts) */
  readonly service: string;
  readonly client_ip: string;
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly user_agent: string;
  readonly status: number;
  /** Count, place and confidence of matches; never the matched text. */
  readonly matches: readonly EventMatch[];
  /** The scan spent its budget before the end of the body, so more matches are possible; absent means false. */
  readonly scan_limited?: boolean;
  /** Two letters; empty if unknown. */
  readonly country?: string;
}

export interface EventMatch {
  readonly detector: string;
  /** The managed rule of the detector. */
  readonly rule_id: string;
  readonly count: number;
  /** Byte offset of the first hit in the scanned body. */
  readonly offset: number;
  readonly confidence: "low" | "medium" | "high";
  /** For rules on requests: the field of expressions, or ModSecurity's variable, that contains the match. */
  readonly part?: string;
  /** The argument, header field or cookie in it; absent without a name. */
  readonly name?: string;
  /** The score that the rule added with all its matches; at its first part. */
  readonly score?: number;
  /** JSON path of the first hit in a JSON body: `$.users[3].card`. */
  readonly json_path?: string;
  /** Hash of the first hit's value, under a key of the zone. */
  readonly value_hash?: string;
  /** The first hit, mostly masked; only if the rule asks for it. */
  readonly sample?: string;
  /** The hits, readable only by the holder of the private key (kernel/crypto/envelope.ts); only if the rule has a public key. */
  readonly matched_data?: string;
}

/** One row per accepted gateway request; refused requests have none (SPEC 1.1). */
export interface GatewayLogRow {
  /** ULID. */
  readonly id: string;
  readonly at_ms: number;
  readonly account_id: string;
  readonly gateway_id: string;
  readonly provider: string;
  readonly model: string;
  readonly path: string;
  readonly method: string;
  readonly status_code: number;
  readonly success: boolean;
  readonly cached: boolean;
  readonly duration_ms: number;
  readonly tokens_in: number | null;
  readonly tokens_out: number | null;
  readonly cost: number | null;
  readonly step: number;
  readonly request_content_type: string;
  readonly response_content_type: string;
  /** Transferred bytes, not bytes kept. */
  readonly request_bytes: number;
  readonly response_bytes: number;
  /** The client's name for a group of requests, or a generated one. */
  readonly event_id?: string;
  /** A JSON object of strings, numbers and booleans; empty if absent. */
  readonly metadata?: string;
  readonly model_type?: string;
  /** Kind of call of the path: `chat.completions`, `embeddings`, … */
  readonly request_type?: string;
  readonly user_agent?: string;
  /** `cost` uses the price that the request itself named. */
  readonly custom_cost?: boolean;
  /** The tokens are counted here, because the provider did not report them. */
  readonly estimated?: boolean;
  /** Part of `tokens_in`: read from the provider's cache, and written to it. */
  readonly tokens_cache_read?: number | null;
  readonly tokens_cache_write?: number | null;
  /** Part of `tokens_out`. */
  readonly tokens_reasoning?: number | null;
  /** Time until the first byte of the answer. */
  readonly first_byte_ms?: number | null;
  /** The gateway asked for a token. */
  readonly authentication?: boolean;
  /** Translated to or from another provider's format. */
  readonly compatibility_mode?: boolean;
  /** Action of data loss prevention: `FLAG`, `BLOCK`, or empty. */
  readonly dlp_action?: string;
  /** Action of guardrails: `FLAG`, `BLOCK`, or empty. */
  readonly guardrail_action?: string;
  /** JSON with the hazards of each side: `{"prompt":["S1"]}`; empty without any. */
  readonly guardrail_findings?: string;
  /** Set later, through the API. */
  readonly feedback?: number | null;
  readonly score?: number | null;
  /** Place of the bodies (logs/segment.ts); null without bodies. */
  readonly segment?: number | null;
  readonly segment_at?: number | null;
  /** Bytes kept of the bodies. */
  readonly request_kept?: number;
  readonly response_kept?: number;
}

/** One row for some of the queries that a zone's nameserver answered: each represents as many as its interval says. */
export interface DnsQueryRow {
  readonly at_ms: number;
  readonly account_id: string;
  readonly zone_id: string;
  /** Presentation form without the final dot, as in the query. */
  readonly query_name: string;
  readonly query_type: string;
  readonly response_code: string;
  readonly protocol: string;
  readonly ip_version: number;
  readonly source_ip: string;
  readonly query_bytes: number;
  readonly response_bytes: number;
  readonly sample_interval: number;
}

export interface EventTables {
  readonly requests: RequestRow;
  readonly security_events: SecurityEventRow;
  readonly gateway_logs: GatewayLogRow;
  readonly dns_queries: DnsQueryRow;
}

export type EventTable = keyof EventTables;
/** Of several tables, the columns of any of them. */
export type ColumnOf<T extends EventTable> = T extends EventTable ? keyof EventTables[T] & string : never;

/** Data of a request's security event beyond the request's row: the row has the rest, and the writer assigns the id. */
export interface RequestEvent {
  /** The same object for the same rule. */
  readonly rule: EventRule;
  readonly matches: readonly EventMatch[];
}

export type EventRule = Pick<
  SecurityEventRow,
  "ruleset_id" | "rule_id" | "deployed_by" | "rule_description" | "phase" | "action" | "service"
>;

/** Accepts rows from planes. Bounded: it never blocks and never throws, and counts the rows that it had to drop. */
export interface EventSink {
  push<T extends EventTable>(table: T, row: EventTables[T]): void;
}

/** The same for requests, with the events that rules logged for each. */
export interface RequestSink {
  pushRequest(row: RequestRow, events: readonly RequestEvent[]): void;
}
