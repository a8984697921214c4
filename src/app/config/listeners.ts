import type { ListenPlace } from "#kernel/net/listen-place.ts";
import type { Config } from "./config-schema.ts";
import { LISTEN_PLACES } from "./listen-places.ts";

/** A TCP port in the configuration; the nameserver's is also a UDP port. */
export interface Listener {
  readonly name: string;
  readonly hostFlag: string;
  readonly portFlag: string;
  places(config: Config): readonly ListenPlace[];
  /** The role that has it; null: each process. */
  readonly role: Config["roles"][number] | null;
  readonly isUdpToo?: boolean;
}

export const LISTENERS: readonly Listener[] = [
  { name: "the management API", hostFlag: "--api-host", portFlag: "--api-port", places: LISTEN_PLACES.api, role: "control" },
  { name: "the AI gateway", hostFlag: "--gateway-host", portFlag: "--gateway-port", places: LISTEN_PLACES.gateway, role: "gateway" },
  { name: "the operations listener", hostFlag: "--ops-host", portFlag: "--ops-port", places: LISTEN_PLACES.ops, role: null },
  { name: "the nameserver", hostFlag: "--dns-host", portFlag: "--dns-port", places: LISTEN_PLACES.dns, role: "nameserver", isUdpToo: true },
  {
    name: "the nameserver (TLS)",
    hostFlag: "--dns-host",
    portFlag: "--dns-tls-port",
    places: LISTEN_PLACES.dot,
    role: "nameserver",
  },
  {
    name: "the edge (HTTP)",
    hostFlag: "--edge-host",
    portFlag: "--http-port",
    places: LISTEN_PLACES.http,
    role: "edge",
  },
  {
    name: "the edge (HTTPS)",
    hostFlag: "--edge-host",
    portFlag: "--https-port",
    places: LISTEN_PLACES.https,
    role: "edge",
  },
];

/** Listeners that conflict, as one sentence each. */
export function collidingListeners(config: Config): readonly string[] {
  const first = new Map<string, Listener>();
  const problems: string[] = [];
  for (const listener of LISTENERS)
    for (const { host, port, orAny } of listener.places(config)) {
      if (port === 0 || orAny === true) continue;
      const other = first.get(`${host} ${port}`);
      if (other === undefined) first.set(`${host} ${port}`, listener);
      else if (other === listener) problems.push(`${listener.name} has ${host} with port ${port} twice: change ${listener.hostFlag}`);
      else problems.push(`${other.name} and ${listener.name} cannot share port ${port}: change ${other.portFlag} or ${listener.portFlag}`);
    }
  return problems;
}

/** The system's reason, and advice for the operator. */
const REASONS: Readonly<Record<string, (listener: Listener) => string>> = {
  EADDRINUSE: ({ portFlag }) => `another program uses it. Stop that program, or choose another port with ${portFlag} (0: any free port)`,
  EACCES: ({ portFlag }) =>
    `this user is not permitted to. Ports below 1024 need root or CAP_NET_BIND_SERVICE; otherwise choose another port with ${portFlag}`,
  EADDRNOTAVAIL: ({ hostFlag }) => `this machine has no such address. Choose another with ${hostFlag}`,
  EAFNOSUPPORT: ({ hostFlag }) => `this machine has no addresses of this family. Choose another with ${hostFlag}`,
};

/** Why a listener cannot use its configured address, with advice; undefined for other errors. */
export function listenFailure(error: Error, config: Config): string | undefined {
  const { code = "", syscall, address, port } = error as NodeJS.ErrnoException & { readonly address?: string; readonly port?: number };
  if (REASONS[code] === undefined || (syscall !== "listen" && syscall !== "bind")) return undefined;
  // localhost is looked up by Node.js, whose error has the address.
  const isAt = (place: ListenPlace): boolean => place.host === address || place.host === "localhost";
  // Sockets that Node.js does not bind are those of the nameserver, whose errors may have no address.
  // Node.js leaves out port 0.
  const found =
    port === undefined && address !== undefined
      ? placeWhere(config, (place) => place.port === 0 && isAt(place))
      : port === undefined
        ? placeWhere(config, (_place, { portFlag }) => portFlag === "--dns-port")
        : (placeWhere(config, (place) => place.port === port && isAt(place)) ??
          placeWhere(config, (place, { places }) => places(config)[0]?.host !== place.host && place.port === 0 && isAt(place)));
  if (found === undefined) return undefined;
  const { place, listener } = found;
  return listenAdvice(error, listener, { ...place, port: place.port || (port ?? 0) });
}

/** The same for an error of which the listener is known. */
export function listenAdvice(error: Error, listener: Listener, { host, port }: ListenPlace): string | undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  const where = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const advice = REASONS[code]?.(listener);
  return advice === undefined ? undefined : `${listener.name} cannot listen on ${where} (${code}): ${advice}`;
}

/** The first address of a listener that fits. */
function placeWhere(
  config: Config,
  fits: (place: ListenPlace, listener: Listener) => boolean,
): { readonly place: ListenPlace; readonly listener: Listener } | undefined {
  for (const listener of LISTENERS) for (const place of listener.places(config)) if (fits(place, listener)) return { place, listener };
  return undefined;
}
