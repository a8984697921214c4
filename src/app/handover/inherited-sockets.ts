import { closeSync } from "node:fs";
import { type ListenPlace, socketName, socketOf } from "#kernel/net/listen-place.ts";
import type { ListeningSockets } from "#kernel/process/worker-protocol.ts";
import type { Config } from "#app/config/config.ts";
import { LISTEN_PLACES } from "#app/config/listen-places.ts";
import type { Bound } from "#app/threads/thread-ports.ts";

/** A listening socket that one process passes to the next. */
export interface PassedSocket {
  /** Thread and transport: `edge-1/http`. */
  readonly name: string;
  readonly fd: number;
  /** Its address in the configuration; port 0: any free port, -1: its own or any. */
  readonly host: string;
  readonly port: number;
  /** The port it has. */
  readonly boundPort: number;
}

/** The listening sockets of the process before this one. Each is taken once. */
export interface InheritedSockets {
  /** A descriptor that listens at the configured address of this socket; undefined without one. */
  take(name: string): number | undefined;
  /** Whether one of them listens at this address: it can be taken, or the process before closes it in time. */
  has(place: ListenPlace): boolean;
  /** The ports of a thread's sockets, by transport, whether taken or not. */
  portsOf(thread: string): Bound;
  /** Whether the process before served zones: visitors wait in the sockets of several threads. */
  readonly servesZones: boolean;
  /** Closes sockets that the configuration has no use for. */
  closeRest(): void;
}

/** By plane, or `api` and `ops`, and transport. */
const PLACES: Readonly<Record<string, keyof typeof LISTEN_PLACES>> = {
  "nameserver/udp": "dns",
  "nameserver/tcp": "dns",
  "nameserver/dot": "dot",
  "edge/http": "http",
  "edge/https": "https",
  "gateway/http": "gateway",
  "api/tcp": "api",
  "ops/tcp": "ops",
};

/** The configured addresses of a socket's listener, which the threads of a plane share. Empty for internal sockets. */
export function placesOf(config: Config, name: string): readonly ListenPlace[] {
  const listener = PLACES[kindOf(name)];
  return listener === undefined ? [] : LISTEN_PLACES[listener](config);
}

const kindOf = (name: string): string => socketOf(name.replace(/-\d+\//, "/")).transport;

/** The configured address of a socket. */
const placeOf = (config: Config, name: string): ListenPlace | undefined => placesOf(config, name)[socketOf(name).index];

/** -1: the port, or any. */
export const wantedPort = ({ port, orAny }: ListenPlace): number => (orAny === true ? -1 : port);

/** Closed before the next process listens. */
const isOfControl = ({ name }: Pick<PassedSocket, "name">): boolean => ["api", "ops"].includes(kindOf(name).split("/")[0] ?? "");

const isNeeded = ({ roles }: Config, kind: string): boolean => {
  const owner = kind.slice(0, kind.indexOf("/"));
  return owner === "ops" || roles.includes((owner === "api" ? "control" : owner) as Config["roles"][number]);
};

/**
 * The open sockets as they are passed on. Throws if some are missing: Node.js does not name those of datagrams, and some
 * visitors would be lost. `isReleased`: those of the API are closed already.
 */
export function passedSockets(
  config: Config,
  open: readonly { readonly name: string; readonly fd: number; readonly port: number }[],
  isReleased = false,
): readonly PassedSocket[] {
  const passed = open.flatMap(({ name, fd, port }) => {
    const place = placeOf(config, name);
    return place === undefined ? [] : [{ name, fd, host: place.host, port: wantedPort(place), boundPort: port }];
  });
  const kinds = new Set(passed.map(({ name }) => name.replace(/-\d+\//, "/")));
  const missing = Object.keys(PLACES)
    .filter((kind) => isNeeded(config, kind) && !(isReleased && isOfControl({ name: kind })))
    .flatMap((kind) => placesOf(config, kind).map((_, i) => socketName(kind, i)))
    .filter((kind) => !kinds.has(kind));
  if (missing.length === 0) return passed;
  throw new Error(
    `the sockets of ${missing.join(", ")} cannot be passed on: they need the native transport (runtime.native, and koffi installed). Stop the server and start it`,
  );
}

export function createInheritedSockets(config: Config, passed: readonly PassedSocket[], servesZones: boolean): InheritedSockets {
  // The order of a listener's addresses may have changed.
  const isFor = (socket: PassedSocket, name: string): boolean => {
    const place = placeOf(config, name);
    if (place?.host !== socket.host || wantedPort(place) !== socket.port) return false;
    return socketOf(socket.name).transport === socketOf(name).transport;
  };
  const left = new Set(passed);
  return {
    take: (name) => {
      const socket = [...left].find((each) => isFor(each, name));
      if (socket === undefined) return undefined;
      left.delete(socket);
      return socket.fd;
    },
    has: ({ host, port }) =>
      passed.some((socket) => socket.host === host && (socket.port === port || (isOfControl(socket) && socket.boundPort === port))),
    portsOf: (thread) => {
      const ofThread = passed.filter(({ name }) => name.startsWith(`${thread}/`));
      const names = ofThread.flatMap(({ name }) => placesOf(config, name).map((_, i) => socketName(socketOf(name).transport, i)));
      return Object.fromEntries(
        names.flatMap((name) => {
          const socket = ofThread.find((each) => isFor(each, name));
          return socket === undefined ? [] : [[name.slice(thread.length + 1), socket.boundPort]];
        }),
      );
    },
    servesZones,
    closeRest: () => {
      for (const { fd } of left) closeSync(fd);
      left.clear();
    },
  };
}

/** The sockets of the thread of this name in the process before; a thread that starts again opens its own. */
export const inheritedBy = (
  name: string,
  transports: readonly string[],
  config: Config,
  bound: Bound,
  inherited: InheritedSockets | undefined,
): ListeningSockets => {
  const taken: Record<string, number> = {};
  if (Object.keys(bound).length > 0) return taken;
  const all = transports.flatMap((transport) => placesOf(config, `${name}/${transport}`).map((_, i) => socketName(transport, i)));
  for (const transport of all) {
    const fd = inherited?.take(`${name}/${transport}`);
    if (fd !== undefined) taken[transport] = fd;
  }
  return taken;
};
