import { createServer, type Server, type TLSSocket } from "node:tls";
import { EDGE_ALPN } from "#edge/config.ts";
import { type ContextTable, type ContextTableDeps, createContextTable, SESSION_SECONDS } from "./context-table.ts";

export interface TlsServersDeps extends Pick<ContextTableDeps<Server>, "certificates" | "certificatesMax"> {
  readonly handshakeTimeoutMs: number;
  onSecure(socket: TLSSocket): void;
  /** A handshake failed: it is the client's doing and costs the connection only. */
  onFailed(socket: TLSSocket): void;
}

/** Asked for by clients that speak nothing newer, `curl --http1.0` among them: an offer without a match ends in an alert. */
const OLD_PROTOCOL = "http/1.0";

/** Servers of Node's, of which none listens. */
export const createTlsServers = (deps: TlsServersDeps): ContextTable<Server> =>
  createContextTable({
    ...deps,
    make: (options, policy, ticketKey) =>
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
          ...(ticketKey === null ? {} : { ticketKeys: ticketKey }),
        },
        deps.onSecure,
      ).on("tlsClientError", (_error, socket) => {
        // Node only reports a handshake that takes too long, and leaves the connection open.
        socket.destroy();
        deps.onFailed(socket);
      }),
    free: () => undefined,
  });
