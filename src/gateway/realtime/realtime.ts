import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { type Duplex, pipeline, Transform } from "node:stream";
import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import { request as httpRequest } from "#kernel/net/node-http.ts";
import type { Admitted } from "#gateway/auth/admission.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import type { GatewayLimits } from "../config.ts";
import { isInspected } from "../guard/guards.ts";
import type { Costs } from "#gateway/costs/costs.ts";
import type { StoredKeys } from "../credentials/stored-keys.ts";
import { rawError, type Refusal, RefusalError, refusalMessage, renderError } from "#gateway/http/errors.ts";
import type { FlatHeaders, HeaderRules } from "#gateway/http/headers.ts";
import type { KeyMask } from "#gateway/http/key-mask.ts";
import type { GatewayLog, LogRecord } from "#gateway/logs/log.ts";
import type { ReadyBody, Step } from "#gateway/request/plan.ts";
import { checkAddress, guardedLookup, portOf } from "#gateway/providers/pools.ts";
import type { Prices } from "#gateway/costs/prices.ts";
import type { RateLimits } from "#gateway/limits/rate-limits.ts";
import type { RequestOptionsReader } from "#gateway/request/request-options.ts";
import type { ResponseFields } from "#gateway/request/response-fields.ts";
import { stepOf } from "#gateway/plans/steps.ts";
import type { SpendLimits } from "#gateway/limits/spend-limits.ts";
import { NO_USAGE } from "#gateway/usage/usage-formats.ts";
import { MaskedMessages } from "./masked-messages.ts";
import { createSessionMeter, type SessionMeter } from "./session-meter.ts";
import { SessionUsage } from "./session-usage.ts";
import type { Subprotocols } from "./subprotocols.ts";

export interface RealtimeDeps {
  readonly clock: Clock;
  readonly rules: HeaderRules;
  readonly fields: ResponseFields;
  readonly options: RequestOptionsReader;
  readonly log: GatewayLog;
  readonly prices: Prices;
  readonly costs: Costs;
  readonly limits: GatewayLimits;
  readonly keys: StoredKeys;
  readonly allows: AddressPolicy;
  readonly spend: SpendLimits;
  readonly rateLimits: RateLimits;
}

export interface Realtime {
  /**
   * Connects a WebSocket client with its provider: after the handshake, bytes pass both ways unchanged, and a slow side
   * makes the other one wait. Resolves when both are closed and the row is written. If it resolves with a refusal,
   * nothing was sent to either side.
   */
  connect(req: ClientRequest, socket: Duplex, head: Buffer, admitted: Admitted, protocols: Subprotocols): Promise<Refusal | undefined>;
  /** Cuts every session. */
  close(): void;
}

const NO_BODY: ReadyBody = { kind: "whole", bytes: Buffer.alloc(0) };
const REFUSED_BYTES_MAX = 64 * 1024;
/** Limit for a silent session; providers end theirs after an hour at most. */
const IDLE_MS = 600_000;

export function createRealtime(deps: RealtimeDeps): Realtime {
  const sessions = new Set<() => void>();
  return {
    connect: async (req, socket, head, admitted, protocols) => {
      const step = await stepFor(deps, req, admitted, protocols);
      if ("name" in step) return step;
      const loading = deps.prices.load();
      if (loading !== undefined) await loading;
      const record = recordOf(deps, req, admitted);
      const meter = createSessionMeter(deps, { gateway: admitted.gateway, step, metadata: record.metadata });
      const refusal = meter.begin();
      if (refusal !== undefined) {
        const nothing = {
          usage: NO_USAGE,
          cost: null,
          isCustomCost: false,
          cached: false,
          contentType: "",
          requestBytes: 0,
          responseBytes: 0,
        };
        record.finish({ step, status: renderError(refusal).status, success: false, ...nothing });
        return refusal;
      }
      const session = opened(() => createSession(deps, { req, socket, head, admitted, protocols, step, record, meter }));
      if (session === undefined) {
        meter.end();
        return { name: "aig_internal" };
      }
      sessions.add(session.cut);
      await session.done;
      meter.end();
      sessions.delete(session.cut);
      return undefined;
    },
    close: () => {
      for (const cut of sessions) cut();
    },
  };
}

