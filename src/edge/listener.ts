import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  /** Null for plain HTTP. */
  readonly tls: TlsOptions | null;
  onConnection(socket: Socket): void;
  /** A handshake failed: it is the client's doing and costs the connection only. */
  onHandshakeFailed(): void;
}

export interface Listener {
  readonly port: number;
  /** Takes no more connections; those that are open stay. */
  close(): void;
}

const BACKLOG = 4096;

/** Opens a listening socket; rejects where the address is taken or not allowed. */
export async function openListener(options: ListenOptions): Promise<Listener> {
  const socketOptions = { allowHalfOpen: true, noDelay: true };
  const server: Server =
    options.tls === null
      ? createTcpServer(socketOptions, options.onConnection)
      : createTlsServer({ ...socketOptions, ...options.tls }, options.onConnection).on("tlsClientError", (_error, socket) => {
          // Node only reports a handshake that takes too long, and leaves the connection open.
          socket.destroy();
          options.onHandshakeFailed();
        });
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
