import type { CounterPlace } from "#wire/redis/counter-server.ts";
import type { TrustedProxies } from "#kernel/net/client-addresses.ts";
import type { ListenPlace } from "#kernel/net/listen-place.ts";
import type { ListeningSockets, RuleMaterial, TicketKeys } from "#kernel/process/worker-protocol.ts";
import type { WindowLimits } from "#wire/http2/window-budget.ts";
import type { GeoipDatabases } from "./geoip.ts";

/** Protocols of the edge over TLS, as ALPN identifiers (RFC 7301), best first. */
export const EDGE_ALPN: readonly string[] = ["h2", "http/1.1"];

/** The operator's configuration of the edge; the same object for every worker. */
export interface EdgeConfig {
  readonly host: string;
  /** `::` leaves IPv4 to `further`. */
  readonly onlyIpv6?: boolean | undefined;
  /** Addresses beside `host`. */
  readonly further?: readonly { readonly http: ListenPlace; readonly https: ListenPlace }[] | undefined;
  /** 0: any free port. */
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Threads that listen on the same ports. */
  readonly workers: number;
  /** Several workers listen on the same ports. */
  readonly reusePort: boolean;
  /** Descriptors that listen there already and become the thread's own; without them the edge opens its sockets. */
  readonly sockets?: ListeningSockets | undefined;
  /** Prefix of the edge's own header fields: `svc` gives `svc-ray`. */
  readonly vendorPrefix: string;
  /** Port of origins unless an origin rule sets one; 0 means the scheme's port. */
  readonly originPort: number;
  /** Networks in which origins are allowed although the addresses are not public. */
  readonly originAllow: readonly string[];
  /** This installation's listeners, which are refused as origins (kernel/net/operator-ports.ts). */
  readonly operatorPorts?: SharedArrayBuffer;
  /** Addresses of resolvers for names that are not ours, with a port unless it is 53. Empty: the system's resolvers. */
  readonly resolvers: readonly string[];
  /** DNS over HTTPS (RFC 8484): its host names, and the nameserver's port; 0 while that is unknown. */
  readonly doh: { readonly hosts: readonly string[]; readonly port: number };
  /** Port for requests to gateways' host names; 0 while it is unknown. */
  readonly gatewayPort: number;
  /** Port at which control of this machine has images; 0 while it is unknown. */
  readonly imagesPort: number;
  /** Networks of load balancers, whose connections begin with a PROXY header. */
  readonly proxyProtocolFrom: readonly string[];
  /** HTTP proxies in front of the edge, which name the visitor in a header field. */
  readonly trustedProxies: TrustedProxies;
  /** Memory for cached responses of this worker, in bytes. */
  readonly cacheMemoryBytesMax: number;
  /** Disk cache, in a directory that no other worker uses; null for none. */
  readonly cacheDisk: { readonly directory: string; readonly bytesMax: number } | null;
  /** Keys of all workers on the same ports, as of the worker's start. */
  readonly ticketKeys: TicketKeys;
  /** Counters of rate limits, in memory that all workers share (rules/rate-limit/counter-table.ts). */
  readonly counters: SharedArrayBuffer;
  /** The server with which other machines count, too; absent: each counts alone. */
  readonly sharedCounters?: CounterPlace;
  /** GeoIP databases, in memory that all workers share. */
  readonly places: GeoipDatabases;
  /** Contents of the operator's files for rules, in memory that all workers share. */
  readonly ruleMaterial: RuleMaterial;
  readonly limits: EdgeLimits;
}

