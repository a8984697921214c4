import { createServer, type Server, type TLSSocket } from "node:tls";
import type { TicketKeys } from "#kernel/worker-protocol.ts";
import type { Certificates } from "#snapshot/certificates.ts";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import { EDGE_ALPN } from "./config.ts";

/** What a zone's settings say of its handshakes. */
export type TlsPolicy = Pick<EdgeSettings, "min_tls_version" | "tls_1_3" | "http2">;

/**
 * One server of Node's for each certificate in use, each policy that it is asked for under, and each ticket key: the
 * versions of a connection, what it is offered by ALPN and which tickets it can open are those of the server that is
 * given it. None of them listens.
 */
export interface TlsServers {
  /** `ticketKeyName` is that of an offered ticket, where it is one of ours. Null where the certificate's key does not open. */
  serverFor(certificateId: string, policy: TlsPolicy, ticketKeyName: string): Server | null;
  useTicketKeys(keys: TicketKeys): void;
  /** The name of the key if a ticket that begins with it can be opened, or an empty text. */
  ticketKeyNamed(names: readonly Buffer[]): string;
}

export interface TlsServersDeps {
  readonly certificates: Certificates;
  /** Certificates that are kept open: those above the limit that were not asked for the longest are closed. */
  readonly certificatesMax: number;
  readonly handshakeTimeoutMs: number;
  onSecure(socket: TLSSocket): void;
  /** A handshake failed: it is the client's doing and costs the connection only. */
  onFailed(socket: TLSSocket): void;
}

/** A session can be resumed for so long; shorter than a ticket key lives after it has been replaced. */
const SESSION_SECONDS = 7_200;
const KEY_NAME_BYTES = 16;
/** Asked for by clients that speak nothing newer, `curl --http1.0` among them: an offer without a match ends in an alert. */
const OLD_PROTOCOL = "http/1.0";

export function createTlsServers(deps: TlsServersDeps): TlsServers {
  /** By certificate, in the order of use; then by policy and key. */
  const opened = new Map<string, Map<string, Server | null>>();
  let keys = new Map<string, Buffer>();

  deps.certificates.onChange((ids) => {
    if (ids === null) opened.clear();
    else for (const id of ids) opened.delete(id);
  });

  const create = (certificateId: string, policy: TlsPolicy, ticketKey: Buffer | undefined): Server | null =>
    deps.certificates.openWith(certificateId, (options) =>
      createServer(
        {
          ...options,
          handshakeTimeout: deps.handshakeTimeoutMs,
          minVersion: policy.min_tls_version === "1.3" ? "TLSv1.3" : "TLSv1.2",
          maxVersion: policy.tls_1_3 ? "TLSv1.3" : "TLSv1.2",
          ALPNProtocols: [...EDGE_ALPN.filter((protocol) => policy.http2 || protocol !== "h2"), OLD_PROTOCOL],
          sessionTimeout: SESSION_SECONDS,
          // Of Node's own making it would depend on which file a thread began with, and sessions end at the other threads.
          sessionIdContext: "edge",
          ...(ticketKey === undefined ? {} : { ticketKeys: ticketKey }),
        },
        deps.onSecure,
      ).on("tlsClientError", (_error, socket) => {
        // Node only reports a handshake that takes too long, and leaves the connection open.
        socket.destroy();
        deps.onFailed(socket);
      }),
    );

  const serversOf = (certificateId: string): Map<string, Server | null> => {
    const servers = opened.get(certificateId) ?? new Map<string, Server | null>();
    opened.delete(certificateId);
    for (const oldest of opened.keys()) {
      if (opened.size < deps.certificatesMax) break;
      opened.delete(oldest);
    }
    opened.set(certificateId, servers);
    return servers;
  };

  return {
    serverFor: (certificateId, policy, ticketKeyName) => {
      const servers = serversOf(certificateId);
      const name = ticketKeyName === "" ? (keys.keys().next().value ?? "") : ticketKeyName;
      const key = `${policy.min_tls_version === "1.3"} ${policy.tls_1_3} ${policy.http2} ${name}`;
      let server = servers.get(key);
      if (server === undefined) servers.set(key, (server = create(certificateId, policy, keys.get(name))));
      return server;
    },
    useTicketKeys: (newest) => {
      keys = new Map(newest.map((key) => [nameOf(Buffer.from(key)), Buffer.from(key)]));
      opened.clear();
    },
    ticketKeyNamed: (names) => names.map(nameOf).find((name) => keys.has(name)) ?? "",
  };
}

const nameOf = (key: Buffer): string => key.toString("latin1", 0, KEY_NAME_BYTES);
