import { closeSync } from "node:fs";
import type { Config } from "#app/config/config.ts";
import type { Bound } from "#app/threads/plane-worker.ts";

/** A listening socket that one process passes to the next. */
export interface PassedSocket {
  /** Thread and transport: `edge-1/http`. */
  readonly name: string;
  readonly fd: number;
  /** Its address in the configuration; port 0: any free port. */
  readonly host: string;
  readonly port: number;
  /** The port it has. */
  readonly boundPort: number;
}

/** The listening sockets of the process before this one. Each is taken once. */
export interface InheritedSockets {
  /** A descriptor that listens at the configured address of this socket; undefined without one. */
  take(name: string): number | undefined;
  /** The ports of a thread's sockets, by transport, whether taken or not. */
  portsOf(thread: string): Bound;
  /** Whether the process before served zones: visitors wait in the sockets of several threads. */
  readonly servesZones: boolean;
  /** Closes sockets that the configuration has no use for. */
  closeRest(): void;
}

type Place = (config: Config) => { readonly host: string; readonly port: number };

/** By plane, or `api` and `ops`, and transport. */
const PLACES: Readonly<Record<string, Place>> = {
  "nameserver/udp": ({ dns }) => dns,
  "nameserver/tcp": ({ dns }) => dns,
  "nameserver/dot": ({ dns }) => ({ host: dns.host, port: dns.tls_port }),
  "edge/http": ({ edge, http }) => ({ host: edge.host, port: http.port }),
  "edge/https": ({ edge, https }) => ({ host: edge.host, port: https.port }),
  "gateway/http": ({ gateway }) => gateway,
  "api/tcp": ({ api }) => api,
  "ops/tcp": ({ ops }) => ops,
};

/** The configured address of a socket, which the threads of a plane share. Undefined for internal sockets. */
export const placeOf = (config: Config, name: string): ReturnType<Place> | undefined => PLACES[name.replace(/-\d+\//, "/")]?.(config);

const isNeeded = ({ roles }: Config, kind: string): boolean => {
  const owner = kind.slice(0, kind.indexOf("/"));
  return owner === "ops" || roles.includes((owner === "api" ? "control" : owner) as Config["roles"][number]);
};

/**
 * The open sockets as they are passed on. Throws if some are missing: Node.js does not name those of datagrams, and some
 * visitors would be lost.
 */
export function passedSockets(
  config: Config,
  open: readonly { readonly name: string; readonly fd: number; readonly port: number }[],
): readonly PassedSocket[] {
  const passed = open.flatMap(({ name, fd, port }) => {
    const place = placeOf(config, name);
    return place === undefined ? [] : [{ name, fd, host: place.host, port: place.port, boundPort: port }];
  });
  const kinds = new Set(passed.map(({ name }) => name.replace(/-\d+\//, "/")));
  const missing = Object.keys(PLACES).filter((kind) => isNeeded(config, kind) && !kinds.has(kind));
  if (missing.length === 0) return passed;
  throw new Error(
    `the sockets of ${missing.join(", ")} cannot be passed on: they need the native transport (runtime.native, and koffi installed). Stop the server and start it`,
  );
}

export function createInheritedSockets(config: Config, passed: readonly PassedSocket[], servesZones: boolean): InheritedSockets {
  const fits = ({ name, host, port }: PassedSocket): boolean => {
    const place = placeOf(config, name);
    return place?.host === host && place.port === port;
  };
  const known = new Map(passed.filter(fits).map((socket) => [socket.name, socket]));
  const left = new Map(passed.map(({ name, fd }) => [name, fd]));
  return {
    take: (name) => {
      const socket = known.get(name);
      if (socket === undefined || !left.delete(name)) return undefined;
      return socket.fd;
    },
    portsOf: (thread) =>
      Object.fromEntries(
        Array.from(known.values())
          .filter(({ name }) => name.startsWith(`${thread}/`))
          .map(({ name, boundPort }) => [name.slice(thread.length + 1), boundPort]),
      ),
    servesZones,
    closeRest: () => {
      for (const fd of left.values()) closeSync(fd);
      left.clear();
    },
  };
}

/** The sockets of the thread of this name in the process before; a thread that starts again opens its own. */
export const inheritedBy = <Transport extends string>(
  name: string,
  transports: readonly Transport[],
  bound: Bound,
  inherited: InheritedSockets | undefined,
): Partial<Record<Transport, number>> => {
  const taken: Partial<Record<Transport, number>> = {};
  if (Object.keys(bound).length > 0) return taken;
  for (const transport of transports) {
    const fd = inherited?.take(`${name}/${transport}`);
    if (fd !== undefined) taken[transport] = fd;
  }
  return taken;
};
