import { createClientAddresses } from "#kernel/net/client-addresses.ts";
import { createConnectionPlaces } from "#kernel/process/connection-places.ts";
import type { Duplex } from "node:stream";
import type { GatewayDeps } from "./gateway-deps.ts";
import { begins, CHAT } from "#kernel/process/heartbeat.ts";
import { createHostGate, type HostGate } from "#kernel/net/host-gate.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { GatewayFront, ListeningSockets } from "#kernel/process/worker-protocol.ts";
import { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import { createAdmission } from "#gateway/auth/admission.ts";
import type { AnswerSink } from "#gateway/listen/response-writer.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import { createEdgeRequests } from "#gateway/listen/edge-request.ts";
import { createFront } from "#gateway/listen/listener.ts";
import { type GatewayErrorName, type Refusal, rawError } from "#gateway/http/errors.ts";
import { createHeaderRules } from "#gateway/http/headers.ts";
import { sendError } from "#gateway/listen/send-error.ts";
import { createCustomProviders } from "#gateway/providers/custom-providers.ts";
import { createForwarder } from "./forwarder.ts";
import { createUpstreams } from "#gateway/providers/providers.ts";
import { createRateLimits } from "#gateway/limits/rate-limits.ts";
import { readSubprotocols } from "./realtime/subprotocols.ts";
import { isPreflight, OPEN_TO_PAGES, preflightFields } from "#gateway/request/cross-origin.ts";
import { createResponseFields } from "#gateway/request/response-fields.ts";
import { createUniversalSockets } from "#gateway/realtime/universal-socket.ts";

export interface Gateway {
  /**
   * Resolves with the clients' port and the edge's (0 if there is none) once the gateway accepts connections; rejects if
   * it cannot bind.
   */
  listen(): Promise<{ readonly port: number; readonly edgePort: number }>;
  /** The descriptor of the clients' listener. */
  sockets(): ListeningSockets;
  /** The ports of all its addresses, by the same names. */
  ports(): ListeningSockets;
  /** Existing connections keep their certificate; new ones get the new one. TLS cannot be switched on or off. */
  useFront(settings: GatewayFront): void;
  /** Stops accepting, lets requests under way finish within the time, then cuts the rest. `idleMs`: see DrainTimes. */
  close(timeoutMs: number, idleMs?: number): Promise<void>;
}

/** The AI gateway plane: one HTTP server for clients, and a pool of connections for each provider. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { config, metrics } = deps;
  const upstreams = createUpstreams(config.providers, createCustomProviders({ replica: deps.replica, sealer: deps.sealer }));
  const admission = createAdmission({ ...deps, upstreams });
  const rateLimits = createRateLimits(deps);
  const loop = deps.socketCalls ? new SocketLoop(deps.socketCalls, deps.onError ?? ignore) : null;
  const rules = createHeaderRules(config.vendorPrefix);
  const forwarder = createForwarder({ ...deps, loop, upstreams, rateLimits, rules });
  const fields = createResponseFields(config.vendorPrefix, deps.clock);
  const active = metrics.gauge("selvedge_gateway_active_requests", "Gateway requests in progress");
  let isDraining = false;

  const over = (): void => void active.value--;

  const refuse = (req: ClientRequest, answer: AnswerSink, refusal: Refusal, retryAfterSeconds = 0): void => {
    countRefusal(metrics, refusal.name);
    // To reuse the connection, the gateway would have to read the rest of the body; for a large one that is not worth it.
    const isLarge = !req.isComplete() && !(Number(req.headers["content-length"]) <= config.limits.requestBufferBytes);
    const headers = fields.forRefusal(req.headers);
    if (req.headers.origin !== undefined && admission.isOpenToPages(req)) headers.push(...OPEN_TO_PAGES);
    if (retryAfterSeconds > 0) headers.push("retry-after", String(retryAfterSeconds));
    sendError(answer, refusal, headers, isLarge);
  };

  let allowsHost: HostGate = config.allowedHosts ? createHostGate(config.allowedHosts) : () => true;
  /** Only for clients that connect directly: the edge has already chosen the gateway by host name. */
  const isMisdirected = ({ headers: { host } }: ClientRequest): boolean =>
    host !== undefined && !allowsHost(host) && !admission.isDomain(host);

  const onRequest = (req: ClientRequest, answer: AnswerSink): void => {
    // HTTP/1.1 requires Host (RFC 9112 §3.2).
    if (req.headers.host === undefined && req.minorVersion === 1) return refuse(req, answer, { name: "aig_bad_request" });
    if (rules.isLoop(req.headers)) return refuse(req, answer, LOOP);
    if (active.value >= config.limits.requestsMax) return refuse(req, answer, { name: "aig_overloaded" });
    if (isPreflight(req.method, req.headers) && admission.isOpenToPages(req)) {
      answer.begin(204, preflightFields(req.headers));
      return answer.end();
    }
    const admitted = admission.decide(req);
    if ("name" in admitted) return refuse(req, answer, admitted);
    const waitSeconds = rateLimits.take(admitted.gateway);
    if (waitSeconds > 0) return refuse(req, answer, { name: "aig_rate_limited" }, waitSeconds);
    active.value++;
    begins(CHAT, admitted.gateway.gateway_id);
    answer.onOver = over;
    void forwarder.forward(req, answer, admitted).then((reason) => {
      if (reason !== undefined) refuse(req, answer, reason);
    });
  };

  const universal = createUniversalSockets({
    vendorPrefix: config.vendorPrefix,
    messageBytesMax: config.limits.requestWholeBytesMax,
    onRequest,
  });

  const onUpgrade = (req: ClientRequest, socket: Duplex, head: Buffer): void => {
    socket.on("error", ignore);
    const refuseRaw = (refusal: Refusal): void => {
      countRefusal(metrics, refusal.name);
      socket.end(rawError(refusal, fields.forRefusal(req.headers)), () => socket.destroy());
    };
    const protocols = readSubprotocols(req.headers, config.vendorPrefix);
    if (protocols.token !== undefined) req.headers[`${config.vendorPrefix}-aig-authorization`] ??= `Bearer ${protocols.token}`;
    if (rules.isLoop(req.headers)) return refuseRaw(LOOP);
    if (isDraining) return refuseRaw({ name: "aig_overloaded" });
    if (active.value >= config.limits.requestsMax) return refuseRaw({ name: "aig_overloaded" });
    const admitted = admission.decide(req);
    if ("name" in admitted) return refuseRaw(admitted);
    if (admitted.route.kind === "universal") {
      const refusal = universal.accept(req, socket, head, protocols);
      return refusal === undefined ? undefined : refuseRaw(refusal);
    }
    if (rateLimits.take(admitted.gateway) > 0) return refuseRaw({ name: "aig_rate_limited" });
    active.value++;
    void forwarder.connect(req, socket, head, admitted, protocols).then((refusal) => {
      active.value--;
      if (refusal !== undefined) refuseRaw(refusal);
    });
  };

  const refuseMalformed = (answer: AnswerSink): void => {
    countRefusal(metrics, "aig_bad_request");
    sendError(answer, { name: "aig_bad_request" }, [], true);
  };
  const { clock, onError: report = ignore } = deps;
  const proxies = config.trustedProxies === undefined ? null : createClientAddresses(config.trustedProxies);
  const isShared = (address: string): boolean => proxies?.trusts(address) === true;
  const places = createConnectionPlaces({ metrics, clock, listener: "gateway", ...config.limits, isShared });
  const front = createFront({
    ...{ clock, loop, config, places, refuse: refuseMalformed, report },
    onRequest: (req, answer) => (isMisdirected(req) ? refuse(req, answer, MISDIRECTED) : onRequest(req, answer)),
    onUpgrade: (req, socket, head) => {
      if (!isMisdirected(req)) return onUpgrade(req, socket, head);
      socket.on("error", ignore);
      countRefusal(metrics, MISDIRECTED.name);
      socket.end(rawError(MISDIRECTED, fields.forRefusal(req.headers)), () => socket.destroy());
    },
  });
  const fromEdge = createEdgeRequests(config.vendorPrefix);
  const edgeFront =
    config.edgePort === undefined
      ? null
      : createFront({
          ...{ clock, loop, places: null, refuse: refuseMalformed, report },
          config: { host: "127.0.0.1", port: config.edgePort, limits: config.limits },
          onRequest: (req, answer) => onRequest(fromEdge(req), answer),
          onUpgrade: (req, socket, head) => onUpgrade(fromEdge(req), socket, head),
        });

  return {
    listen: async () => {
      await forwarder.ready();
      const { port } = await front.listen();
      return { port, edgePort: (await edgeFront?.listen())?.port ?? 0 };
    },
    useFront: (settings) => {
      front.use(settings);
      if (settings.allowedHosts !== undefined) allowsHost = createHostGate(settings.allowedHosts);
    },
    ports: front.ports,
    sockets: front.sockets,
    close: async (timeoutMs, idleMs = 0) => {
      const refuseSockets = (): void => {
        isDraining = true;
        universal.close(false);
      };
      const idle = idleMs === 0 ? void refuseSockets() : setTimeout(refuseSockets, idleMs);
      const limit = setTimeout(() => {
        universal.close(true);
        forwarder.cutSessions();
      }, timeoutMs);
      await Promise.all([front.close(timeoutMs, idleMs), edgeFront?.close(timeoutMs, idleMs)]);
      clearTimeout(idle);
      refuseSockets();
      clearTimeout(limit);
      await forwarder.close();
    },
  };
}

const MISDIRECTED = { name: "aig_misdirected_host" } as const;

const LOOP = { name: "aig_loop" } as const;

const ignore = (): void => undefined;

function countRefusal(metrics: MetricRegistry, reason: GatewayErrorName): void {
  metrics.counter("selvedge_gateway_refused_total", "Gateway requests refused before they were sent to a provider", {
    reason: reason.slice("aig_".length),
  }).value++;
}
