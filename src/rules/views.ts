/**
 * What rules may look at, in the request phases. Built once a request by the edge; reading must be cheap.
 * Strings hold one char per byte (Latin-1), as expressions compare bytes.
 */
export interface RequestView {
  readonly ray_id: string;
  readonly zone_name: string;
  readonly method: string;
  readonly scheme: "http" | "https";
  /** Validated, lower case, no port. */
  readonly host: string;
  /** Path without the query, as received. */
  readonly path: string;
  /** Query without the question mark; empty when there is none. */
  readonly query: string;
  readonly user_agent: string;
  readonly client_ip: string;
  /** Values of a header field by lower-case name, in order of receipt. */
  headers(name: string): readonly string[];
}

/** Additionally in the response phases. */
export interface ResponseView {
  readonly status: number;
  /** Media type, lower case, without parameters. */
  readonly content_type: string;
  headers(name: string): readonly string[];
}
