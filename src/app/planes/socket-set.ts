import { parseIp } from "#kernel/net/ip.ts";
import { type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import type { OnMissing } from "#kernel/process/native-transport.ts";
import type { ListeningSockets } from "#kernel/process/worker-protocol.ts";
import { loadSystemSockets, type SocketWatch, type SystemSockets } from "#nameserver/listen/system-sockets.ts";
import { openListening } from "#wire/connections/epoll/loop-listener.ts";
import { loadSocketCalls, type SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import type { Bound } from "#app/threads/thread-ports.ts";

export interface OpenSocket {
  /** Thread and transport: `edge-1/http`. */
  readonly name: string;
  readonly fd: number;
  readonly port: number;
}

/** Connections that wait to be accepted, and attempts to find a free UDP port whose number is also free for TCP. */
const BACKLOG = 4096;
const PORT_TRIES = 20;

/** Sockets that listen before the threads that serve them have started. Nothing is accepted or read here. */
export type SocketSet = ReturnType<typeof createSocketSet>;

/** Returns a descriptor that listens there already, if any. */
type Inherit = (name: string) => number | undefined;

/**
 * Null if sockets at these hosts cannot be passed on to threads: TLS of Node.js needs Node.js's own connections, and
 * Node.js must look up a host name.
 */
export async function loadSocketSet(hosts: readonly string[], onMissing: OnMissing, inherit: Inherit): Promise<SocketSet | null> {
  const calls = await loadSocketCalls(onMissing);
  const datagrams = await loadSystemSockets(onMissing);
  const areNumbers = hosts.every((host) => parseIp(host) !== undefined);
  if (calls === null || calls.secure === null || datagrams === undefined || !areNumbers) return null;
  return createSocketSet(calls, datagrams, inherit);
}

/** A further address has the port of the first one, unless it names its own. */
export const like = (place: ListenPlace, first: OpenSocket | undefined): ListenPlace => ({
  ...place,
  port: place.port || (first?.port ?? 0),
});

type SocketsByTransport = Readonly<Record<string, OpenSocket>>;
const each = (sockets: SocketsByTransport, take: (socket: OpenSocket) => number): Bound =>
  Object.fromEntries(Object.entries(sockets).map(([name, socket]) => [name, take(socket)]));
export const portsOfSockets = (sockets: SocketsByTransport): Bound => each(sockets, ({ port }) => port);
export const descriptorsOf = (sockets: SocketsByTransport): ListeningSockets => each(sockets, ({ fd }) => fd);

function createSocketSet(calls: SocketCalls, datagrams: SystemSockets, inherit: Inherit) {
  let open: OpenSocket[] = [];
  let watches: readonly SocketWatch[] = [];
  const add = (name: string, fd: number): OpenSocket => {
    const socket = { name, fd, port: calls.localEnd(fd).port };
    open.push(socket);
    return socket;
  };
  const drop = (socket: OpenSocket): void => {
    open = open.filter((one) => one !== socket);
    calls.close(socket.fd);
  };
  const listen = (name: string, { host, port, onlyIpv6 }: ListenPlace, reusePort: boolean): OpenSocket =>
    add(name, inherit(name) ?? openListening(calls, { address: parseIp(host)!, port, reusePort, backlog: BACKLOG, onlyIpv6 }));
  const unwatch = (): void => {
    for (const watch of watches) watch.close();
    watches = [];
  };
  return {
    listen,
    /** One number for UDP and TCP. */
    openBoth: (index: number, place: ListenPlace, reusePort: boolean): { readonly udp: OpenSocket; readonly tcp: OpenSocket } => {
      const { host, port, onlyIpv6 } = place;
      const [udpName, tcpName] = [`nameserver-1/${socketName("udp", index)}`, `nameserver-1/${socketName("tcp", index)}`];
      for (let tries = 1; ; tries++) {
        const udp = add(udpName, inherit(udpName) ?? datagrams.bindUdp(parseIp(host)!, port, reusePort, onlyIpv6));
        try {
          return { udp, tcp: listen(tcpName, { ...place, port: udp.port }, reusePort) };
        } catch (error) {
          drop(udp);
          if (port !== 0 || tries >= PORT_TRIES || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
        }
      }
    },
    list: (): readonly OpenSocket[] => open,
    isOpen: (): boolean => open.length > 0,
    onVisitor: (listener: () => void): void => {
      const come = (): void => {
        unwatch();
        listener();
      };
      watches = open.map(({ fd }) => datagrams.awaitFirst(fd, come));
    },
    forget: (): void => {
      unwatch();
      open = [];
    },
    close: (): void => {
      unwatch();
      // A thread that failed at its start has already closed the sockets it took, and the number may have been reused.
      for (const { fd, port } of open) if (calls.localEnd(fd).port === port) calls.close(fd);
      open = [];
    },
  };
}
