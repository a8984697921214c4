import type { TrustedProxies } from "#kernel/net/client-addresses.ts";
import type { RuleMaterial, TicketKeys } from "#kernel/process/worker-protocol.ts";
import type { WindowLimits } from "#wire/http2/window-budget.ts";
import type { PlaceDatabases } from "./geoip.ts";

/** What the edge speaks over TLS, by ALPN identifiers (RFC 7301), the best first. */
export const EDGE_ALPN: readonly string[] = ["h2", "http/1.1"];

/** What the operator decides about the edge; one object for every worker. */
export interface EdgeConfig {
  readonly host: string;
  /** 0 takes any free port. */
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Several workers listen on the same ports. */
  readonly reusePort: boolean;
  /** Descriptors that listen there already and become the thread's own; without them it opens what it needs. */
  readonly sockets?: EdgeSockets | undefined;
  /** Names our own header fields: `svc` gives `svc-ray`. */
  readonly vendorPrefix: string;
  /** Where origins listen unless an origin rule says otherwise; 0 is the scheme's port. */
  readonly originPort: number;
  /** Blocks that origins may be in although they are not public addresses. */
  readonly originAllow: readonly string[];
  /** Listeners that no origin is (kernel/net/operator-ports.ts). */
  readonly operatorPorts?: SharedArrayBuffer;
  /** Addresses of the resolvers that know names elsewhere, with a port where it is not 53; none: those of the system. */
  readonly resolvers: readonly string[];
  /** DNS over HTTPS (RFC 8484): the names it is served under, and the nameserver's port; 0 while that is not known. */
  readonly doh: { readonly hosts: readonly string[]; readonly port: number };
  /** Where requests for host names of gateways are handed on; 0 while that is not known. */
  readonly gatewayPort: number;
  /** Networks of balancers, whose connections begin with a PROXY header. */
  readonly proxyProtocolFrom: readonly string[];
  /** HTTP proxies in front, which name the visitor in a header field. */
  readonly trustedProxies: TrustedProxies;
  /** Bytes of memory for cached responses of this worker. */
  readonly cacheMemoryBytesMax: number;
  /** The same on disk, in a directory that no other worker uses; null: nothing is kept there. */
  readonly cacheDisk: { readonly directory: string; readonly bytesMax: number } | null;
  /** Of all workers on the same ports, as they are when the worker starts. */
  readonly ticketKeys: TicketKeys;
  /** What rate limits count in, the same memory for all workers (rules/rate-limit/counter-table.ts). */
  readonly counters: SharedArrayBuffer;
  /** Databases of places, the same memory for all workers. */
  readonly places: PlaceDatabases;
  /** From the operator's files for rules, the same memory for all workers. */
  readonly ruleMaterial: RuleMaterial;
  readonly limits: EdgeLimits;
}

export interface EdgeSockets {
  readonly http: number;
  readonly https: number;
}

/** Those of one thread, where they count something. */
export interface EdgeLimits {
  /** Open connections of visitors; 0 is no limit, here and below. */
  readonly connectionsMax: number;
  /** Of one IPv4 address or IPv6 /64. */
  readonly connectionsPerAddressMax: number;
  /** From the first byte of a request head, or from the connection, to the head's end. */
  readonly headTimeoutMs: number;
  /** Between two requests of one connection. */
  readonly idleTimeoutMs: number;
  /** Readers of responses must take this many bytes in every window. The kernel tells in large steps, hence the long one. */
  readonly progressWindowMs: number;
  readonly progressBytesMin: number;
  /** Request bodies must come with this many bytes in every window, and whole within the timeout. */
  readonly bodyWindowMs: number;
  readonly bodyBytesMin: number;
  readonly bodyTimeoutMs: number;
  /** 0 is no limit. */
  readonly requestBodyBytesMax: number;
  /** Bytes of a request body, or of what it decompresses to, that rules see, and of all that are kept for rules at once. */
  readonly ruleBodyBytesMax: number;
  readonly ruleBodyMemoryBytesMax: number;
  /** Without a byte either way on an upgraded connection. */
  readonly tunnelIdleTimeoutMs: number;
  /** For a connection to an origin, as long again for its TLS handshake, and for a request to wait for one. */
  readonly connectTimeoutMs: number;
  /** How long an address that took no connection is tried after the others. */
  readonly originRetryMs: number;
  /** From the end of the request to the response, and between two pieces of the response. */
  readonly responseTimeoutMs: number;
  /** Of an origin's head: its bytes, and how many fields it has. */
  readonly originHeadBytesMax: number;
  readonly originHeadFieldsMax: number;
  /** Kept open without a request; an origin that announces less is believed. */
  readonly originIdleTimeoutMs: number;
  readonly originConnectionsMax: number;
  /** Kept open without a request, to all origins together. */
  readonly originIdleMax: number;
  /** Requests that wait for a connection to one origin. */
  readonly originQueueMax: number;
  /** While a request has waited for so long, exchanges whose visitors have stalled for as long end. */
  readonly originStallMs: number;
  readonly resolver: ResolverLimits;
  /** After an answer that ends the connection, so that it arrives before the connection is reset. */
  readonly lingerMs: number;
  /** Nobody waits longer for a response that somebody else asked for. */
  readonly cacheWaitMs: number;
  /** Certificates with an open TLS context. */
  readonly contextsMax: number;
  /** Of one HTTP/2 connection: requests at once, and bytes that each may send ahead of its origin, at first and at most. */
  readonly http2StreamsMax: number;
  readonly http2WindowBytes: number;
  readonly http2WindowBytesMax: number;
  /** What such windows may have grown by, of a connection, of an address and of a thread. */
  readonly http2Windows: WindowLimits;
  /** Of one HTTP/2 head, as RFC 9113 §6.5.2 counts; what is too large for HTTP/1.1 is refused all the same. */
  readonly http2HeadBytesMax: number;
  /** Cookies come in pieces, each a field. */
  readonly http2FieldsMax: number;
  /** Requests that one HTTP/2 connection may take back: so many at once, and so many more in each second. */
  readonly http2ResetsMax: number;
  readonly http2ResetsPerSecond: number;
}

/** Bounds of looking up origins that are names elsewhere. */
export interface ResolverLimits {
  /** For one look-up with all its servers and retries. */
  readonly timeoutMs: number;
  readonly lookupsMax: number;
  /** Look-ups that wait for their turn; more fail at once. */
  readonly queuedLookupsMax: number;
  readonly namesMax: number;
  /** The least and the most that is believed of a TTL. */
  readonly lifeMinMs: number;
  readonly lifeMaxMs: number;
  /** For so much of its life an answer is left alone; then it is renewed when somebody asks. */
  readonly refreshAfter: number;
  /** How long it is believed that a name has no address. */
  readonly nothingMs: number;
  /** How long the last good answer stands in while look-ups fail (RFC 8767 §4). */
  readonly staleMs: number;
  /** Between two look-ups of a name that fail; doubled up to the other. */
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
  // What is on its way at 1 Gbit/s and 60 ms of round trip.
  http2WindowBytesMax: 8_388_608,
  http2Windows: { connectionBytesMax: 16_777_216, addressBytesMax: 33_554_432, bytesMax: 134_217_728 },
  http2HeadBytesMax: 65_536,
  http2FieldsMax: 512,
  http2ResetsMax: 200,
  http2ResetsPerSecond: 50,
};