/** The step with its key, at a permitted address; or the refusal. */
async function stepFor(deps: RealtimeDeps, req: ClientRequest, admitted: Admitted, protocols: Subprotocols): Promise<Step | Refusal> {
  try {
    const planned = plannedStep(deps, req, admitted, protocols);
    if ("name" in planned) return planned;
    if (planned.isGuarded) checkAddress(planned.origin, deps.allows);
    // Browsers cannot set fields, so they send their own key as a subprotocol.
    const isOwn = planned.options.keyAlias === undefined && protocols.others.some((name) => name.startsWith("openai-insecure-api-key."));
    if (isOwn) return planned;
    const { step, take } = await deps.keys.apply(planned, admitted);
    return (take?.() ?? 0) > 0 ? { name: "aig_rate_limited" } : step;
  } catch (error) {
    return error instanceof RefusalError ? error.refusal : { name: "aig_internal" };
  }
}

/** The step for the provider; the default is OpenAI's path if the client names none. */
function plannedStep(deps: RealtimeDeps, req: ClientRequest, admitted: Admitted, { others }: Subprotocols): Step | Refusal {
  const { route, path, gateway } = admitted;
  if (route.kind !== "direct") return { name: "aig_bad_request", message: "A WebSocket URL must name one provider: …/openai?model=…" };
  if (isInspected(gateway))
    return { name: "aig_bad_request", message: "Data loss prevention or guardrails are on, and they cannot inspect realtime sessions." };
  const rest = path.rest === "" ? "/realtime" : path.rest;
  const place = path.rest === "" ? { ...route.place, path: `${route.place.path.replace(/\/$/, "")}${rest}` } : route.place;
  const passed = deps.rules.toProvider(req.headers);
  const headers: FlatHeaders = ["connection", "Upgrade", "upgrade", "websocket"];
  for (let i = 0; i < passed.length; i += 2) {
    const name = passed[i] ?? "";
    // Compressed messages could not be counted.
    if (name !== "sec-websocket-extensions" && name !== "sec-websocket-protocol") headers.push(name, passed[i + 1] ?? "");
  }
  if (others.length > 0) headers.push("sec-websocket-protocol", others.join(", "));
  return stepOf({
    index: 0,
    upstream: route.upstream,
    place,
    rest,
    query: path.query,
    method: "GET",
    model: new URLSearchParams(path.query).get("model")?.slice(0, 256) ?? "",
    headers,
    body: NO_BODY,
    options: deps.options.read(req.headers, deps.options.ofGateway(gateway)),
    transforms: [],
  });
}

interface SessionParts {
  readonly req: ClientRequest;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly admitted: Admitted;
  readonly protocols: Subprotocols;
  readonly step: Step;
  readonly record: LogRecord;
  readonly meter: SessionMeter;
}

const recordOf = ({ clock, fields, log }: RealtimeDeps, req: ClientRequest, { gateway }: Admitted): LogRecord =>
  log.begin({
    id: newUlid(clock.nowMs()),
    eventId: fields.eventId(req.headers),
    gateway,
    method: "GET",
    headers: req.headers,
    body: NO_BODY,
    isCompatible: false,
  });

