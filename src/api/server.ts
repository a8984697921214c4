import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Control } from "#control/control.ts";
import { createCallCounter, type DeprecatedCalls, type ShapedCalls } from "#deprecations/call-counter.ts";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { createDeprecationEngine } from "#deprecations/engine.ts";
import { DEPRECATIONS } from "#deprecations/table.ts";
import type { Clock } from "#kernel/clock.ts";
import { createClientAddresses, type TrustedProxies } from "#kernel/net/client-addresses.ts";
import { type ErrorItem, PlatformError } from "#kernel/errors/errors.ts";
import { requestedHost, type HostGate, hostFieldsOf } from "#kernel/net/host-gate.ts";
import { newRayId } from "#kernel/crypto/ids.ts";
import { type ConnectionLimits, createConnectionPlaces } from "#kernel/process/connection-places.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { createAdmission, type RouteLimits } from "./admission.ts";
import { type ApiDateConfig, type ApiDay, createApiDate } from "./api-date.ts";
import { createDashboardFiles } from "#api/dashboard/dashboard-files.ts";
import { DOCS_PATH } from "./docs/doc-layout.ts";
import { addDocs } from "./docs/doc-routes.ts";
import { failureEnvelope } from "./envelope.ts";
import type { Settled } from "./execute.ts";
import { type Failure, toFailure } from "./failure.ts";
import { addPublicDocuments } from "./openapi/public-documents.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import { FAILURES_PER_ADDRESS, type RateLimitConfig } from "#kernel/net/rate-limiter.ts";
import { IMAGE_UPLOAD_LIMIT } from "./images/image-uploads.ts";
import { addRoutes, type RequestState } from "./request.ts";
import type { Route } from "./route.ts";
import { addProviderSignIn } from "./sign-in/provider-sign-in.ts";
import { addSignIn } from "./sign-in/sign-in.ts";
import { standardHeaders } from "./standard-headers.ts";
import { createHttp } from "./http-server.ts";
import { addRequestMetrics } from "./request-metrics.ts";

/** The log of the API: identifiers and outcomes, never a body, a header or a query. */
export interface ApiLog {
  debug(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ApiConfig {
  /** Prefix of our response headers: `svc-ray`. */
  readonly vendorPrefix: string;
  readonly date: ApiDateConfig;
  /** Limit of requests per token. */
  readonly rateLimit: RateLimitConfig;
  /** Limit of failed authentications per client address. */
  readonly failureLimit?: RateLimitConfig;
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** HTTP proxies in front, which name the client in a header field; absent: none. */
  readonly trustedProxies?: TrustedProxies;
  /** Whether requests with this Host field are for this API; absent: all are. */
  readonly allowsHost?: HostGate;
  /** Whether the OpenAPI document is public; true by default. */
  readonly hasOpenApi?: () => boolean;
  /** Whether the form of calls is recorded; by default it is. */
  readonly recordsCalls?: () => boolean;
  /** Limits of connections; absent: `API_CONNECTIONS`. */
  readonly connections?: ConnectionLimits;
  readonly bodyBytesMax?: number;
  /** The folder of the dashboard's built files, which are served at `/`. */
  readonly dashboard?: string;
  /** The folder of the documentation, which is served at `/docs` if the OpenAPI document is public. */
  readonly docs?: string;
  /** Limits of routes that have separate ones. */
  readonly limits?: RouteLimits;
}

export interface ApiDeps {
  /** Limits that other processes with an API count, too; absent: there are none. */
  readonly sharedLimits?: SharedLimits;
  readonly control: Control;
  readonly routes: readonly Route[];
  /** The table of SPEC 9 unless a test passes another one. */
  readonly deprecations?: readonly Deprecation[];
  readonly clock: Clock;
  readonly settled: Settled;
  readonly log: ApiLog;
  readonly metrics: MetricRegistry;
  readonly config: ApiConfig;
}

export const BASE_PATH = "/client/v4";

/** A client needs few connections: browsers open six, and follow events on some more. */
export const API_CONNECTIONS: ConnectionLimits = { connectionsMax: 10_000, connectionsPerAddressMax: 500 };
const COUNTS_WRITTEN_EVERY_MS = 10_000;
const JSON_TYPE = "application/json";
/** dns.md, "Import". */
const CONTENT_TOO_LARGE = 413;
const LIMITS: RouteLimits = {
  dns_import: { bodyBytesMax: 256 * 1024, rateLimit: { requests: 3, periodSeconds: 60 } },
  image_upload: IMAGE_UPLOAD_LIMIT,
};

/** The management API under `/client/v4`. The caller listens on it and closes it. */
export function createApi(deps: ApiDeps): FastifyInstance {
  const { control, clock, config, log, deprecations = DEPRECATIONS } = deps;
  const limits = config.limits ?? LIMITS;
  const hasOpenApi = config.hasOpenApi ?? (() => true);
  const clients = config.trustedProxies === undefined ? null : createClientAddresses(config.trustedProxies);
  const isShared = (address: string): boolean => clients?.trusts(address) === true;
  const places = createConnectionPlaces({
    metrics: deps.metrics,
    clock: deps.clock,
    listener: "api",
    ...(config.connections ?? API_CONNECTIONS),
    isShared,
  });
  const app = createHttp(config, clock, places, (error, _request, reply) => {
    // The framework runs no hook and keeps no state for a URL that it cannot parse.
    addHeaders(reply);
    answer(toFailure(error), null, reply);
  });
  const headers = standardHeaders(config.tls !== undefined);
  const ray = `${config.vendorPrefix}-ray`;
  const apiDate = createApiDate(config.date, clock);
  const recorder = createCallCounter<ShapedCalls>({
    save: control.recordedCalls.add,
    failed: (error) => log.error({ error: describe(error) }, "could not record the form of management calls"),
    intervalMs: COUNTS_WRITTEN_EVERY_MS,
  });
  const counter = createCallCounter<DeprecatedCalls>({
    save: control.deprecationCalls.add,
    failed: (error) => log.error({ error: describe(error) }, "could not write the counts of calls to deprecated endpoints"),
    intervalMs: COUNTS_WRITTEN_EVERY_MS,
  });

  app.decorateRequest("state", null);
  function addHeaders(reply: FastifyReply): { readonly requestId: string; readonly day: ApiDay } {
    const [requestId, day] = [newRayId(clock.nowMs()), apiDate.of(undefined)];
    reply.headers(headers).header(ray, requestId).header("api-version", day.date);
    return { requestId, day };
  }
  app.addHook("onRequest", async (request, reply) => {
    const state: RequestState = {
      ...addHeaders(reply),
      startedMs: clock.monotonicMs(),
      endpoint: null,
      params: {},
      admitted: null,
      dated: null,
    };
    request.setDecorator("state", state);
    // RFC 9112 §3.2.
    const hosts = hostFieldsOf(request.raw.rawHeaders);
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion !== "1.0"))
      throw new PlatformError("malformed_http", { message: "The request needs one Host header." });
    const host = requestedHost(request.raw.url ?? "/", request.headers.host);
    if (host !== undefined && config.allowsHost?.(host) === false) throw new PlatformError("misdirected_host");
    state.day = apiDate.of(request.headers["api-version"]);
    reply.header("api-version", state.day.date);
  });

