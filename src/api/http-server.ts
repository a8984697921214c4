import type { IncomingMessage, RequestListener } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Clock } from "#kernel/clock.ts";
import { limitRequestsAhead } from "#kernel/net/requests-ahead.ts";
import { admitConnection, alwaysBusy, type ConnectionPlaces } from "#kernel/process/connection-places.ts";
import { createIdleConnections } from "./connection/idle-connections.ts";
import { inTurns } from "./connection/request-turns.ts";
import { requestBytes } from "./connection/request-bytes.ts";
import { createSlowBodies } from "./connection/slow-bodies.ts";
import { badHeader } from "./auth.ts";
import { answerBrokenRequest, answerExpectation, watchAnswer } from "./connection/broken-request.ts";
import { isForm, readForm } from "./form-body.ts";
import { readJsonBody } from "./json-body.ts";
import type { RequestState } from "./request.ts";

const BODY_BYTES_MAX = 5 * 1024 * 1024;
const HEADER_BYTES_MAX = 16 * 1024;
/** Limit of a whole request; slow requests end long before (connection/slow-bodies.ts). */
const REQUEST_TIMEOUT_MS = 60 * 60_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Node's default interval is 30 s, which would add as much to each limit. */
const TIMEOUTS_CHECKED_EVERY_MS = 2_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const UNREAD_TIMEOUT_MS = 60_000;

interface HttpConfig {
  /** PEM texts; absent: plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Limit of bodies of routes that have no other one; absent: `BODY_BYTES_MAX`. */
  readonly bodyBytesMax?: number;
}

type FrameworkErrors = (error: Error, request: FastifyRequest, reply: FastifyReply) => void;

const withoutSchemas = (): never => {
  throw new Error("no route is given to the framework with a schema");
};

/** The framework and its HTTP server, with the limits of connections, requests and bodies. */
export function createHttp(
  { tls, bodyBytesMax }: HttpConfig,
  clock: Clock,
  places: ConnectionPlaces,
  frameworkErrors: FrameworkErrors,
): FastifyInstance {
  // Node would answer a missing Host without the envelope.
  const http = {
    maxHeaderSize: HEADER_BYTES_MAX,
    requireHostHeader: false,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUTS_CHECKED_EVERY_MS,
  };
  const bodyLimit = bodyBytesMax ?? BODY_BYTES_MAX;
  const app = Fastify({
    logger: false,
    bodyLimit,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: "idle",
    // RFC 9110 §9.1: HEAD wherever GET is.
    exposeHeadRoutes: true,
    frameworkErrors,
    return503OnClosing: false,
    // Routes are checked by our own validators; the framework's are large and would be loaded nevertheless.
    schemaController: { compilersFactory: { buildValidator: withoutSchemas, buildSerializer: withoutSchemas } },
    clientErrorHandler: answerBrokenRequest,
    // Clients append slashes to paths and double them (contract.md §3, "Input tolerance").
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 256 },
    ...(tls ? { https: { ...http, cert: tls.certificate, key: tls.key, handshakeTimeout: HEADERS_TIMEOUT_MS } } : { http }),
  } as Parameters<typeof Fastify>[0]) as unknown as FastifyInstance;
  for (const handler of app.server.listeners("request") as RequestListener[])
    app.server.off("request", handler).on("request", inTurns(handler));
  limitRequestsAhead(app.server);
  app.server.prependListener("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    if (!admitConnection(places, remoteAddress, alwaysBusy(socket), (closed) => socket.once("close", closed))) socket.destroy();
  });
  // Nothing can be sent before the handshake, so a response would never end the connection.
  app.server.prependListener("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
  app.server.on("checkExpectation", answerExpectation);
  app.server.on("request", watchAnswer);
  const bodies = createSlowBodies(clock);
  app.server.on("request", bodies.watch);
  const connections = createIdleConnections(clock, { idleMs: KEEP_ALIVE_TIMEOUT_MS, unreadMs: UNREAD_TIMEOUT_MS });
  app.server.on(tls ? "secureConnection" : "connection", connections.opened);
  app.server.on("request", connections.requested);
  const sweeping = setInterval(() => {
    bodies.sweep();
    connections.sweep();
  }, TIMEOUTS_CHECKED_EVERY_MS).unref();
  app.addHook("onClose", async () => clearInterval(sweeping));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: IncomingMessage) => {
    const bytesMax = bodyOf(request)?.bytesMax ?? bodyLimit;
    return readBody(request, await requestBytes(payload, request.headers["content-length"], bytesMax));
  });
  return app;
}

const bodyOf = (request: FastifyRequest) => request.getDecorator<RequestState | null>("state")?.endpoint?.body;

function readBody(request: FastifyRequest, bytes: Buffer): unknown {
  const { headers } = request;
  const { formFieldBytesMax = null, fileField, valuesMax } = bodyOf(request) ?? {};
  if (formFieldBytesMax === null) return readJsonBody(bytes, headers, valuesMax);
  if (isForm(headers)) return readForm(bytes, headers, formFieldBytesMax, fileField);
  // A body that is not JSON either is reported as such first, as everywhere.
  if (readJsonBody(bytes, headers) === undefined) return undefined;
  throw badHeader(6105, "Invalid Content-Type header, valid values are multipart/form-data");
}
