import { request as httpsRequest } from "node:https";
import { request as httpRequest } from "#kernel/net/node-http.ts";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { MessageTurns } from "#kernel/process/message-turns.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Admitted } from "#gateway/auth/admission.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import type { GatewayLimits } from "../config.ts";
import type { Costs } from "#gateway/costs/costs.ts";
import type { StoredKeys } from "../credentials/stored-keys.ts";
import { rawError, type Refusal, refusalMessage } from "#gateway/http/errors.ts";
import type { FlatHeaders, HeaderRules } from "#gateway/http/headers.ts";
import type { KeyMask } from "#gateway/http/key-mask.ts";
import type { GatewayLog, LogRecord } from "#gateway/logs/log.ts";
import type { Step } from "#gateway/request/plan.ts";
import { guardedLookup, portOf } from "#gateway/providers/pools.ts";
import type { Prices } from "#gateway/costs/prices.ts";
import type { RateLimits } from "#gateway/limits/rate-limits.ts";
import type { RequestOptionsReader } from "#gateway/request/request-options.ts";
import type { ResponseFields } from "#gateway/request/response-fields.ts";
import type { SpendLimits } from "#gateway/limits/spend-limits.ts";
import type { SessionMeter } from "./session-meter.ts";
import { SessionUsage } from "./session-usage.ts";
import type { Subprotocols } from "./subprotocols.ts";
import { join } from "./joined-sockets.ts";

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

const REFUSED_BYTES_MAX = 64 * 1024;
interface SessionParts {
  readonly req: ClientRequest;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly admitted: Admitted;
  readonly protocols: Subprotocols;
  readonly step: Step;
  readonly record: LogRecord;
  readonly meter: SessionMeter;
  readonly turns: MessageTurns;
}

/** One client and one provider, from the handshake until both are closed. */
export function createSession(deps: RealtimeDeps, parts: SessionParts): { readonly done: Promise<void>; cut(): void } {
  const { costs, fields, rules } = deps;
  const { req, socket, head, protocols, step, record, meter, turns } = parts;
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
    join({ socket, provider, usage, bytes, mask: step.mask, turns }, () => finish(101, usage.isClosed));
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
