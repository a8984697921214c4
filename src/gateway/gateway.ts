import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/seal.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import type { GatewayLogSink } from "#events/logs/entry.ts";
import type { EventSink } from "#events/rows.ts";
import type { Replica } from "#snapshot/feed.ts";
import { createAdmission } from "./admission.ts";
import type { GatewayConfig } from "./config.ts";
import { type GatewayErrorName, type Refusal, rawError, sendError } from "./errors.ts";
import { createCustomProviders } from "./custom-providers.ts";
import { createForwarder } from "./forwarder.ts";
import { createUpstreams } from "./providers.ts";
import { createRateLimits } from "./rate-limits.ts";
import { readSubprotocols } from "./realtime/subprotocols.ts";
import { createResponseFields } from "./response-fields.ts";

export interface GatewayDeps {
  readonly replica: Replica;
  readonly events: EventSink;
  /** Takes the rows of accepted requests with their bodies; without it `events` takes the rows. */
  readonly logs?: GatewayLogSink;
  /** Opens what travels sealed; without one, keys that gateways keep cannot be used, and no answer is kept on disk. */
  readonly sealer?: Sealer | undefined;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly config: GatewayConfig;
}

export interface Gateway {
  /** Resolves with the port once the gateway accepts connections; rejects when it cannot bind. */
  listen(): Promise<{ readonly port: number }>;
  /** Stops accepting, lets requests under way finish within the time, then cuts the rest. */
  close(timeoutMs: number): Promise<void>;
}

/** The AI gateway plane: one HTTP server in front, one pool of connections a provider behind. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { config, metrics } = deps;
  const upstreams = createUpstreams(config.providers, createCustomProviders({ replica: deps.replica, sealer: deps.sealer }));
  const admission = createAdmission({ ...deps, upstreams });
  const rateLimits = createRateLimits(deps);
  const forwarder = createForwarder({ ...deps, upstreams, rateLimits });
  const fields = createResponseFields(config.vendorPrefix, deps.clock);
  const active = metrics.gauge("selvedge_gateway_active_requests", "Gateway requests under way");
  let isDraining = false;

  const refuse = (req: IncomingMessage, res: ServerResponse, refusal: Refusal, retryAfterSeconds = 0): void => {
    countRefusal(metrics, refusal.name);
    // A body nobody reads would have to be taken in to reuse the connection; a large one is not worth it.
    const isLarge = Number(req.headers["content-length"] ?? 0) > config.limits.requestBufferBytes;
    const headers = fields.forRefusal(req.headers);
    if (retryAfterSeconds > 0) headers.push("retry-after", String(retryAfterSeconds));
    sendError(res, refusal, headers, isLarge);
  };

  const handle = (req: IncomingMessage, res: ServerResponse): void => {
    // Without a listener a connection error on an abandoned request would end the process.
    req.on("error", ignore);
    res.on("error", ignore);
    // RFC 9112 §3.2; Node itself would answer without a body.
    if (req.headers.host === undefined && req.httpVersion !== "1.0") return refuse(req, res, { name: "aig_bad_request" });
    if (active.value >= config.limits.requestsMax) return refuse(req, res, { name: "aig_overloaded" });
    const admitted = admission.decide(req);
    if (typeof admitted === "string") return refuse(req, res, { name: admitted });
    const waitSeconds = rateLimits.take(admitted.gateway);
    if (waitSeconds > 0) return refuse(req, res, { name: "aig_rate_limited" }, waitSeconds);
    active.value++;
    res.once("close", () => {
      active.value--;
      // A connection that was busy when the drain began is closed as soon as it is idle.
      if (isDraining) setImmediate(() => server.closeIdleConnections());
    });
    void forwarder.forward(req, res, admitted).then((reason) => {
      if (reason !== undefined) refuse(req, res, reason);
    });
  };

  const upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on("error", ignore);
    const refuseRaw = (refusal: Refusal): void => {
      countRefusal(metrics, refusal.name);
      socket.end(rawError(refusal, fields.forRefusal(req.headers)), () => socket.destroy());
    };
    const protocols = readSubprotocols(req.headers, config.vendorPrefix);
    if (protocols.token !== undefined) req.headers[`${config.vendorPrefix}-aig-authorization`] ??= `Bearer ${protocols.token}`;
    if (isDraining) return refuseRaw({ name: "aig_overloaded" });
    if (active.value >= config.limits.requestsMax) return refuseRaw({ name: "aig_overloaded" });
    const admitted = admission.decide(req);
    if (typeof admitted === "string") return refuseRaw({ name: admitted });
    if (rateLimits.take(admitted.gateway) > 0) return refuseRaw({ name: "aig_rate_limited" });
    active.value++;
    void forwarder.connect(req, socket, head, admitted, protocols).then((refusal) => {
      active.value--;
      if (refusal !== undefined) refuseRaw(refusal);
    });
  };

  const server = createFront(config, handle);
  server.on("upgrade", upgrade);
  // RFC 9110 §10.1.1: an expectation other than 100-continue, which nobody here can meet.
  server.on("checkExpectation", (req: IncomingMessage, res: ServerResponse) => refuse(req, res, { name: "aig_bad_request" }));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    countRefusal(metrics, "aig_bad_request");
    socket.end(rawError({ name: "aig_bad_request" }), () => socket.destroy());
  });

  return {
    listen: async () => {
      await forwarder.ready();
      return listenOn(server, config);
    },
    close: async (timeoutMs) => {
      isDraining = true;
      const limit = setTimeout(forwarder.cutSessions, timeoutMs);
      await closeWithin(server, timeoutMs);
      clearTimeout(limit);
      await forwarder.close();
    },
  };
}

function createFront({ limits, tls }: GatewayConfig, handle: RequestListener): Server {
  const options = {
    keepAliveTimeout: 65_000,
    requestTimeout: limits.requestTimeoutMs,
    headersTimeout: 10_000,
    connectionsCheckingInterval: 2_000,
    requireHostHeader: false,
    // RFC 9110 §7.8: any other upgrade is an offer, which is passed over; some clients make one with each request.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket",
  };
  if (tls === undefined) return createServer(options, handle);
  return createTlsServer({ ...options, cert: tls.certificate, key: tls.key, minVersion: "TLSv1.2" }, handle);
}

const ignore = (): void => undefined;

function countRefusal(metrics: MetricRegistry, reason: GatewayErrorName): void {
  metrics.counter("selvedge_gateway_refused_total", "Gateway requests refused before any provider was asked", {
    reason: reason.slice("aig_".length),
  }).value++;
}

function listenOn(server: Server, config: GatewayConfig): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: config.host, port: config.port, backlog: 1024 }, () => {
      server.off("error", reject);
      resolve({ port: (server.address() as AddressInfo).port });
    });
  });
}

function closeWithin(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), timeoutMs);
    server.close(() => {
      clearTimeout(limit);
      resolve();
    });
    server.closeIdleConnections();
  });
}
