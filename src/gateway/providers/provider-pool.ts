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
  /** Sends the request over an idle or new connection. The handler receives the response or the failure; never throws. */
  ask(request: ProviderRequest, handler: AnswerHandler): ProviderCall;
  /** Sends no more requests; those under way are completed. */
  close(): void;
  /** Cuts all requests under way. */
  destroy(): void;
}

/** `https://api.example.com` */
export interface ProviderPoolSpec {
  readonly origin: string;
  /** Resolves names; undefined: the system's resolver. */
  readonly lookup: LookupFunction | undefined;
  readonly limits: GatewayLimits;
  readonly timers: Timers;
  readonly ticks: ReadTicks;
  /** Null: Node.js connects. */
  readonly loop: SocketLoop | null;
}

/**
 * Providers close idle connections after five seconds or later; the pool closes first, so that no request meets a closed
 * connection.
 */
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
    // The request on the connection gets the failure, so nothing is reported here.
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
    const ready = idle.at(-1);
    if (ready !== undefined && !ready.isOverdue(timers.measureMs())) {
      idle.pop();
      return call.start(ready);
    }
    if (connections.size >= limits.upstreamConnectionsMax) {
      waiting.add(call);
      call.waits(() => void waiting.delete(call));
      // An overdue one makes room for it.
      idle[0]?.abort();
      return;
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
    // The socket loop does not look up names; Node.js does.
    const dialPlain = (): Transport =>
      (loop === null ? undefined : dialThroughLoop(loop, host, portNumber)) ?? dialThroughNode((onread) => connect(to(onread)));
    return { isSecure, isTrusted: () => true, dial: dialPlain };
  }
  let session: Buffer | undefined;
  const dialSecure = (onread: OnReadOpts): Socket => {
    // Made once, because reading more than a hundred root certificates takes time.
    const secureContext = (roots ??= createSecureContext());
    const known = session === undefined ? {} : { session };
    // A server name must not be an address (RFC 6066 §3).
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
