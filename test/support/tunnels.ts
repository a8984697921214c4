import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { randomUUID, X509Certificate } from "node:crypto";
import { systemClock } from "#kernel/clock.ts";
import type { IngressConfig } from "#model/tunnels/ingress.ts";
import type { Op, TunnelEntry } from "#snapshot/entries.ts";
import { recordOp, zoneOp } from "#edge/testing/entries.ts";
import { createConnector, type Connector, type ConnectorDeps } from "#app/tunnel/connector.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { startSecureEdge, type SecureEdge } from "./secure-edge.ts";

const socketCalls = await loadSocketCalls();

export const TUNNEL = "5c1c1e0e-0000-4000-8000-000000000001";
export const OTHERS = "5c1c1e0e-0000-4000-8000-000000000002";
const SECRET = Buffer.alloc(32, 1).toString("base64");
export const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
} as unknown as ConnectorDeps["log"];

export interface TunnelledEdge extends SecureEdge {
  /** The tunnel's entry in its present form, with these changes; null removes it. */
  change(more: Partial<TunnelEntry> | null): void;
  token(secret?: string, tunnel?: string): ConnectorDeps["token"];
  /** A connector in this process; rules of the command line, or null for those of the API. */
  connect(
    ingress: IngressConfig | null,
    more?: Partial<ConnectorDeps>,
  ): Connector & {
    /** The reason of the first refusal for good. */
    readonly refused: Promise<string>;
  };
}

/** An edge on which `www.example.com` leads to a tunnel of its account, and `other.example.com` to another account's. */
export async function startTunnelledEdge(config: Parameters<typeof startSecureEdge>[2] = {}): Promise<TunnelledEdge> {
  const edge = await startSecureEdge(0, {}, config);
  const sealed = (id: string, secret: string): string => edge.sealer.seal(secret, `tunnel:${id}`);
  let entry: TunnelEntry = { account_id: "account", name: "office", config_src: "local", secret: sealed(TUNNEL, SECRET) };
  const op = (id: string, value: TunnelEntry | null): Op => ({ kind: "tunnel", id, value });
  edge.replica.apply([
    zoneOp("zone", "example.com"),
    // The route of the site to a port, which is not for tunnels.
    { kind: "ruleset", id: "route", value: null },
    recordOp("www", "zone", "www.example.com", "CNAME", `${TUNNEL}.tunnel.internal`),
    recordOp("published", "zone", "published.example.com", "CNAME", `${TUNNEL}.cfargotunnel.com`),
    recordOp("other", "zone", "other.example.com", "CNAME", `${OTHERS}.tunnel.internal`),
    op(TUNNEL, entry),
    op(OTHERS, { account_id: "other account", name: "theirs", config_src: "local", secret: sealed(OTHERS, SECRET) }),
  ]);
  const connectors: Connector[] = [];
  const token = (secret = SECRET, tunnel = TUNNEL): ConnectorDeps["token"] => ({
    ...{ account: tunnel === TUNNEL ? "account" : "other account", tunnel, secret },
    ...{ host: "www.example.com", port: edge.https, authority: new X509Certificate(edge.rootPem).raw },
  });
  return {
    ...edge,
    change: (more) => {
      if (more !== null) entry = { ...entry, ...more };
      edge.replica.apply([op(TUNNEL, more === null ? null : entry)]);
    },
    token,
    connect: (ingress, more = {}) => {
      const refused = Promise.withResolvers<string>();
      const connector = createConnector({
        ...{
          token: token(),
          id: randomUUID(),
          edge: { host: "127.0.0.1", port: edge.https },
          ingress,
          connections: 2,
          clock: systemClock,
          log: SILENT,
        },
        ...{ socketCalls, onRefused: refused.resolve },
        ...more,
      });
      connectors.push(connector);
      return { ...connector, refused: refused.promise };
    },
    close: async (timeoutMs) => {
      await Promise.all(connectors.map((connector) => connector.stop(0)));
      await edge.close(timeoutMs);
    },
  };
}

export interface Service {
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

/** An HTTP server on a free port of loopback. */
export async function startService(answer: RequestListener): Promise<Service> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ port, server },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
