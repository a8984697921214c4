import { type AddressInfo, createServer, type Server } from "node:net";
import { descriptorOf } from "./fd-registry.ts";
import type { ListenPlace } from "#kernel/net/listen-place.ts";

/** An address at which a server of Node.js accepts connections beside its own. */
export interface FurtherListener {
  readonly port: number;
  readonly fd: number | undefined;
  connections(): Promise<number>;
  /** Accepts no more. Resolves when its connections are closed. */
  close(): Promise<void>;
}

export interface FurtherPlace extends ListenPlace {
  /** A descriptor that listens there already. */
  readonly fd?: number | undefined;
  readonly backlog?: number;
}

/**
 * Node.js listens at one address for each server. This passes the connections of another one to `server`, which may be one
 * for HTTP or TLS. Rejects with the system's error if the address cannot be had.
 */
export async function listenFurther(server: Server, place: FurtherPlace): Promise<FurtherListener> {
  const { host, port, fd, onlyIpv6: ipv6Only = false, backlog = 511 } = place;
  const own = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void server.emit("connection", socket));
  if (server.maxConnections !== undefined) own.maxConnections = server.maxConnections;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  own.once("error", reject).listen(fd === undefined ? { host, port, ipv6Only, backlog } : { fd, backlog }, resolve);
  await promise;
  // Running out of descriptors must not end the process: the next connection may find one.
  own.off("error", reject).on("error", () => undefined);
  return {
    port: (own.address() as AddressInfo).port,
    fd: descriptorOf(own),
    connections: () => connectionsOf(own),
    close: () => new Promise((closed) => void own.close(() => closed())),
  };
}

/** Open connections that a server has accepted itself. */
export const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));

/** Opens the further addresses of a server that listens, or none. A place without a port of its own has `firstPort`. */
export async function listenAtFurther(
  server: Server,
  places: readonly ListenPlace[],
  firstPort: number,
  fdAt: (index: number) => number | undefined,
): Promise<readonly FurtherListener[]> {
  const listeners: FurtherListener[] = [];
  try {
    for (const [i, place] of places.entries())
      listeners.push(await listenFurther(server, { ...place, port: place.port || firstPort, fd: fdAt(i) }));
    return listeners;
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.close()));
    throw error;
  }
}
