import type { MessagePort } from "node:worker_threads";
import type { TrustedProxies } from "#kernel/net/client-addresses.ts";
import type { GatewayFront } from "#kernel/process/worker-protocol.ts";

/** What the gateway plane is told at its start; plain data, so it crosses to a worker thread. */
export interface GatewayConfig extends GatewayFront {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Where the edge hands on requests for host names of gateways, on loopback; 0: any free port, absent: nowhere. */
  readonly edgePort?: number;
  /** HTTP proxies in front, which name the client in a header field; absent: none. */
  readonly trustedProxies?: TrustedProxies;
  /** Of our header names: `svc` gives `svc-aig-authorization`. */
  readonly vendorPrefix: string;
  /** Base addresses by provider name that replace the table's. */
  readonly providers: Readonly<Record<string, string>>;
  /** Where answers are kept beyond memory; absent: nowhere. */
  readonly cacheDisk?: { readonly directory: string; readonly bytesMax: number };
  /** Networks in which providers of customers may be, beside public ones. */
  readonly providerAllow?: readonly string[];
  /** Listeners that no provider is (kernel/net/operator-ports.ts). */
  readonly operatorPorts?: SharedArrayBuffer;
  /** File in which spent amounts outlive the process; absent: nowhere. */
  readonly spendJournal?: string;
  /** By which guardrails judge; absent: nothing can be judged. */
  readonly guardrail?: GuardrailModel;
  readonly limits: GatewayLimits;
}

/** A model that tells hazards, at a provider of the table. */
export interface GuardrailModel {
  readonly provider: string;
  readonly model: string;
  /** Empty for a provider that asks for none. */
  readonly key: string;
}

/** Bounds of what one client or provider can make the gateway hold or wait for. */
export interface GatewayLimits {
  /** Requests under way at once; more are answered 503. */
  readonly requestsMax: number;
  /** Largest request body; more is answered 413. */
  readonly requestBytesMax: number;
  /** A request body up to this size is read whole and sent in one write; a larger one is streamed. */
  readonly requestBufferBytes: number;
  /** The same for a request whose body the gateway must look into, send again or keep an answer for. */
  readonly requestWholeBytesMax: number;
  /** An answer up to this size is sent in one write; a larger or unmeasured one is streamed. */
  readonly responseBufferBytes: number;
  /** A slow client may be this far behind before the provider is made to wait. */
  readonly backlogBytesMax: number;
  readonly upstreamConnectionsMax: number;
  readonly connectTimeoutMs: number;
  /** Until the provider's first byte: long, since a model may think for minutes. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of a provider's answer. */
  readonly idleTimeoutMs: number;
  /** Until a client has sent its whole request. */
  readonly requestTimeoutMs: number;
  /** Provider answers kept in memory. */
  readonly cacheMemoryBytesMax: number;
  /** For how long spans are gathered before they are sent to a customer's endpoint. */
  readonly spanDelayMs: number;
  /** Before an endpoint is asked again; doubled each time. */
  readonly spanRetryDelayMs: number;
}

export const GATEWAY_LIMITS: GatewayLimits = {
  requestsMax: 20_000,
  requestBytesMax: 100 * 1024 * 1024,
  requestBufferBytes: 1024 * 1024,
  requestWholeBytesMax: 25 * 1024 * 1024,
  responseBufferBytes: 64 * 1024,
  backlogBytesMax: 1024 * 1024,
  // A stream holds one for as long as it lasts.
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
  /** How the publisher names this plane. */
  readonly name: string;
  readonly config: GatewayConfig;
  /** To the publisher of snapshots. */
  readonly feed: MessagePort;
  /** To the writer of events. */
  readonly events: MessagePort;
  readonly lastGoodPath: string;
  /** File with the key that opens what travels sealed. */
  readonly sealKeyPath: string;
  /** Directory for the segments of the log. */
  readonly logSegments: string;
}
