/** One row a request that the edge answered. Times are Unix milliseconds. */
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
  /** What rules of `http_log_custom_fields` asked for; null where none did. */
  readonly custom_fields: LoggedFields | null;
  /** `HTTP/2`; of the visitor's side, as rules see it. */
  readonly http_version?: string;
  /** `TLSv1.3`; empty over plain HTTP. */
  readonly tls_version?: string;
  /** Of the response, without parameters. */
  readonly content_type?: string;
  /** How the cache had to do with the response; empty where it was not asked. */
  readonly cache_status?: string;
  /** Two letters; empty where it is not known. */
  readonly country?: string;
  /** What the edge itself refused or answered the request with (edge-errors.ts); empty where it did not. */
  readonly edge_error?: string;
  /** Name of that error, which tells apart causes that share a code; empty where there is none. */
  readonly edge_error_name?: string;
}

/** Fields of a request and its response by the name that a rule gave: an array where the field stood more than once. */
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
  /** Which service saw it (SPEC 6): `Data Loss Protection`, `WAF`, … (rules/services.ts) */
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
  /** The scan spent its budget before the end of the body, so there may be more; absent means false. */
  readonly scan_limited?: boolean;
  /** Two letters; empty where it is not known. */
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
  /** Of rules of requests: the field of expressions, or ModSecurity's variable, in which it found something. */
  readonly part?: string;
  /** The argument, header field or cookie in it; absent where it has no name. */
  readonly name?: string;
  /** What the rule has added to the score with all that it found; at its first part. */
  readonly score?: number;
  /** Where the first hit stands in a JSON body: `$.users[3].card`. */
  readonly json_path?: string;
  /** Of the first hit's value, under a key of the zone. */
  readonly value_hash?: string;
  /** The first hit, most of it masked; only where the rule asks for it. */
  readonly sample?: string;
  /** The hits, for the holder of the private key alone (kernel/crypto/envelope.ts); only where the rule has a public key. */
  readonly matched_data?: string;
}

/** One row per accepted gateway request; a refused one leaves none (SPEC 1.1). */
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
  /** What passed, not what is kept of it. */
  readonly request_bytes: number;
  readonly response_bytes: number;
  /** The client's name for what several requests belong to, or one of our own. */
  readonly event_id?: string;
  /** A JSON object of strings, numbers and booleans; empty where there is none. */
  readonly metadata?: string;
  readonly model_type?: string;
  /** What kind of call the path is: `chat.completions`, `embeddings`, … */
  readonly request_type?: string;
  readonly user_agent?: string;
  /** `cost` is by the price that the request itself named. */
  readonly custom_cost?: boolean;
  /** The tokens are counted here, because the provider did not tell. */
  readonly estimated?: boolean;
  /** Of `tokens_in`: read from the provider's own cache, and written to it. */
  readonly tokens_cache_read?: number | null;
  readonly tokens_cache_write?: number | null;
  /** Of `tokens_out`. */
  readonly tokens_reasoning?: number | null;
  /** Until the first byte of the answer. */
  readonly first_byte_ms?: number | null;
  /** The gateway asked for a token. */
  readonly authentication?: boolean;
  /** Translated to or from another provider's form. */
  readonly compatibility_mode?: boolean;
  /** What data loss prevention did: `FLAG`, `BLOCK`, or empty. */
  readonly dlp_action?: string;
  /** Given afterwards, through the API. */
  readonly feedback?: number | null;
  readonly score?: number | null;
  /** Where the bodies are (logs/segment.ts); null where there are none. */
  readonly segment?: number | null;
  readonly segment_at?: number | null;
  /** Bytes that are kept of the bodies. */
  readonly request_kept?: number;
  readonly response_kept?: number;
}

/** One row for some of the questions that a zone's nameserver answered: each stands for as many as its interval says. */
export interface DnsQueryRow {
  readonly at_ms: number;
  readonly account_id: string;
  readonly zone_id: string;
  /** Presentation form without the final dot, as it was asked. */
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

/** What the security event of a request has beside the request's row: the row says the rest, and the writer gives the id. */
export interface RequestEvent {
  /** The same object where it is the same rule. */
  readonly rule: EventRule;
  readonly matches: readonly EventMatch[];
}

export type EventRule = Pick<
  SecurityEventRow,
  "ruleset_id" | "rule_id" | "deployed_by" | "rule_description" | "phase" | "action" | "service"
>;

/** Where planes put rows. Bounded: it never blocks and never throws, and counts what it had to drop. */
export interface EventSink {
  push<T extends EventTable>(table: T, row: EventTables[T]): void;
}

/** The same for requests with what rules logged of each. */
export interface RequestSink {
  pushRequest(row: RequestRow, events: readonly RequestEvent[]): void;
}
