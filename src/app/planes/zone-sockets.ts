import type { EdgeSockets } from "#edge/config.ts";
import { type IpAddress, parseIp } from "#kernel/net/ip.ts";
import type { OnMissing } from "#kernel/process/native-transport.ts";
import type { NameserverSockets } from "#nameserver/config.ts";
import { loadSystemSockets, type SocketWatch, type SystemSockets } from "#nameserver/listen/system-sockets.ts";
import { openListening } from "#wire/connections/epoll/loop-listener.ts";
import { loadSocketCalls, type SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import type { InheritedSockets } from "#app/handover/inherited-sockets.ts";
import type { Config } from "#app/config/config.ts";
import type { Bound } from "#app/threads/plane-worker.ts";

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
  ofNameserver(): NameserverSockets | undefined;
  ofEdge(): EdgeSockets | undefined;
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
  inherited?: Pick<InheritedSockets, "take">,
): Promise<ZoneSockets | null> {
  const hosts = { dns: parseIp(config.dns.host), edge: parseIp(config.edge.host) };
  const calls = await loadSocketCalls(onMissing);
  const datagrams = await loadSystemSockets(onMissing);
  // TLS of Node.js needs Node.js's own connections, and Node.js must look up a host name.
  if (calls === null || calls.secure === null || datagrams === undefined || hosts.dns === undefined || hosts.edge === undefined)
    return null;
  const sockets = createSocketSet(calls, datagrams, (name) => inherited?.take(name));
  try {
    const shares = { dns: config.dns.workers > 1, edge: config.edge.workers > 1 };
    const { udp, tcp } = sockets.openBoth(hosts.dns, config.dns.port, shares.dns);
    const dot = sockets.listen("nameserver-1/dot", hosts.dns, config.dns.tls_port, shares.dns);
    const http = sockets.listen("edge-1/http", hosts.edge, config.http.port, shares.edge);
    const https = sockets.listen("edge-1/https", hosts.edge, config.https.port, shares.edge);
    return {
      ports: {
        dns: { udp: udp.port, tcp: tcp.port, dot: dot.port },
        edge: { http: http.port, https: https.port },
      },
      onVisitor: sockets.onVisitor,
      open: sockets.list,
      ofNameserver: () => (sockets.isOpen() ? { udp: udp.fd, tcp: tcp.fd, dot: dot.fd } : undefined),
      ofEdge: () => (sockets.isOpen() ? { http: http.fd, https: https.fd } : undefined),
      handedOver: sockets.forget,
      close: sockets.close,
    };
  } catch (error) {
    sockets.close();
    throw error;
  }
}

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
  const listen = (name: string, address: IpAddress, port: number, reusePort: boolean): OpenSocket =>
    add(name, inherit(name) ?? openListening(calls, { address, port, reusePort, backlog: BACKLOG }));
  const unwatch = (): void => {
    for (const watch of watches) watch.close();
    watches = [];
  };
  return {
    listen,
    /** One number for UDP and TCP. */
    openBoth: (address: IpAddress, port: number, reusePort: boolean): { readonly udp: OpenSocket; readonly tcp: OpenSocket } => {
      for (let tries = 1; ; tries++) {
        const udp = add("nameserver-1/udp", inherit("nameserver-1/udp") ?? datagrams.bindUdp(address, port, reusePort));
        try {
          return { udp, tcp: listen("nameserver-1/tcp", address, udp.port, reusePort) };
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
