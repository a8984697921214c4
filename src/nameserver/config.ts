import type { ListenPlace } from "#kernel/net/listen-place.ts";
import type { ListeningSockets } from "#kernel/process/worker-protocol.ts";

/** The nameserver's configuration; plain data, so that it can be sent to a worker thread. */
export interface NameserverConfig {
  readonly host: string;
  /** The same number for UDP and TCP. 0: any port that is free for both. */
  readonly port: number;
  /** Share the port with other workers; the kernel distributes queries among them. */
  readonly reusePort: boolean;
  /** `::` leaves IPv4 to `further`. */
  readonly onlyIpv6?: boolean | undefined;
  /** Addresses beside `host` and `dot`. */
  readonly further?: readonly { readonly dns: ListenPlace; readonly dot: ListenPlace }[] | undefined;
  /** Sockets that are already bound, `udp`, `tcp` and `dot`; the thread takes them over. Without them it binds its own. */
  readonly sockets?: ListeningSockets | undefined;
  /** IPv4 and IPv6 addresses in the answers for proxied names. */
  readonly edgeAddresses: readonly string[];
  /** The protocols that the edge offers at these addresses over TLS. */
  readonly edgeProtocols: EdgeProtocols;
  /** This server's identifier for clients that request NSID (RFC 5001). Empty: the option is not sent. */
  readonly nsid: string;
  readonly rateLimit: RateLimitConfig;
  /** DNS over TLS (0: any free port). Absent: not offered. */
  readonly dot?: Pick<ListenPlace, "port" | "orAny">;
  /** The port to which the edge forwards queries over HTTPS (0: any free port). Absent: none are accepted. */
  readonly doh?: { readonly port: number };
  /** Addresses of the resolvers for external names, with a port if it is not 53. Empty: those of the system. */
  readonly resolvers: readonly string[];
  readonly limits: NameserverLimits;
}

/** Limits on the memory and time that clients can take. */
export interface NameserverLimits {
  /** Cached responses; each takes 2 KB or less. */
  readonly cacheEntriesMax: number;
  /** Connections; at the limit, the one that has been idle longest is closed. */
  readonly tcpConnectionsMax: number;
  /** A /64 network of IPv6 counts as one address. */
  readonly tcpConnectionsPerAddressMax: number;
  /** Maximum time between two complete messages of a TCP connection, and for a client to read its responses (RFC 7766 §6.2.3). */
  readonly tcpIdleTimeoutMs: number;
  /** Bytes of responses buffered for a slow TCP client; above them, no more queries are read from it. */
  readonly tcpBacklogBytesMax: number;
  /** Queries of a TCP connection that wait for lookups; above them, no more queries are read from it. */
  readonly tcpPendingMax: number;
  /** Messages that all connections of a listener (TCP, TLS, HTTPS) may send to be answered in one tick; datagrams are answered between ticks. */
  readonly tcpMessagesPerTick: number;
  /** Certificates with an open TLS context. */
  readonly tlsContextsMax: number;
  /** Concurrent zone transfers to other servers, in total and per address. */
  readonly transfersMax: number;
  readonly transfersPerAddressMax: number;
  /** Maximum time of a whole transfer, however slowly the other server reads it. */
  readonly transferTimeoutMs: number;
  /** Names and records of past versions that are kept for IXFR. */
  readonly journalWeightMax: number;
  readonly outside: ExternalLimits;
  /** Interval between two checks of the apex addresses of zones that other servers transfer. */
  readonly apexWatchMs: number;
}

export const EXTERNAL_LIMITS: ExternalLimits = {
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
  tcpMessagesPerTick: 32,
  tlsContextsMax: 1_000,
  outside: EXTERNAL_LIMITS,
  apexWatchMs: 15_000,
};

/** Limits of lookups of external names and of the cache of their results. */
export interface ExternalLimits {
  /** Maximum time for one server to answer. */
  readonly serverTimeoutMs: number;
  /** Maximum time of one lookup, with all its servers, retries and aliases. */
  readonly lookupTimeoutMs: number;
  /** Maximum time that a query waits for a lookup; after it, the query is answered with the data at hand. */
  readonly waitMs: number;
  /** Queries that may wait at the same time; others are answered with the data at hand. */
  readonly waitersMax: number;
  readonly lookupsMax: number;
  /** Lookups that wait to start; others fail at once. */
  readonly queuedLookupsMax: number;
  /** Cached names and types. */
  readonly entriesMax: number;
  /** Lower limit of the time that a result is cached, whatever its TTL, in seconds. */
  readonly ttlMin: number;
  /** Upper limit of a TTL, in seconds. */
  readonly ttlMax: number;
  /** Upper limit of the TTL of a negative answer, in seconds. */
  readonly nothingTtlMax: number;
  /** Share of its TTL after which a result in use is refreshed, so that it does not expire. */
  readonly refreshAfter: number;
  /** How long the last good result is used while lookups fail (RFC 8767 §4: one to three days). */
  readonly staleMs: number;
  /** TTL in seconds of a stale result, and of an empty answer because lookups failed (RFC 8767 §4). */
  readonly staleTtl: number;
  /** Delay before a failed lookup is retried; doubles up to the maximum. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** Names that are looked up before the first query, when zones arrive or change. */
  readonly warmNamesMax: number;
}

/** The operator's settings, and the table that all threads of the server share. */
export interface RateLimitConfig {
  /** Responses of one class per network and second; 0: no limit at all. */
  readonly perSecond: number;
  /** Units of up to 512 bytes per network and second, for all responses together; 0: no such limit. */
  readonly allPerSecond: number;
  /** One in so many responses over the limit is truncated instead of dropped; 0: none, 1: each. */
  readonly slip: number;
  /** Networks in CIDR notation that are exempt. */
  readonly exempt: readonly string[];
  readonly table: SharedArrayBuffer;
}

/** The protocols that the edge offers over TLS. */
export interface EdgeProtocols {
  /** ALPN identifiers, in order of preference. */
  readonly alpn: readonly string[];
  /** 0: unknown. */
  readonly port: number;
}
