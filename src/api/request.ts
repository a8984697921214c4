import { Readable } from "node:stream";
import { createPathIndex } from "./connection/path-index.ts";
import { readPreferences } from "./connection/prefer.ts";
import type { RouteLimits, Admission, Admitted } from "./admission.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ownAccount } from "#control/access/grants.ts";
import type { Control } from "#control/control.ts";
import type { CallCounter, DeprecatedCalls, ShapedCalls } from "#deprecations/call-counter.ts";
import type { Deprecation } from "#deprecations/deprecation.ts";
import type { DatedRequest, DeprecationEngine } from "#deprecations/engine.ts";
import { noticeHeaders } from "#deprecations/notice.ts";
import type { Query } from "#deprecations/effect-handler.ts";
import type { ClientAddresses } from "#kernel/net/client-addresses.ts";
import type { Clock } from "#kernel/clock.ts";
import type { ApiDate, ApiDay } from "./api-date.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { clientOf } from "./connection/client-of.ts";
import { createExecutor, type Settled } from "./execute.ts";
import { createShapeReader } from "./deprecations/call-recorder.ts";
import { FORM_OVERHEAD_BYTES } from "./form-body.ts";
import { checkIdentifiers } from "./identifiers.ts";
import type { Route } from "./route.ts";
import { sessionCookie } from "#api/dashboard/session-cookie.ts";

/** State of a request in progress. */
export interface RequestState {
  readonly requestId: string;
  day: ApiDay;
  readonly startedMs: number;
  /** Null until its route is found. */
  endpoint: Endpoint | null;
  /** Of the path. */
  params: Readonly<Record<string, string>>;
  admitted: Admitted | null;
  /** Set once the request was admitted, so that only its own errors depend on the date. */
  dated: DatedRequest | null;
}

export interface RequestDeps {
  readonly control: Control;
  readonly admit: Admission;
  /** Clients behind trusted proxies; null without such proxies. */
  readonly clients: ClientAddresses | null;
  readonly engine: DeprecationEngine;
  readonly settled: Settled;
  readonly counter: CallCounter<DeprecatedCalls>;
  readonly recorder: CallCounter<ShapedCalls>;
  /** Called for each request, because it may change while the server runs. */
  recordsCalls(): boolean;
  readonly deprecations: readonly Deprecation[];
  readonly clock: Clock;
  readonly log: { debug(fields: object, message: string): void };
  readonly basePath: string;
  readonly apiDate: ApiDate;
  readonly limits: RouteLimits;
  /** Whether clients reach the API over TLS. */
  readonly isSecure: boolean;
}

/** How the parser must read the body of a route. */
interface BodyConfig {
  /** Limit of one field of a form; null if the route accepts JSON. */
  readonly formFieldBytesMax: number | null;
  readonly fileField?: string | undefined;
  /** Limit of the whole body; null for that of the API. */
  readonly bytesMax: number | null;
  /** Limit of the values of a JSON body; undefined for that of the API. */
  readonly valuesMax?: number | undefined;
}

