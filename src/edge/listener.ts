import { type AddressInfo, createServer, type Socket } from "node:net";
import type { CidrSet } from "#kernel/cidr.ts";
import type { Admission } from "./admission.ts";
import { readProxySocket } from "./proxied-socket.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  readonly admission: Admission;
  /** Balancers: their connections begin with a PROXY header, before TLS as well. */
  readonly proxies: CidrSet;
  readonly proxyHeaderTimeoutMs: number;
  /** `clientIp`: the visitor's, whoever made the connection. */
  onConnection(socket: Socket, clientIp: string): void;
}

export interface Listener {
  readonly port: number;
  /** Takes no more connections; those that are open stay. */
  close(): void;
}

const BACKLOG = 4096;

/** Opens a listening socket; rejects where the address is taken or not allowed. */
export async function openListener(options: ListenOptions): Promise<Listener> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => admit(options, socket));
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
function admit(options: ListenOptions, socket: Socket): void {
  const { admission, proxies, proxyHeaderTimeoutMs } = options;
  if (!admission.enter()) return void socket.destroy();
  socket.once("close", admission.leave);
  const peer = peerOf(socket);
  const proceed = (clientIp: string): void => {
    const release = admission.hold(clientIp);
    if (release === null) return void socket.destroy();
    socket.once("close", release);
    options.onConnection(socket, clientIp);
  };
  if (!proxies.has(peer)) return proceed(peer);
  readProxySocket(socket, proxyHeaderTimeoutMs, (clientIp) => {
    proceed(clientIp ?? peer);
    socket.resume();
  });
}

/** An IPv4 visitor on a dual-stack listener is an IPv4 visitor. */
const peerOf = (socket: Socket): string => (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
