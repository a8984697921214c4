/** The body of a 200 in whose place a 304 is sent. */
export interface UnsentBody {
  /** Without parameters. */
  readonly contentType: string;
  readonly isCoded: boolean;
  readonly length: number;
}

/** A content coding that the edge can produce, by its name in Content-Encoding. */
export type Coding = "zstd" | "br" | "gzip";

/** The algorithms of a compression rule, in order of preference. */
export type Algorithm = "none" | "auto" | "default" | "gzip" | "brotli" | "zstd";

/** TLS settings for a connection to an origin. */
export interface OriginTls {
  /** Sent as SNI; if the edge verifies the certificate, it must match this name. */
  readonly serverName: string;
  readonly verified: boolean;
}

/** The destination of a request: addresses to try in this order, all with the same port and TLS settings. */
export interface OriginPlan {
  readonly addresses: readonly string[];
  readonly port: number;
  /** Null for plain HTTP. */
  readonly tls: OriginTls | null;
}
