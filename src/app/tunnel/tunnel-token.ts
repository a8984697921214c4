/** The parts of a token: the tunnel, its secret, and where to dial. */
export interface TunnelToken {
  readonly account: string;
  readonly tunnel: string;
  readonly secret: string;
  /** The edge's host, whose name its certificate has; "" in tokens without one. */
  readonly host: string;
  readonly port: number;
  /** DER of the authority that the edge's certificate comes from; null: a public one. */
  readonly authority: Buffer | null;
}

/** Undefined if the text is no token. */
export function readTunnelToken(text: string): TunnelToken | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text.trim(), "base64").toString("utf8"));
  } catch {
    return undefined;
  }
  const { a: account, t: tunnel, s: secret, e: endpoint = "", c: authority } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof account !== "string" || typeof tunnel !== "string" || typeof secret !== "string" || typeof endpoint !== "string")
    return undefined;
  if (authority !== undefined && typeof authority !== "string") return undefined;
  const { host, port } = readEndpoint(endpoint) ?? { host: "", port: DEFAULT_PORT };
  return { account, tunnel, secret, host, port, authority: authority === undefined ? null : Buffer.from(authority, "base64") };
}

const DEFAULT_PORT = 443;

/** `HOST`, `HOST:PORT` or `[IPv6]:PORT`. */
export function readEndpoint(text: string): { readonly host: string; readonly port: number } | undefined {
  if (!URL.canParse(`tunnel://${text}`)) return undefined;
  const { hostname, port, pathname } = new URL(`tunnel://${text}`);
  if (hostname === "" || (pathname !== "" && pathname !== "/")) return undefined;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? DEFAULT_PORT : Number(port) };
}
