import { type AddressInfo, createServer } from "node:net";
import type { CidrSet } from "#kernel/net/cidr.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { LoopListener } from "#wire/connections/epoll/loop-listener.ts";
import { NodeTransport } from "#wire/connections/transport/node-transport.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { End, Transport } from "#wire/connections/transport/transport.ts";
import type { ConnectionPlaces } from "#kernel/process/connection-places.ts";
import { acceptProxied } from "./proxy-protocol.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  /** `::` leaves IPv4 to other listeners. */
  readonly onlyIpv6?: boolean | undefined;
  /** A descriptor that listens there already. Only with the epoll loop. */
  readonly fd?: number | undefined;
  /** Null: Node.js accepts. */
  readonly loop: SocketLoop | null;
  readonly admission: ConnectionPlaces;
  /** Networks of load balancers: their connections begin with a PROXY header, even before TLS. */
  readonly proxies: CidrSet;
  readonly proxyHeaderTimeoutMs: number;
  /** `client`: the visitor's end, even if a load balancer made the connection. */
  onConnection(transport: Transport, client: End): void;
}

export interface Listener {
  readonly port: number;
  /** Undefined with several sockets of Node.js. */
  readonly fd?: number;
  /** Accepts no more connections; open ones stay. */
  close(): void;
}

const BACKLOG = 4096;

/**
 * Number of sockets of Node.js that listen on the one port. The event loop accepts one connection from each in a tick:
 * with a single socket, some hundred simultaneous connections would delay all others by as many ticks.
 */
const SOCKETS = 16;

/** Opens a listening port. Rejects if the address is in use or not allowed. */
export async function openListener(options: ListenOptions): Promise<Listener> {
  const { host, port, fd, reusePort, onlyIpv6, loop } = options;
  const address = parseIp(host);
  if (loop !== null && address !== undefined) {
    const onConnection = (transport: Transport): void => admit(options, transport);
    return new LoopListener(loop, { address, port, fd, reusePort, onlyIpv6, backlog: BACKLOG, onConnection });
  }
  // A shared port could also be shared with another process of ours, so the port is opened alone first.
  if (!reusePort && port !== 0) await (await listenOn(options, port, false)).close();
  const first = await listenOn(options, port, true);
  const servers = [first];
  try {
    while (servers.length < SOCKETS) servers.push(await listenOn(options, first.port, true));
  } catch (error) {
    for (const server of servers) void server.close();
    throw error;
  }
  return {
    port: first.port,
    close: () => {
      for (const server of servers) void server.close();
    },
  };
}

interface ListeningSocket {
  readonly port: number;
  /** Resolves when the listener and all its connections are closed. */
  close(): Promise<void>;
}

async function listenOn(options: ListenOptions, port: number, reusePort: boolean): Promise<ListeningSocket> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => admit(options, new NodeTransport(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port, reusePort, ipv6Only: options.onlyIpv6 === true, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // Running out of descriptors must not end the worker: the next connection may find one.
  server.on("error", () => undefined);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Checks the limits before anything is read, so that a connection beyond them costs only its acceptance. */
function admit(options: ListenOptions, transport: Transport): void {
  const { admission, proxies, proxyHeaderTimeoutMs } = options;
  if (!admission.enter()) return transport.destroy();
  transport.whenClosed(admission.leave);
  const peer = transport.peer;
  const proceed = (client: End): void => {
    const release = admission.hold(client, transport);
    if (release === null) return transport.destroy();
    transport.whenClosed(release);
    options.onConnection(transport, client);
  };
  if (!proxies.has(peer.address)) return proceed(peer);
  acceptProxied(transport, proxyHeaderTimeoutMs, (client) => proceed(client ?? peer));
}
