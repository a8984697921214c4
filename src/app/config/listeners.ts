import type { Config } from "./config-schema.ts";

/** A TCP port in the configuration; the nameserver's is also a UDP port. */
export interface Listener {
  readonly name: string;
  readonly hostFlag: string;
  readonly portFlag: string;
  /** Port 0 means any free port. */
  place(config: Config): { readonly host: string; readonly port: number };
}

export const LISTENERS: readonly Listener[] = [
  { name: "the management API", hostFlag: "--api-host", portFlag: "--api-port", place: ({ api }) => api },
  { name: "the AI gateway", hostFlag: "--gateway-host", portFlag: "--gateway-port", place: ({ gateway }) => gateway },
  { name: "the operations listener", hostFlag: "--ops-host", portFlag: "--ops-port", place: ({ ops }) => ops },
  { name: "the nameserver", hostFlag: "--dns-host", portFlag: "--dns-port", place: ({ dns }) => dns },
  {
    name: "the nameserver (TLS)",
    hostFlag: "--dns-host",
    portFlag: "--dns-tls-port",
    place: ({ dns }) => ({ host: dns.host, port: dns.tls_port }),
  },
  {
    name: "the edge (HTTP)",
    hostFlag: "--edge-host",
    portFlag: "--http-port",
    place: ({ edge, http }) => ({ host: edge.host, port: http.port }),
  },
  {
    name: "the edge (HTTPS)",
    hostFlag: "--edge-host",
    portFlag: "--https-port",
    place: ({ edge, https }) => ({ host: edge.host, port: https.port }),
  },
];

/** Listeners that conflict, as one sentence each. */
export function collidingListeners(config: Config): readonly string[] {
  const first = new Map<string, Listener>();
  const problems: string[] = [];
  for (const listener of LISTENERS) {
    const { host, port } = listener.place(config);
    const other = first.get(`${host} ${port}`);
    if (port !== 0 && other !== undefined) {
      problems.push(`${other.name} and ${listener.name} cannot share port ${port}: change ${other.portFlag} or ${listener.portFlag}`);
    } else first.set(`${host} ${port}`, listener);
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
  const explain = REASONS[code];
  if (explain === undefined || (syscall !== "listen" && syscall !== "bind")) return undefined;
  const listener = LISTENERS.find((candidate) => {
    // Only the nameserver binds sockets outside of Node.js, whose errors have no address.
    if (port === undefined) return candidate.portFlag === "--dns-port";
    const place = candidate.place(config);
    return place.port === port && (place.host === address || place.host === "localhost");
  });
  if (listener === undefined) return undefined;
  const { host, port: wanted } = listener.place(config);
  const where = host.includes(":") ? `[${host}]:${wanted}` : `${host}:${wanted}`;
  return `${listener.name} cannot listen on ${where} (${code}): ${explain(listener)}`;
}