/** One client and one provider, from the handshake until both are closed. */
function createSession(deps: RealtimeDeps, parts: SessionParts): { readonly done: Promise<void>; cut(): void } {
  const { costs, fields, rules } = deps;
  const { req, socket, head, protocols, step, record, meter } = parts;
  const { promise: done, resolve } = Promise.withResolvers<void>();
  // Both directions add listeners to it, beside the former owner's.
  socket.setMaxListeners(32);
  const facts = { id: record.id, isLogged: record.isLogged, eventId: record.eventId };
  const answerFields = fields.forAnswer(req.headers, facts)(step, false);
  const usage = new SessionUsage((answer) => {
    const refusal = meter.answered(answer);
    if (refusal !== undefined) setImmediate(() => endOverLimit(refusal));
  });
  const bytes = { fromClient: 0, fromProvider: 0 };
  let upstreamSocket: Duplex | undefined;

  const finish = (status: number, success: boolean): void => {
    const { cost, isCustom } = costs.of(step, usage.usage, false);
    const counted = { usage: usage.usage, cost, isCustomCost: isCustom, cached: false, contentType: "" };
    record.finish({ step, status, success, requestBytes: bytes.fromClient, responseBytes: bytes.fromProvider, ...counted });
    resolve();
  };
  const fail = (refusal: Refusal, status: number): void => {
    socket.end(rawError(refusal, answerFields), () => socket.destroy());
    finish(status, false);
  };

  const upstream = open(step, deps);
  const cut = (): void => {
    upstream.destroy();
    upstreamSocket?.destroy();
    socket.destroy();
  };
  /** Ends the session because a limit has no room left. */
  const endOverLimit = (refusal: Refusal): void => {
    if (socket.destroyed || !usage.isBetween) return cut();
    socket.write(closeFrame(POLICY_VIOLATION, refusal.message ?? refusalMessage(refusal.name)), cut);
  };
  upstream.on("upgrade", (res, provider, first) => {
    upstreamSocket = provider;
    provider.setMaxListeners(32);
    // Without a listener a late reset would end the process.
    provider.on("error", ignore);
    if (socket.destroyed) return cut();
    const shown = step.mask?.fields(res.headers) ?? res.headers;
    record.answered(101, shown);
    socket.write(handshake(shown, rules, answerFields, protocols));
    if (first.length > 0) provider.unshift(first);
    if (head.length > 0) socket.unshift(head);
    join({ socket, provider, usage, bytes, mask: step.mask }, () => finish(101, usage.isClosed));
  });
  upstream.on("response", (res) => relay(res, { socket, rules, answerFields, mask: step.mask }, (status) => finish(status, false)));
  upstream.on("error", () => {
    if (upstreamSocket === undefined && !socket.destroyed) fail({ name: "aig_upstream_failed" }, 502);
  });
  socket.on("error", ignore);
  socket.once("close", () => {
    if (upstreamSocket !== undefined) return;
    upstream.destroy();
    // The client left during the handshake.
    finish(499, false);
  });
  upstream.end();
  return { done, cut };
}

const ignore = (): void => undefined;

/** Undefined if the client library refuses the request. */
function opened<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}

function open({ origin, target, headers, method, isGuarded }: Step, { limits, allows }: RealtimeDeps) {
  const { protocol, hostname, port } = new URL(origin);
  const request = protocol === "https:" ? httpsRequest : httpRequest;
  const made = request({
    method,
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port,
    path: target,
    headers: objectOf(headers),
    agent: false,
    ...(isGuarded ? { lookup: guardedLookup(allows, portOf(origin)) } : {}),
  });
  // Also for a provider that goes on sending 1xx responses, or bytes of a refusal.
  const limit = setTimeout(() => made.destroy(new Error("the provider did not respond to the handshake in time")), limits.connectTimeoutMs);
  for (const event of ["upgrade", "close"]) made.once(event, () => clearTimeout(limit));
  return made;
}

function objectOf(flat: FlatHeaders): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (let i = 0; i < flat.length; i += 2) (fields[flat[i] ?? ""] ??= []).push(flat[i + 1] ?? "");
  return fields;
}

/** The provider's handshake response (RFC 6455 §4.2.2) with the gateway's fields. */
function handshake(headers: IncomingHttpHeaders, rules: HeaderRules, fields: FlatHeaders, { others, tokenEntry }: Subprotocols): string {
  const all = ["connection", "Upgrade", "upgrade", "websocket", ...rules.toClient(headers), ...fields];
  // A client that offered only the token still expects the server to choose one of its offers.
  if (headers["sec-websocket-protocol"] === undefined && others.length === 0 && tokenEntry !== undefined)
    all.push("sec-websocket-protocol", tokenEntry);
  return `HTTP/1.1 101 Switching Protocols\r\n${lines(all)}\r\n`;
}