/** Limits of the edge; counts are per thread. */
export interface EdgeLimits {
  /** Open connections of visitors; 0 means no limit, here and below. */
  readonly connectionsMax: number;
  /** Connections of one IPv4 address or IPv6 /64. */
  readonly connectionsPerAddressMax: number;
  /** From the first byte of a request head, or the start of the connection, to the end of the head. */
  readonly headTimeoutMs: number;
  /** Between two requests of one connection. */
  readonly idleTimeoutMs: number;
  /**
   * Readers of responses must take `progressBytesMin` in every window. The window is long because the kernel reports
   * progress in large steps.
   */
  readonly progressWindowMs: number;
  readonly progressBytesMin: number;
  /** A request body must bring `bodyBytesMin` in every window, and be complete within the timeout. */
  readonly bodyWindowMs: number;
  readonly bodyBytesMin: number;
  readonly bodyTimeoutMs: number;
  /** 0 means no limit. */
  readonly requestBodyBytesMax: number;
  /** Bytes of a request body that rules see, also after decompression, and bytes of all bodies kept for rules. */
  readonly ruleBodyBytesMax: number;
  readonly ruleBodyMemoryBytesMax: number;
  /** Without a byte either way on an upgraded connection. */
  readonly tunnelIdleTimeoutMs: number;
  /** Timeout of a connection to an origin, of its TLS handshake, and of a request that waits for a connection: each separately. */
  readonly connectTimeoutMs: number;
  /** How long an address that refused a connection is tried after the others. */
  readonly originRetryMs: number;
  /** From the end of the request to the response, and between two pieces of the response. */
  readonly responseTimeoutMs: number;
  /** Limits of an origin's response head: its bytes, and its fields. */
  readonly originHeadBytesMax: number;
  readonly originHeadFieldsMax: number;
  /** How long an idle connection stays open; a shorter time that an origin announces wins. */
  readonly originIdleTimeoutMs: number;
  readonly originConnectionsMax: number;
  /** Idle connections to all origins together. */
  readonly originIdleMax: number;
  /** Requests that wait for a connection to one origin. */
  readonly originQueueMax: number;
  /** If a request has waited this long, exchanges whose visitors have stalled as long are ended. */
  readonly originStallMs: number;
  readonly resolver: ResolverLimits;
  /** After a response that ends the connection, so that it arrives before the connection is reset. */
  readonly lingerMs: number;
  /** Longest wait for a response that another visitor requested. */
  readonly cacheWaitMs: number;
  /** Certificates with an open TLS context. */
  readonly contextsMax: number;
  /**
   * Limits of an HTTP/2 connection: concurrent requests, and bytes that each may send before the origin takes them, at
   * first and at most.
   */
  readonly http2StreamsMax: number;
  readonly http2WindowBytes: number;
  readonly http2WindowBytesMax: number;
  /** Limits of the growth of such windows, for a connection, an address and a thread. */
  readonly http2Windows: WindowLimits;
  /** Limit of an HTTP/2 head, counted as in RFC 9113 §6.5.2. The edge also refuses a head that is too large for HTTP/1.1. */
  readonly http2HeadBytesMax: number;
  /** Higher than for HTTP/1.1, because cookies may come in pieces, each a field. */
  readonly http2FieldsMax: number;
  /** Requests that one HTTP/2 connection may reset: at once, and further ones per second. */
  readonly http2ResetsMax: number;
  readonly http2ResetsPerSecond: number;
}

/** Limits of look-ups of origins by name. */
export interface ResolverLimits {
  /** Timeout of one look-up with all its servers and retries. */
  readonly timeoutMs: number;
  readonly lookupsMax: number;
  /** Look-ups that wait for their turn; further ones fail at once. */
  readonly queuedLookupsMax: number;
  readonly namesMax: number;
  /** Bounds of the TTL that is used. */
  readonly lifeMinMs: number;
  readonly lifeMaxMs: number;
  /** Fraction of its TTL after which an answer is refreshed on its next use. */
  readonly refreshAfter: number;
  /** How long the answer is kept that a name has no address. */
  readonly nothingMs: number;
  /** How long the last good answer is used while look-ups fail (RFC 8767 §4). */
  readonly staleMs: number;
  /** Pause between failing look-ups of a name: the first one, doubled each time up to the second. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
}

export const EDGE_LIMITS: EdgeLimits = {
  connectionsMax: 50_000,
  connectionsPerAddressMax: 1_000,
  headTimeoutMs: 10_000,
  idleTimeoutMs: 75_000,
  progressWindowMs: 60_000,
  progressBytesMin: 4096,
  bodyWindowMs: 20_000,
  bodyBytesMin: 5_000,
  bodyTimeoutMs: 3_600_000,
  requestBodyBytesMax: 104_857_600,
  ruleBodyBytesMax: 1_048_576,
  ruleBodyMemoryBytesMax: 268_435_456,
  tunnelIdleTimeoutMs: 600_000,
  connectTimeoutMs: 5_000,
  originRetryMs: 30_000,
  responseTimeoutMs: 100_000,
  originHeadBytesMax: 131_072,
  originHeadFieldsMax: 256,
  originIdleTimeoutMs: 30_000,
  originConnectionsMax: 512,
  originIdleMax: 8_192,
  originQueueMax: 1_000,
  originStallMs: 1_000,
  resolver: {
    timeoutMs: 5_000,
    lookupsMax: 64,
    queuedLookupsMax: 1_000,
    namesMax: 10_000,
    lifeMinMs: 5_000,
    lifeMaxMs: 300_000,
    refreshAfter: 0.8,
    nothingMs: 5_000,
    staleMs: 86_400_000,
    retryMinMs: 1_000,
    retryMaxMs: 30_000,
  },
  lingerMs: 2_000,
  cacheWaitMs: 5_000,
  contextsMax: 10_000,
  http2StreamsMax: 100,
  http2WindowBytes: 131_072,
  // Bytes in flight at 1 Gbit/s and a round trip of 60 ms.
  http2WindowBytesMax: 8_388_608,
  http2Windows: { connectionBytesMax: 16_777_216, addressBytesMax: 33_554_432, bytesMax: 134_217_728 },
  http2HeadBytesMax: 65_536,
  http2FieldsMax: 512,
  http2ResetsMax: 200,
  http2ResetsPerSecond: 50,
};
