import type { EdgeProtocols } from "#nameserver/zones/proxied-records.ts";
import { OUTSIDE_LIMITS, type OutsideLimits } from "#nameserver/external/limits.ts";
import type { RateLimitConfig } from "#nameserver/limits/rate-limit.ts";

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
