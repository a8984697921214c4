/** A coding that the edge writes, by its name in Content-Encoding. */
export type Coding = "zstd" | "br" | "gzip";

/** As a compression rule names them, in its order. */
export type Algorithm = "none" | "auto" | "default" | "gzip" | "brotli" | "zstd";

/** How an origin is spoken to over TLS. */
export interface OriginTls {
  /** Goes into the handshake, and is what the certificate has to be for where it is verified. */
  readonly serverName: string;
  readonly verified: boolean;
}

/** Where a request is sent: addresses to try in this order, all on one port and in the same way. */
export interface OriginPlan {
  readonly addresses: readonly string[];
  readonly port: number;
  /** Null: plain HTTP. */
  readonly tls: OriginTls | null;
}
