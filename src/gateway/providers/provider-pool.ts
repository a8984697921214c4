import { RESPONSE_HEAD_BYTES_MAX } from "#wire/http/head.ts";
import { FIELDS_MAX } from "#wire/http/parsed-head.ts";
import { type LookupFunction, connect, isIP, type OnReadOpts, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import type { Timers } from "#kernel/timers.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import { dialThroughLoop } from "#wire/connections/epoll/loop-socket.ts";
import { dialThroughNode } from "#wire/connections/transport/node-transport.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import { UpstreamConnection, type UpstreamOwner } from "#wire/connections/http/upstream-connection.ts";
import type { GatewayLimits } from "#gateway/config.ts";
import { ProviderCall } from "./provider-call.ts";
import type { AnswerHandler } from "./answer-handler.ts";
import type { ReadTicks } from "./read-coalescing.ts";
import { providerRequestOf, type ProviderRequest } from "./provider-request.ts";

/** Kept-alive connections to one origin. */
export interface ProviderPool {
  /** Sends the request over a connection that is idle or new. The handler hears of what comes, also of failures; never throws. */
  ask(request: ProviderRequest, handler: AnswerHandler): ProviderCall;
  /** Nothing new is sent; what is under way comes to its end. */
  close(): void;
  /** Cuts what is under way. */
  destroy(): void;
}

/** `https://api.example.com` */
export interface ProviderPoolSpec {
  readonly origin: string;
  /** Where addresses come from; undefined: the system. */
  readonly lookup: LookupFunction | undefined;
  readonly limits: GatewayLimits;
  readonly timers: Timers;
  readonly ticks: ReadTicks;
  /** Null: Node.js dials. */
  readonly loop: SocketLoop | null;
}

/** Providers close idle connections at five seconds and later, the common default: we are first. */
const IDLE_TIMEOUT_MS = 4_000;

export function createProviderPool(spec: ProviderPoolSpec): ProviderPool {
  const { limits, timers } = spec;
  const { host } = new URL(spec.origin);
  const connections = new Set<UpstreamConnection>();
  const idle: UpstreamConnection[] = [];
  const waiting = new Set<ProviderCall>();
  let isClosing = false;

  const next = (): ProviderCall | undefined => {
    const [call] = waiting;
    if (call !== undefined) waiting.delete(call);
    return call;
  };
  const owner: UpstreamOwner = {
    limits: {
      connectTimeoutMs: limits.connectTimeoutMs,
      originIdleTimeoutMs: IDLE_TIMEOUT_MS,
      responseTimeoutMs: limits.firstByteTimeoutMs,
      originHeadBytesMax: RESPONSE_HEAD_BYTES_MAX,
      originHeadFieldsMax: FIELDS_MAX,
    },
    timers,
    ...dialOf(spec),
    connected: () => undefined,
    notConnected: () => undefined,
    // It costs its request, which hears of the failure.
    report: () => undefined,
    released: (connection) => {
      const call = next();
      if (call !== undefined) call.start(connection);
      else if (isClosing) connection.abort();
      else idle.push(connection);
    },
    switched: () => undefined,
    closed: (connection) => {
      connections.delete(connection);
      const at = idle.indexOf(connection);
      if (at >= 0) idle.splice(at, 1);
      const call = next();
      if (call !== undefined) begin(call);
    },
  };
  const begin = (call: ProviderCall): void => {
    const ready = idle.pop();
    if (ready !== undefined) return call.start(ready);
    if (connections.size >= limits.upstreamConnectionsMax) {
      waiting.add(call);
      return call.waits(() => void waiting.delete(call));
    }
    const connection = new UpstreamConnection(owner);
    connections.add(connection);
    call.start(connection);
  };

  return {
    ask: (request, handler) => {
      const question = providerRequestOf(request, host);
      const call = new ProviderCall(question ?? NO_QUESTION, handler, limits, spec.ticks);
      if (question === undefined) call.fail("aig_upstream_failed");
      else begin(call);
      return call;
    },
    close: () => {
      isClosing = true;
      for (const connection of Array.from(idle)) connection.abort();
    },
    destroy: () => {
      isClosing = true;
      for (const call of Array.from(waiting)) {
        waiting.delete(call);
        call.fail("aig_upstream_failed");
      }
      for (const connection of Array.from(connections)) connection.giveUp("origin_closed");
    },
  };
}

const NO_QUESTION = { method: "", head: "", body: { kind: "whole", bytes: Buffer.alloc(0) } } as const;

let roots: SecureContext | undefined;

function dialOf({ origin, lookup, loop }: ProviderPoolSpec): Pick<UpstreamOwner, "dial" | "isSecure" | "isTrusted"> {
  const { protocol, hostname, port } = new URL(origin);
  const isSecure = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  const portNumber = port === "" ? (isSecure ? 443 : 80) : Number(port);
  const to = (onread: OnReadOpts) => ({
    host,
    port: portNumber,
    allowHalfOpen: true,
    noDelay: true,
    onread,
    ...(lookup === undefined ? {} : { lookup }),
  });
  if (!isSecure) {
    // Names are Node's to look up.
    const dialPlain = (): Transport =>
      (loop === null ? undefined : dialThroughLoop(loop, host, portNumber)) ?? dialThroughNode((onread) => connect(to(onread)));
    return { isSecure, isTrusted: () => true, dial: dialPlain };
  }
  let session: Buffer | undefined;
  const dialSecure = (onread: OnReadOpts): Socket => {
    // Reading some hundred roots takes a while.
    const secureContext = (roots ??= createSecureContext());
    const known = session === undefined ? {} : { session };
    // RFC 6066 §3: an address is no server name.
    const socket = connectTls({
      ...to(onread),
      secureContext,
      servername: isIP(host) === 0 ? host : "",
      ALPNProtocols: ["http/1.1"],
      ...known,
    });
    socket.setNoDelay(true);
    socket.on("session", (fresh) => {
      if (socket.authorized) session = fresh;
    });
    return socket;
  };
  return { isSecure, isTrusted: (tls) => tls.authorized, dial: () => dialThroughNode(dialSecure) };
}