/** A row of the route table as an endpoint. */
interface Endpoint {
  /** `GET /zones/:zone_id`. */
  readonly name: string;
  readonly body: BodyConfig;
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  announce(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  record(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

function bodyConfig({ body_type, file_field: fileField, limits, values_max: valuesMax }: Route, all: RouteLimits): BodyConfig {
  const bytesMax = limits ? all[limits].bodyBytesMax : null;
  if (body_type !== "multipart") return { formFieldBytesMax: null, bytesMax, valuesMax };
  if (bytesMax === null) throw new Error("a route that accepts a form must name its limits");
  return { formFieldBytesMax: bytesMax, fileField, bytesMax: bytesMax + FORM_OVERHEAD_BYTES };
}

/** A client that reads nothing of a long answer for this time counts as gone. */
const STALL_MAX_MS = 60_000;

/**
 * Registers the route table: one route of the framework, which finds the row itself. An endpoint is made with its first
 * request.
 */
export function addRoutes(app: FastifyInstance, routes: readonly Route[], deps: RequestDeps): void {
  const endpoints = new Map<Route, Endpoint>();
  const indexed = createPathIndex(deps.basePath, routes);
  const endpointOf = (route: Route): Endpoint => {
    const known = endpoints.get(route);
    if (known !== undefined) return known;
    const made = createEndpoint(route, deps);
    endpoints.set(route, made);
    return made;
  };
  const methods = [...new Set(routes.map(({ method }) => method))];
  const unrouted = ({ method, url }: FastifyRequest): PlatformError => {
    const others = methods.filter((other) => indexed(other, url) !== null);
    if (others.length === 0) return new PlatformError("no_route");
    return new PlatformError("no_route", { message: `No route for that URI with ${method}; it has ${others.join(", ")}.` });
  };
  app.route({
    method: methods,
    url: `${deps.basePath}/*`,
    onRequest: async (request, reply) => {
      const found = indexed(request.method, request.url);
      if (found === null) throw unrouted(request);
      const state = stateOf(request);
      state.endpoint = endpointOf(found.row);
      state.params = found.params;
      await state.endpoint.admit(request, reply);
    },
    handler: async (request, reply) => {
      const { endpoint } = stateOf(request);
      if (endpoint === null) throw new PlatformError("internal", { detail: "a handler ran without a route" });
      return endpoint.handle(request, reply);
    },
    onSend: async (request, reply) => stateOf(request).endpoint?.announce(request, reply),
    onResponse: async (request, reply) => stateOf(request).endpoint?.record(request, reply),
  });
}

function createEndpoint(route: Route, deps: RequestDeps): Endpoint {
  const name = `${route.method} ${route.path}`;
  const execute = createExecutor(route, deps.control, deps.settled, { table: deps.deprecations, date: deps.apiDate.standard });
  const readShape = createShapeReader(deps.deprecations, route);

  /** Before the body is read: an unknown caller costs no parsing. */
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const state = stateOf(request);
    state.admitted = await deps.admit(route, {
      headers: request.headers,
      ip: clientOf(request, deps.clients),
      requestId: state.requestId,
      path: pathOf(request.url),
      params: state.params,
      addHeaders: (headers) => reply.headers(headers),
    });
    state.day = deps.apiDate.pinned(state.day, state.admitted);
    reply.header("api-version", state.day.date);
    if (state.day.date !== deps.apiDate.standard()) state.admitted.call.api_date = state.day.date;
    const dated = deps.engine.at(name, state.day.date, state.day.safe);
    if (dated.gone) throw goneError(dated.gone);
    checkIdentifiers(state.params, pathOf(request.url));
    state.dated = dated.begin();
  }

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const state = stateOf(request);
    if (!state.admitted) throw new PlatformError("internal", { detail: "a handler ran before its request was admitted" });
    state.admitted.call.onLeft = (tell) => (reply.raw.closed ? tell() : void reply.raw.once("close", tell));
    const { query, body } = request as { query: Query; body: unknown };
    const lastEventId = request.headers["last-event-id"];
    const { isAsync, waitSeconds } = readPreferences(request.headers["prefer"]);
    const answer = await execute({
      ...state.admitted,
      params: state.params,
      query,
      body,
      dated: state.dated,
      ...(typeof lastEventId === "string" ? { lastEventId } : {}),
      ...(isAsync ? { prefersAsync: true } : {}),
      ...(waitSeconds === undefined ? {} : { waitMs: waitSeconds * 1_000 }),
    });
    if (waitSeconds !== undefined && state.admitted.call.rev !== null) reply.header("preference-applied", `wait=${waitSeconds}`);
    reply.headers(answer.headers ?? {});
    const { session } = state.admitted.call;
    if (session !== undefined) reply.header("set-cookie", sessionCookie(session, deps.isSecure));
    if (request.method === "HEAD" && answer.body instanceof Readable) {
      // The framework would read it to its end, but some streams are unbounded.
      answer.body.destroy();
      // Its length is unknown; without this, Node.js says 0.
      reply.raw.removeHeader("content-length");
    }
    if (answer.body instanceof Readable) reply.raw.setTimeout(STALL_MAX_MS, () => reply.raw.destroy());
    // RFC 9110 §15.3.5: 204 has no content, the envelope included.
    return route.status === 204
      ? reply.code(204).send()
      : reply
          .code(route.status ?? 200)
          .type(answer.type)
          .send(answer.body);
  }

  /** Sets headers and counts, for answers and errors alike. */
  async function announce(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { dated, admitted } = stateOf(request);
    if (!dated || !admitted || dated.pending.size === 0) return;
    reply.headers(noticeHeaders(dated.pending, (id) => `${deps.basePath}/deprecations/${id}`));
    const { account, zone } = admitted.resolved;
    const where = {
      day: deps.apiDate.today(),
      account_id: account?.id ?? zone?.account_id ?? ownAccount(admitted.call.actor) ?? "",
      token_id: admitted.call.actor.id,
      route: name,
    };
    for (const row of dated.pending) deps.counter.count({ ...where, deprecation_id: row.id });
  }

  /** Only of admitted callers, and not of the dashboard, which is of this version. */
  function recordForm(request: FastifyRequest, { call, resolved }: Admitted): void {
    const rules = [...(stateOf(request).dated?.askedRules ?? [])].toSorted();
    const accountId = resolved.account?.id ?? ownAccount(call.actor);
    if (accountId === undefined || call.actor.session_id !== undefined || !deps.recordsCalls()) return;
    deps.recorder.count({
      ...{ day: deps.apiDate.today(), account_id: accountId, token_id: call.actor.id, route: name, api_date: call.api_date ?? null },
      shape: JSON.stringify({ ...readShape(request.query as Query, request.body), ...(rules.length === 0 ? {} : { rules }) }),
    });
  }

  async function record(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { requestId, admitted, startedMs } = stateOf(request);
    if (admitted !== null) recordForm(request, admitted);
    deps.log.debug(
      {
        request_id: requestId,
        route: name,
        status: reply.statusCode,
        actor: admitted?.call.actor.id,
        ms: Math.round(deps.clock.monotonicMs() - startedMs),
      },
      "request",
    );
  }

  return { name, body: bodyConfig(route, deps.limits), admit, handle, announce, record };
}

const stateOf = (request: FastifyRequest): RequestState => request.getDecorator<RequestState>("state");

const pathOf = (url: string): string => {
  const mark = url.indexOf("?");
  return mark === -1 ? url : url.slice(0, mark);
};

const goneError = (row: { readonly date: string; readonly replacement: string | null }): PlatformError =>
  new PlatformError("gone", {
    message: `This endpoint reached its end of life on ${row.date}.${row.replacement === null ? "" : ` Use ${row.replacement} instead.`}`,
  });
