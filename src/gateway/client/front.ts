import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Clock } from "#kernel/clock.ts";
import { createTimers } from "#kernel/timers.ts";
import type { GatewayConfig } from "../config.ts";
import { ClientConnection, type ClientOwner } from "./client-connection.ts";

/** Where clients connect. */
export interface Front {
  /** Rejects when it cannot bind. */
  listen(): Promise<{ readonly port: number }>;
  /** Stops accepting, lets requests under way finish within the time, then cuts the rest. */
  close(timeoutMs: number): Promise<void>;
}

export interface FrontDeps extends Pick<ClientOwner, "directSend" | "onRequest" | "onUpgrade" | "refusal"> {
  readonly clock: Clock;
  readonly config: GatewayConfig;
}

export function createFront({ clock, config, ...handlers }: FrontDeps): Front {
  const timers = createTimers(clock);
  const connections = new Set<ClientConnection>();
  let isDraining = false;
  const owner: ClientOwner = {
    ...handlers,
    clock,
    timers,
    connections,
    requestTimeoutMs: config.limits.requestTimeoutMs,
    isDraining: () => isDraining,
  };
  const server = serverOf(config, (socket) => void new ClientConnection(owner, socket));
  /** Also those that have not come to a request. */
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return {
    listen: () => listenOn(server, config),
    close: (timeoutMs) => {
      isDraining = true;
      return new Promise((resolve) => {
        const limit = setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, timeoutMs);
        server.close(() => {
          clearTimeout(limit);
          timers.close();
          resolve();
        });
        for (const connection of Array.from(connections)) connection.drain();
      });
    },
  };
}

function serverOf({ tls }: GatewayConfig, onConnection: (socket: Socket) => void): Server {
  const options = { allowHalfOpen: true, noDelay: true };
  if (tls === undefined) return createServer(options, onConnection);
  const secure = {
    ...options,
    cert: tls.certificate,
    key: tls.key,
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: 10_000,
  } as const;
  // A handshake that fails leaves nothing to answer on.
  return createTlsServer(secure, onConnection).on("tlsClientError", (_error, socket) => socket.destroy());
}

function listenOn(server: Server, { host, port }: GatewayConfig): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off("error", reject);
      resolve({ port: (server.address() as AddressInfo).port });
    });
  });
}