  function fail(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const state = request.getDecorator<RequestState | null>("state");
    const failure = toFailure(thrown);
    // A client that disconnected while sending its body is not a server error.
    const hasLeft = thrown === request.raw.errored;
    if (failure.unexpected && !hasLeft)
      log.error(
        { request_id: state?.requestId, route: state?.endpoint?.name ?? request.routeOptions.url, error: describe(thrown) },
        "request failed",
      );
    return answer(failure, state?.dated ?? null, reply);
  }
  function answer({ status, headers: extra, errors }: Failure, dated: RequestState["dated"], reply: FastifyReply): FastifyReply {
    // The rest of the client's body is read and dropped, within the time limit of a request: a connection closed earlier
    // is reset, and the client may never read the reason (RFC 9112 §9.6).
    if (status === CONTENT_TOO_LARGE) reply.removeHeader("connection");
    // For an unreadable file: browsers would save the error under its name.
    return reply
      .removeHeader("content-disposition")
      .code(status)
      .headers(extra)
      .type(JSON_TYPE)
      .send(failureEnvelope(withPages(dated?.errors(errors) ?? errors, reply)));
  }
  /** Adds each error's page, at the address in the client's request. */
  function withPages(errors: readonly ErrorItem[], { request }: FastifyReply): readonly ErrorItem[] {
    const { host } = request.headers;
    // A refused host does not belong to this server.
    const isOurs = host !== undefined && config.allowsHost?.(host) !== false;
    if (config.docs === undefined || !isOurs || !hasOpenApi()) return errors;
    const base = `${config.tls === undefined ? "http" : "https"}://${host}${DOCS_PATH}/errors/`;
    return errors.map((error) => ({ ...error, documentation_url: `${base}${error.code}` }));
  }
  addRequestMetrics(app, deps.metrics, clock);
  app.setErrorHandler((error, request, reply) => fail(error, request, reply));
  const dashboard = config.dashboard === undefined ? undefined : createDashboardFiles(config.dashboard);
  app.setNotFoundHandler(async (request, reply) => {
    const isApi = request.url.startsWith(BASE_PATH);
    return (!isApi && (await dashboard?.answer(request, reply))) || fail(new PlatformError("no_route"), request, reply);
  });

  const admit = createAdmission({
    access: control.access,
    clock,
    rateLimit: config.rateLimit,
    failureLimit: config.failureLimit ?? FAILURES_PER_ADDRESS,
    vendorPrefix: config.vendorPrefix,
    isSecure: config.tls !== undefined,
    limits,
    ...(deps.sharedLimits === undefined ? {} : { sharedLimits: deps.sharedLimits }),
  });
  const engine = createDeprecationEngine(deprecations);
  addRoutes(app, deps.routes, {
    control,
    admit,
    clients,
    engine,
    settled: deps.settled,
    counter,
    recorder,
    recordsCalls: config.recordsCalls ?? (() => true),
    deprecations,
    log,
    clock,
    basePath: BASE_PATH,
    apiDate,
    limits,
    isSecure: config.tls !== undefined,
  });
  addPublicDocuments(app, {
    ...{ basePath: BASE_PATH, routes: deps.routes, deprecations },
    hasOpenApi,
    isSetupOpen: control.access.sessions.isOpen,
  });
  const signIn = { basePath: BASE_PATH, access: control.access, clients, isSecure: config.tls !== undefined };
  addSignIn(app, signIn);
  addProviderSignIn(app, { ...signIn, log });
  if (config.docs !== undefined) addDocs(app, config.docs, hasOpenApi);
  // Unbounded streams would keep the server from ending.
  app.addHook("preClose", async () => {
    control.securityEvents.close();
    control.loggedRequests.close();
  });
  app.addHook("onClose", async () => void (await Promise.all([counter.close(), recorder.close()])));
  return app;
}

/** Stacks of the error and of its causes. Other members stay out: database drivers put values of rows into them. */
function describe(thrown: unknown): readonly string[] {
  const stacks: string[] = [];
  for (let error = thrown; error instanceof Error && stacks.length < 5; error = error.cause) stacks.push(error.stack ?? error.message);
  return stacks;
}
