import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import type { CidrSet } from "#kernel/cidr.ts";
import type { Admission } from "./admission.ts";
import { readProxySocket } from "./proxied-socket.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  /** Null for plain HTTP. */
  readonly tls: TlsOptions | null;
  readonly admission: Admission;
  /** Balancers: their connections begin with a PROXY header, before TLS as well. */
  readonly proxies: CidrSet;
  readonly proxyHeaderTimeoutMs: number;
  /** `clientIp`: the visitor's, whoever made the connection. */
  onConnection(socket: Socket, clientIp: string): void;
  /** A handshake failed: it is the client's doing and costs the connection only. */
  onHandshakeFailed(): void;
}

export interface Listener {
  readonly port: number;
  /** Takes no more connections; those that are open stay. */
  close(): void;
}

/** Does with an admitted connection what its scheme asks for. */
type Welcome = (socket: Socket, clientIp: string) => void;

const BACKLOG = 4096;
const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true };

/** Opens a listening socket; rejects where the address is taken or not allowed. */
export async function openListener(options: ListenOptions): Promise<Listener> {
  const welcome = options.tls === null ? options.onConnection : welcomeByTls(options, options.tls);
  const server = createTcpServer(SOCKET_OPTIONS, (socket) => admit(options, socket, welcome));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port, reusePort: options.reusePort, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // Running out of descriptors must not end the worker: the next connection may find one.
  server.on("error", () => undefined);
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

/** Before anything is read or computed for it: a connection beyond a limit costs its acceptance only. */
function admit(options: ListenOptions, socket: Socket, welcome: Welcome): void {
  const { admission, proxies, proxyHeaderTimeoutMs } = options;
  if (!admission.enter()) return void socket.destroy();
  socket.once("close", admission.leave);
  const peer = peerOf(socket);
  const proceed = (clientIp: string): void => {
    const release = admission.hold(clientIp);
    if (release === null) return void socket.destroy();
    socket.once("close", release);
    welcome(socket, clientIp);
  };
  if (!proxies.has(peer)) return proceed(peer);
  readProxySocket(socket, proxyHeaderTimeoutMs, (clientIp) => {
    proceed(clientIp ?? peer);
    // TLS reads from below and takes what was given back; a plain socket goes on from where it was paused.
    if (options.tls === null) socket.resume();
  });
}

/** A TLS server that does not listen: connections are handed to it once they are admitted. */
function welcomeByTls(options: ListenOptions, tls: TlsOptions): Welcome {
  // The secured socket does not say which one it came from, but has its peer's address and port.
  const visitors = new Map<string, string>();
  const server = createTlsServer({ ...SOCKET_OPTIONS, ...tls }, (socket) => {
    options.onConnection(socket, visitors.get(endOf(socket)) ?? peerOf(socket));
  });
  server.on("tlsClientError", (_error, socket) => {
    // Node only reports a handshake that takes too long, and leaves the connection open.
    socket.destroy();
    options.onHandshakeFailed();
  });
  return (socket, clientIp) => {
    if (clientIp !== peerOf(socket)) {
      const end = endOf(socket);
      visitors.set(end, clientIp);
      socket.once("close", () => void visitors.delete(end));
    }
    server.emit("connection", socket);
  };
}

/** An IPv4 visitor on a dual-stack listener is an IPv4 visitor. */
const peerOf = (socket: Socket): string => (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
const endOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;
