import type { ConnectionLimits } from "#kernel/process/connection-places.ts";
import type { CounterPlace } from "#wire/redis/counter-server.ts";
import type { MessagePort } from "node:worker_threads";
import type { TrustedProxies } from "#kernel/net/client-addresses.ts";
import type { ListenPlace } from "#kernel/net/listen-place.ts";
import type { GatewayFront, ListeningSockets } from "#kernel/process/worker-protocol.ts";

/** Start options of the gateway plane; plain data, which can be sent to a worker thread. */
export interface GatewayConfig extends GatewayFront {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** `::` leaves IPv4 to `further`. */
  readonly onlyIpv6?: boolean | undefined;
  /** Addresses beside `host`. */
  readonly further?: readonly ListenPlace[] | undefined;
  /** Descriptors that listen there already, `http` and `http+2`, and become the thread's own. */
  readonly sockets?: ListeningSockets | undefined;
  /** Loopback port on which the edge forwards requests for host names of gateways; 0: any free port; absent: none. */
  readonly edgePort?: number;
  /** HTTP proxies in front of the gateway, which name the client in a header field; absent: none. */
  readonly trustedProxies?: TrustedProxies;
  /** Prefix of the project's header names: `svc` gives `svc-aig-authorization`. */
  readonly vendorPrefix: string;
  /** Base addresses by provider name; they replace those of the table. */
  readonly providers: Readonly<Record<string, string>>;
  /** Directory for stored answers; absent: memory only. */
  readonly cacheDisk?: { readonly directory: string; readonly bytesMax: number };
  /** Networks, beside the public ones, in which customers' providers may be. */
  readonly providerAllow?: readonly string[];
  /** Listeners that cannot be providers (kernel/net/operator-ports.ts). */
  readonly operatorPorts?: SharedArrayBuffer;
  /** File that keeps spent amounts across restarts; absent: memory only. */
  readonly spendJournal?: string;
  /** The server with which other machines count, too; absent: each counts alone. */
  readonly sharedCounters?: CounterPlace;
  /** The model that guardrails use; absent: guardrails cannot judge. */
  readonly guardrail?: GuardrailModel;
  readonly limits: GatewayLimits;
}

/** A model that classifies hazards, at a provider of the table. */
export interface GuardrailModel {
  readonly provider: string;
  readonly model: string;
  /** Empty for a provider that needs none. */
  readonly key: string;
}

/** Bounds of the memory and time that one client or provider can take. */
export interface GatewayLimits extends ConnectionLimits {
  /** Requests under way at once; more are answered 503. */
  readonly requestsMax: number;
  /** Largest request body; more is answered 413. */
  readonly requestBytesMax: number;
  /** A request body up to this size is read whole and sent in one write; a larger one is streamed. */
  readonly requestBufferBytes: number;
  /** The same for a request whose body the gateway must inspect, send again or store an answer for. */
  readonly requestWholeBytesMax: number;
  /** Bytes of request bodies in memory, of all requests together; a client or account may have as much as is free. */
  readonly requestMemoryBytesMax: number;
  /** An answer up to this size is sent in one write; a larger one, or one of unknown length, is streamed. */
  readonly responseBufferBytes: number;
  /** Bytes that a slow client may be behind before the gateway stops reading from the provider. */
  readonly backlogBytesMax: number;
  readonly upstreamConnectionsMax: number;
  readonly connectTimeoutMs: number;
  /** Until the provider's first byte; long, because a model may think for minutes. */
  readonly firstByteTimeoutMs: number;
  /** Between two chunks of a provider's answer. */
  readonly idleTimeoutMs: number;
  /** Until a client has sent its whole request. */
  readonly requestTimeoutMs: number;
  /** Provider answers kept in memory. */
  readonly cacheMemoryBytesMax: number;
  /** Milliseconds for which spans are collected before they are sent to a customer's endpoint. */
  readonly spanDelayMs: number;
  /** Delay before an endpoint is tried again; doubled each time. */
  readonly spanRetryDelayMs: number;
}

export const GATEWAY_LIMITS: GatewayLimits = {
  connectionsMax: 50_000,
  connectionsPerAddressMax: 4_000,
  requestsMax: 20_000,
  requestBytesMax: 100 * 1024 * 1024,
  requestBufferBytes: 1024 * 1024,
  requestWholeBytesMax: 25 * 1024 * 1024,
  requestMemoryBytesMax: 512 * 1024 * 1024,
  responseBufferBytes: 64 * 1024,
  backlogBytesMax: 1024 * 1024,
  // A stream holds a connection for as long as it lasts.
  upstreamConnectionsMax: 16_384,
  connectTimeoutMs: 10_000,
  firstByteTimeoutMs: 600_000,
  idleTimeoutMs: 300_000,
  requestTimeoutMs: 300_000,
  cacheMemoryBytesMax: 64 * 1024 * 1024,
  spanDelayMs: 1_000,
  spanRetryDelayMs: 1_000,
};

/** `workerData` of gateway/worker.ts; both ports are transferred. */
export interface GatewayWorkerData {
  /** The publisher's name for this plane. */
  readonly name: string;
  readonly config: GatewayConfig;
  /** To the publisher of snapshots. */
  readonly feed: MessagePort;
  /** To the writer of events. */
  readonly events: MessagePort;
  readonly lastGoodPath: string;
  /** File with the key that decrypts sealed values. */
  readonly sealKeyPath: string;
  /** Directory for the segments of the log. */
  readonly logSegments: string;
}