function lines(flat: FlatHeaders): string {
  let text = "";
  for (let i = 0; i < flat.length; i += 2) text += `${flat[i]}: ${flat[i + 1]}\r\n`;
  return text;
}

/** Passes bytes both ways until one side ends, and then ends the other. */
function join(
  {
    socket,
    provider,
    usage,
    bytes,
    mask,
  }: {
    socket: Duplex;
    provider: Duplex;
    usage: SessionUsage;
    bytes: { fromClient: number; fromProvider: number };
    mask: KeyMask | undefined;
  },
  onEnd: () => void,
): void {
  let open = 2;
  const ended = (): void => {
    if (--open === 0) onEnd();
    // The other side gets the bytes that are in transit, and no more.
    else setTimeout(() => [socket, provider].forEach((one) => one.destroy()), LINGER_MS).unref();
  };
  socket.on("data", (chunk: Buffer) => (bytes.fromClient += chunk.length));
  provider.on("data", (chunk: Buffer) => {
    bytes.fromProvider += chunk.length;
    usage.push(chunk);
  });
  for (const one of [socket, provider] as readonly (Duplex & { setTimeout?: (ms: number, then: () => void) => void })[])
    one.setTimeout?.(IDLE_MS, () => one.destroy(new Error("idle timeout")));
  pipeline(socket, provider, ended);
  if (mask === undefined) pipeline(provider, socket, ended);
  else pipeline(provider, masking(mask, usage), socket, ended);
}

/**
 * Every frame keeps its length. Its end is passed at once, because the provider may then wait for the client; for the same
 * reason a message waits for others only for a moment. It passes after that without a long beginning of a key, and the mask
 * remembers the beginning for the rest of the session.
 */
function masking(mask: KeyMask, usage: SessionUsage): Transform {
  const body = mask.body();
  const messages = new MaskedMessages(mask.keys);
  let timer: NodeJS.Timeout | undefined;
  const transform = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      clearTimeout(timer);
      const shown = messages.push(body.push(chunk, usage.isBetween));
      if (messages.isHolding) timer = setTimeout(() => transform.push(messages.release()), HELD_MS);
      done(null, shown.length === 0 ? null : shown);
    },
    flush: (done) => {
      clearTimeout(timer);
      done(null, Buffer.concat([messages.push(body.end()), messages.end()]));
    },
  });
  return transform.once("close", () => clearTimeout(timer));
}

/** A model says the next piece much sooner. */
const HELD_MS = 500;
const LINGER_MS = 1_000;
const POLICY_VIOLATION = 1008;

/** RFC 6455 §5.5.1: a server's frame is not masked, and a close frame has at most 125 bytes of payload. */
function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason.slice(0, 120), "latin1");
  const frame = Buffer.alloc(4);
  frame.writeUInt8(0x88, 0);
  frame.writeUInt8(2 + text.length, 1);
  frame.writeUInt16BE(code, 2);
  return Buffer.concat([frame, text]);
}

/** Forwards the response of a provider that refuses the handshake. */
function relay(
  res: IncomingMessage,
  {
    socket,
    rules,
    answerFields,
    mask,
  }: { readonly socket: Duplex; readonly rules: HeaderRules; readonly answerFields: FlatHeaders; readonly mask: KeyMask | undefined },
  onEnd: (status: number) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  res.on("error", ignore);
  res.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= REFUSED_BYTES_MAX) chunks.push(chunk);
    else res.destroy();
  });
  res.once("close", () => {
    const whole = Buffer.concat(chunks);
    const body = mask?.body().push(whole, true) ?? whole;
    const { "content-length": _length, ...headers } = mask?.fields(res.headers) ?? res.headers;
    const all = [...rules.toClient(headers), ...answerFields, "content-length", String(body.length), "connection", "close"];
    const status = res.statusCode ?? 502;
    socket.write(`HTTP/1.1 ${status} ${res.statusMessage ?? ""}\r\n${lines(all)}\r\n`);
    socket.end(body, () => socket.destroy());
    onEnd(status);
  });
}
