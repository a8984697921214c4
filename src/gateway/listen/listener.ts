import { createMessageTurns } from "#kernel/process/message-turns.ts";
import { REQUESTS_AHEAD_PER_TICK } from "#wire/connections/http/client-owner.ts";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, Server as TlsServer } from "node:tls";
import type { Clock } from "#kernel/clock.ts";
import { createClientAddresses } from "#kernel/net/client-addresses.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { admitConnection, alwaysBusy, type ConnectionPlaces } from "#kernel/process/connection-places.ts";
import { listenFurther } from "#kernel/process/further-listener.ts";
import { socketName } from "#kernel/net/listen-place.ts";
import { drainConnections } from "#wire/connections/http/drain-connections.ts";
import { createTimers } from "#kernel/timers.ts";
import type { OpenConnection } from "#wire/connections/http/client-owner.ts";
import type { GatewayFront, ListeningSockets } from "#kernel/process/worker-protocol.ts";
import { LoopListener } from "#wire/connections/epoll/loop-listener.ts";
import { NodeTransport } from "#wire/connections/transport/node-transport.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import type { GatewayConfig } from "#gateway/config.ts";
import { WindowBudget } from "#wire/http2/window-budget.ts";
import { deadlinesOf, HTTP2_LIMITS, HTTP2_WINDOWS } from "./front-limits.ts";
import type { FrontOwner } from "./front-owner.ts";
import { serveHttp1 } from "./http1-client.ts";
import { type Http2Front, serveHttp2 } from "./http2-client.ts";

/** The listener for clients. */
export interface Front {
  /** Rejects if it cannot bind. */
  listen(): Promise<{ readonly port: number }>;
  /** The ports, and the descriptors, of all addresses: `http` and `http+2`. */
  ports(): ListeningSockets;
  sockets(): ListeningSockets;
  /** Applies to new connections. */
  use(settings: GatewayFront): void;
  /** Stops accepting, lets requests under way finish within the time, then cuts the rest. */
  close(timeoutMs: number, idleMs?: number): Promise<void>;
}

type FrontConfig = Pick<GatewayConfig, "host" | "port" | "onlyIpv6" | "further" | "sockets" | "tls" | "limits" | "trustedProxies">;

export interface FrontDeps extends Pick<FrontOwner, "onRequest" | "onUpgrade" | "refuse" | "report"> {
  readonly clock: Clock;
  readonly config: FrontConfig;
  /** Null: Node.js accepts the connections. */
  readonly loop: SocketLoop | null;
  /** Null: another listener of this process has limited the clients. */
  readonly places: ConnectionPlaces | null;
}

const BACKLOG = 1024;

export function createFront({ clock, config, loop, places, ...handlers }: FrontDeps): Front {
  const timers = createTimers(clock);
  const connections = new Set<OpenConnection>();
  const open = createOpenSet();
  let isDraining = false;
  const listening = new Map<string, { readonly port: number; readonly fd: number | undefined; close(): unknown }>();
  const owner: Http2Front = {
    ...handlers,
    onUpgrade: (request, socket, first) => {
      open.add(socket, (gone) => socket.once("close", gone));
      handlers.onUpgrade(request, socket, first);
    },
    timers,
    clock,
    connections,
    deadlines: deadlinesOf(config.limits),
    turns: createMessageTurns(REQUESTS_AHEAD_PER_TICK),
    clients: config.trustedProxies === undefined ? null : createClientAddresses(config.trustedProxies),
    http2: HTTP2_LIMITS,
    windows: new WindowBudget(HTTP2_WINDOWS),
    isDraining: () => isDraining,
    onHttp2: (transport) => serveHttp2(owner, transport),
  };
  /** Serves HTTP/2 if TLS negotiated it. Without TLS, the client's first bytes tell the version. */
  const welcome = (transport: Transport): void =>
    transport.tls?.alpnProtocol === "h2" ? serveHttp2(owner, transport) : serveHttp1(owner, transport);
  const server = serverOf(config, (socket) => welcome(new NodeTransport(socket)));
  // Includes connections without a request yet.
  server.prependListener("connection", (socket: Socket) => {
    const isAdmitted =
      places === null || admitConnection(places, socket.remoteAddress ?? "", alwaysBusy(socket), (gone) => socket.once("close", gone));
    if (!isAdmitted) return void socket.destroy();
    open.add(socket, (gone) => socket.once("close", gone));
  });
  const onConnection = (transport: Transport): void => {
    const isAdmitted = places === null || admitConnection(places, transport.peer.address, transport, (gone) => transport.whenClosed(gone));
    if (!isAdmitted) return transport.destroy();
    open.add(transport, (gone) => transport.whenClosed(gone));
    welcome(transport);
  };
  return {
    ports: () => Object.fromEntries(Array.from(listening, ([name, { port }]) => [name, port])),
    sockets: () => Object.fromEntries(Array.from(listening).flatMap(([name, { fd }]) => (fd === undefined ? [] : [[name, fd]]))),
    listen: async () => {
      const { host, port, onlyIpv6, further = [] } = config;
      let first = port;
      for (const [i, place] of [{ host, port, ...(onlyIpv6 === undefined ? {} : { onlyIpv6 }) }, ...further].entries()) {
        const name = socketName("http", i);
        const fd = config.sockets?.[name];
        const address = parseIp(place.host);
        const options = { ...place, port: place.port || first, fd, backlog: BACKLOG };
        const listener =
          loop !== null && address !== undefined && config.tls === undefined
            ? new LoopListener(loop, { ...options, address, reusePort: false, onConnection })
            : await listenFurther(server, options);
        listening.set(name, listener);
        if (i === 0) first = listener.port;
      }
      return { port: first };
    },
    use: ({ tls }) => {
      if (tls !== undefined && server instanceof TlsServer) server.setSecureContext(contextOf(tls));
    },
    close: async (timeoutMs, idleMs = 0) => {
      isDraining = true;
      for (const listener of listening.values()) void listener.close();
      const limit = setTimeout(open.destroy, timeoutMs);
      await drainConnections(connections, idleMs);
      await open.empty();
      clearTimeout(limit);
      timers.close();
    },
  };
}

interface OpenSet {
  /** `whenGone` gets the function to call when the connection has closed. */
  add(one: Openable, whenGone: (gone: () => void) => void): void;
  /** Resolves when all have closed. */
  empty(): Promise<void>;
  readonly destroy: () => void;
}

interface Openable {
  destroy(): unknown;
}

function createOpenSet(): OpenSet {
  const open = new Set<Openable>();
  let onEmpty: (() => void) | undefined;
  return {
    add: (one, whenGone) => {
      open.add(one);
      whenGone(() => {
        open.delete(one);
        if (open.size === 0) onEmpty?.();
      });
    },
    empty: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => (onEmpty = resolve))),
    destroy: () => {
      for (const one of open) one.destroy();
    },
  };
}

const contextOf = ({ certificate, key }: NonNullable<GatewayFront["tls"]>) => ({ cert: certificate, key, minVersion: "TLSv1.2" }) as const;

function serverOf({ tls }: FrontConfig, onConnection: (socket: Socket) => void): Server {
  const options = { allowHalfOpen: true, noDelay: true };
  if (tls === undefined) return createServer(options, (socket) => void (socket.destroyed || onConnection(socket)));
  const secure = {
    ...options,
    ...contextOf(tls),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: 10_000,
  } as const;
  // After a failed handshake no answer can be sent.
  return createTlsServer(secure, onConnection).on("tlsClientError", (_error, socket) => socket.destroy());
}
