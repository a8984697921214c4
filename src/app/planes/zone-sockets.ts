import { parseIp } from "#kernel/net/ip.ts";
import { isOccupied, type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import type { ListeningSockets } from "#kernel/process/worker-protocol.ts";
import type { OnMissing } from "#kernel/process/native-transport.ts";
import { loadSystemSockets, type SocketWatch, type SystemSockets } from "#nameserver/listen/system-sockets.ts";
import { openListening } from "#wire/connections/epoll/loop-listener.ts";
import { loadSocketCalls, type SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import type { InheritedSockets } from "#app/handover/inherited-sockets.ts";
import type { Config } from "#app/config/config.ts";
import { addressesOf, LISTEN_PLACES } from "#app/config/listen-places.ts";
import type { Log } from "#app/log/log.ts";
import type { Bound } from "#app/threads/thread-ports.ts";

/**
 * The sockets of nameserver and edge before these have started: visitors wait in them and are served by the threads,
 * which take them over. Nothing is accepted or read here.
 */
export interface ZoneSockets {
  /** By transport. */
  readonly ports: { readonly dns: Bound; readonly edge: Bound };
  /** Calls back once, when the first visitor waits. */
  onVisitor(listener: () => void): void;
  /** All of them, by thread and transport; empty once they are closed or have been taken over. */
  open(): readonly OpenSocket[];
  /** For starting threads; undefined once they are closed or have been taken over. */
  ofNameserver(): ListeningSockets | undefined;
  ofEdge(): ListeningSockets | undefined;
  /** The threads have taken them over. */
  handedOver(): void;
  /** Closes sockets that were not taken over, once no thread that received some is alive. */
  close(): void;
}

/**
 * Null if sockets cannot be passed on: the threads then open them at the start. Rejects with the system's error if a port
 * is occupied.
 */
export async function openZoneSockets(
  config: Config,
  onMissing: OnMissing,
  log: Log,
  inherited?: Pick<InheritedSockets, "take">,
): Promise<ZoneSockets | null> {
  const calls = await loadSocketCalls(onMissing);
  const datagrams = await loadSystemSockets(onMissing);
  const areNumbers = addressesOf([...config.dns.host, ...config.edge.host]).every((host) => parseIp(host) !== undefined);
  // TLS of Node.js needs Node.js's own connections, and Node.js must look up a host name.
  if (calls === null || calls.secure === null || datagrams === undefined || !areNumbers) return null;
  const sockets = createSocketSet(calls, datagrams, (name) => inherited?.take(name));
  const dns: Record<string, OpenSocket> = {};
  const edge: Record<string, OpenSocket> = {};
  const anyDot = (place: ListenPlace, name: string, reusePort: boolean): OpenSocket => {
    try {
      return sockets.listen(name, place, reusePort);
    } catch (error) {
      if (place.orAny !== true || !isOccupied(error)) throw error;
      log.warn({ address: place.host, wanted_port: place.port, reason: (error as Error).message }, "DNS over TLS uses another port");
      return sockets.listen(name, { ...place, port: 0 }, reusePort);
    }
  };
  /** A further address has the port of the first one, unless it names its own. */
  const like = (place: ListenPlace, first: OpenSocket | undefined): ListenPlace => ({ ...place, port: place.port || (first?.port ?? 0) });
  try {
    const shares = { dns: config.dns.workers > 1, edge: config.edge.workers > 1 };
    for (const [i, place] of LISTEN_PLACES.dns(config).entries()) {
      const { udp, tcp } = sockets.openBoth(i, like(place, dns["udp"]), shares.dns);
      Object.assign(dns, { [socketName("udp", i)]: udp, [socketName("tcp", i)]: tcp });
    }
    for (const [i, place] of LISTEN_PLACES.dot(config).entries()) {
      const name = socketName("dot", i);
      dns[name] = anyDot(like(place, dns["dot"]), `nameserver-1/${name}`, shares.dns);
    }
    for (const transport of ["http", "https"] as const)
      for (const [i, place] of LISTEN_PLACES[transport](config).entries()) {
        const name = socketName(transport, i);
        edge[name] = sockets.listen(`edge-1/${name}`, like(place, edge[transport]), shares.edge);
      }
    return {
      ports: { dns: each(dns, ({ port }) => port), edge: each(edge, ({ port }) => port) },
      onVisitor: sockets.onVisitor,
      open: sockets.list,
      ofNameserver: () => (sockets.isOpen() ? each(dns, ({ fd }) => fd) : undefined),
      ofEdge: () => (sockets.isOpen() ? each(edge, ({ fd }) => fd) : undefined),
      handedOver: sockets.forget,
      close: sockets.close,
    };
  } catch (error) {
    sockets.close();
    throw error;
  }
}

const each = (sockets: Readonly<Record<string, OpenSocket>>, take: (socket: OpenSocket) => number): Bound =>
  Object.fromEntries(Object.entries(sockets).map(([name, socket]) => [name, take(socket)]));

export interface OpenSocket {
  /** Thread and transport: `edge-1/http`. */
  readonly name: string;
  readonly fd: number;
  readonly port: number;
}

/** Connections that wait to be accepted, and attempts to find a free UDP port whose number is also free for TCP. */
const BACKLOG = 4096;
const PORT_TRIES = 20;

/** `inherit`: a descriptor that listens there already, if any. */
function createSocketSet(calls: SocketCalls, datagrams: SystemSockets, inherit: (name: string) => number | undefined) {
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
