/** What the nameserver is told at its start; plain data, so it crosses to a worker thread. */
export interface NameserverConfig {
  readonly host: string;
  /** One number for UDP and TCP; 0: any that is free for both. */
  readonly port: number;
  /** Share the port with other workers; the kernel spreads the questions over them. */
  readonly reusePort: boolean;
  /** Descriptors that are bound already and become the thread's own; without them it opens what it needs. */
  readonly sockets?: NameserverSockets | undefined;
  /** IPv4 and IPv6 addresses that proxied names are answered with. */
  readonly edgeAddresses: readonly string[];
  /** What the edge speaks there over TLS. */
  readonly edgeProtocols: EdgeProtocols;
  /** This server's name for those who ask which one of several answers (RFC 5001); empty: nobody is told. */
  readonly nsid: string;
  readonly rateLimit: RateLimitConfig;
  /** DNS over TLS (0: any free port); without it there is none. */
  readonly dot?: { readonly port: number };
  /** Where the edge brings questions that came over HTTPS (0: any free port); without it none do. */
  readonly doh?: { readonly port: number };
  /** Addresses of the resolvers that know names elsewhere, with a port where it is not 53; none: those of the system. */
  readonly resolvers: readonly string[];
  readonly limits: NameserverLimits;
}

export interface NameserverSockets {
  readonly udp: number;
  readonly tcp: number;
  readonly dot: number;
}

/** Bounds of what clients can make the nameserver hold or wait for. */
export interface NameserverLimits {
  /** Responses kept ready; each takes 2 KB or less. */
  readonly cacheEntriesMax: number;
  /** Beyond these the connection is closed that has been idle longest. */
  readonly tcpConnectionsMax: number;
  /** An IPv6 network of /64 counts as one address. */
  readonly tcpConnectionsPerAddressMax: number;
  /** Between two whole messages of a TCP connection, and for a client to take what it asked for (RFC 7766 §6.2.3). */
  readonly tcpIdleTimeoutMs: number;
  /** Responses that wait for a slow TCP client before it is read no further. */
  readonly tcpBacklogBytesMax: number;
  /** Questions of a TCP connection whose answers are being looked up before it is read no further. */
  readonly tcpPendingMax: number;
  /** Certificates with an open TLS context. */
  readonly tlsContextsMax: number;
  /** Zone transfers to other servers at the same time, in all and to one address. */
  readonly transfersMax: number;
  readonly transfersPerAddressMax: number;
  /** For one whole transfer, however slowly the other server takes it. */
  readonly transferTimeoutMs: number;
  /** Names and records of past versions that are kept to answer IXFR from. */
  readonly journalWeightMax: number;
  readonly outside: OutsideLimits;
  /** Between two looks at the addresses of apexes that other servers have copies of. */
  readonly apexWatchMs: number;
}

export const OUTSIDE_LIMITS: OutsideLimits = {
  serverTimeoutMs: 1_500,
  lookupTimeoutMs: 6_000,
  waitMs: 2_500,
  waitersMax: 1_000,
  lookupsMax: 64,
  queuedLookupsMax: 4_000,
  entriesMax: 20_000,
  ttlMin: 5,
  ttlMax: 86_400,
  nothingTtlMax: 300,
  refreshAfter: 0.8,
  staleMs: 3 * 86_400_000,
  staleTtl: 30,
  retryMinMs: 2_000,
  retryMaxMs: 60_000,
  warmNamesMax: 1_000,
};

export const NAMESERVER_LIMITS: NameserverLimits = {
  cacheEntriesMax: 50_000,
  tcpConnectionsMax: 1_000,
  tcpConnectionsPerAddressMax: 100,
  tcpIdleTimeoutMs: 10_000,
  tcpBacklogBytesMax: 64 * 1024,
  transfersMax: 20,
  transfersPerAddressMax: 5,
  transferTimeoutMs: 3_600_000,
  journalWeightMax: 200_000,
  tcpPendingMax: 100,
  tlsContextsMax: 1_000,
  outside: OUTSIDE_LIMITS,
  apexWatchMs: 15_000,
};

/** Bounds of what is asked of servers elsewhere and kept of their answers. */
export interface OutsideLimits {
  /** For one server to answer. */
  readonly serverTimeoutMs: number;
  /** For one look-up with all its servers, retries and aliases. */
  readonly lookupTimeoutMs: number;
  /** For a question to wait for a look-up; then it is answered with what there is. */
  readonly waitMs: number;
  /** Questions that may wait at one time; more are answered with what there is. */
  readonly waitersMax: number;
  readonly lookupsMax: number;
  /** Look-ups that wait for their turn; more fail at once. */
  readonly queuedLookupsMax: number;
  /** Names and types that are kept. */
  readonly entriesMax: number;
  /** For so long at the least what was found is kept, whatever its TTL, in seconds. */
  readonly ttlMin: number;
  /** The most that is believed of a TTL, in seconds. */
  readonly ttlMax: number;
  /** The most for which "nothing there" is believed, in seconds. */
  readonly nothingTtlMax: number;
  /** After so much of its TTL what is in use is looked up again, so that it never runs out. */
  readonly refreshAfter: number;
  /** How long the last good answer stands in while look-ups fail (RFC 8767 §4: one to three days). */
  readonly staleMs: number;
  /** Of an answer that stands in, or that says "nothing" because nothing could be learnt, in seconds (RFC 8767 §4). */
  readonly staleTtl: number;
  /** Between two look-ups of a name that fail; doubled up to the other. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** Names that are looked up before anybody asks, when zones arrive or change. */
  readonly warmNamesMax: number;
}

/** What the operator says about it, and the table that all threads of the server share. */
export interface RateLimitConfig {
  /** Responses of one sort to one network in a second; 0: no limit at all. */
  readonly perSecond: number;
  /** Units of 512 started bytes in a second for all responses to one network together; 0: no such limit. */
  readonly allPerSecond: number;
  /** Of so many responses over the limit one is truncated instead of dropped; 0: none, 1: each. */
  readonly slip: number;
  /** Networks in CIDR notation that are never limited. */
  readonly exempt: readonly string[];
  readonly table: SharedArrayBuffer;
}

/** What the edge speaks over TLS. */
export interface EdgeProtocols {
  /** By their ALPN identifiers, the best first. */
  readonly alpn: readonly string[];
  /** 0: not known. */
  readonly port: number;
}
