/**
 * Request data for rules, in the request phases. The edge makes it once per request; reading must be cheap. Strings have
 * one char per byte (Latin-1), because expressions compare bytes. An absent optional member is a missing value in
 * expressions.
 */
export interface RequestView {
  readonly ray_id: string;
  readonly zone_name: string;
  readonly zone_plan?: "free" | "pro" | "business" | "enterprise" | undefined;
  readonly method: string;
  readonly scheme: "http" | "https";
  /** Validated, lower case, no port. */
  readonly host: string;
  /** Path without the query: normalized, if the zone wants that, or as a rewrite left it. */
  readonly path: string;
  /** The path that the origin gets, which managed rules inspect; absent where it is `path`. */
  readonly origin_path?: string | undefined;
  /** Query without the question mark; empty if there is none. */
  readonly query: string;
  readonly user_agent: string;
  readonly client_ip: string;
  /** Values of a header field by lower-case name, in order of receipt. */
  headers(name: string): readonly string[];
  /** Every header field in order of receipt, names as received. */
  header_fields?(): HeaderFields;
  /** Path and query as received; absent where neither a rewrite nor normalization has changed them. */
  readonly received_path?: string | undefined;
  readonly received_query?: string | undefined;
  /** `HTTP/1.1` */
  readonly http_version?: string | undefined;
  /** When the request arrived, in milliseconds of Unix time. */
  readonly at_ms?: number | undefined;
  readonly server_ip?: string | undefined;
  readonly server_port?: number | undefined;
  readonly client_port?: number | undefined;
  readonly tls?: TlsView | undefined;
  readonly body?: BodyView | undefined;
  /** 16 random bytes, the same for the whole request. */
  readonly random_seed?: string | undefined;
  /** JSON of the custom hostname's metadata; empty without. */
  readonly hostname_metadata?: string | undefined;
  /** The location of the client's address, from the operator's database. */
  readonly place?: GeoView | undefined;
}

export interface HeaderFields {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

export interface TlsView {
  /** `TLSv1.3` */
  readonly version: string;
  readonly cipher?: string | undefined;
}

/** The buffered part of a request's body that rules see. */
export interface BodyView {
  readonly raw: string;
  /** Bytes of the whole body. */
  readonly size: number;
  readonly truncated: boolean;
  /** Number of decompressed bytes that rules see; 1 MiB if absent. */
  readonly decodedBytesMax?: number;
}

/** The body of a request without one. */
export const NO_BODY_VIEW: BodyView = { raw: "", size: 0, truncated: false };

export interface GeoView {
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  readonly continent?: string;
  readonly city?: string;
  readonly region?: string;
  readonly region_code?: string;
  readonly postal_code?: string;
  readonly metro_code?: string;
  readonly timezone?: string;
  readonly latitude?: string;
  readonly longitude?: string;
  readonly is_in_european_union?: boolean;
  /** ISO 3166-2. */
  readonly subdivision_1?: string;
  readonly subdivision_2?: string;
  /** Number of the autonomous system. */
  readonly asn?: number;
}

/** Additionally in the response phases. */
export interface ResponseView {
  readonly status: number;
  /** Media type, lower case, without parameters. */
  readonly content_type: string;
  headers(name: string): readonly string[];
  header_fields?(): HeaderFields;
  /** The start of its body without content codings; absent unless a rule asked for it (`wantsResponseBody`). */
  readonly body?: string | undefined;
  /** The fields before any rule; absent if no rule has changed them. */
  readonly raw?: Pick<ResponseView, "headers" | "header_fields"> | undefined;
  /** The 1xxx code of an error page of the edge itself; 0 without one. */
  readonly error_code?: number;
  /** `waf`, `ratelimit`, `1xxx`, `5xx` and so on; empty for answers of origins. */
  readonly error_type?: string;
  /** How long the origin took to its first byte. */
  readonly origin_ttfb_ms?: number | undefined;
  /** How long the edge itself took. */
  readonly edge_ms?: number | undefined;
}

/** Whether a rule applies. Never throws, never waits. `response` is null in the request phases. */
export type Predicate = (request: RequestView, response: ResponseView | null) => boolean;
