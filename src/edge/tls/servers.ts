import { createServer, type Server, type TLSSocket } from "node:tls";
import { EDGE_ALPN } from "#edge/config.ts";
import { TUNNEL_ALPN } from "#wire/tls/tunnel-protocol.ts";
import { type ContextTable, type ContextTableDeps, createContextTable, SESSION_SECONDS } from "./context-table.ts";

export interface TlsServersDeps extends Pick<ContextTableDeps<Server>, "certificates" | "certificatesMax"> {
  readonly handshakeTimeoutMs: number;
  onSecure(socket: TLSSocket): void;
  /** A handshake failed. That is the client's fault and costs only the connection. */
  onFailed(socket: TLSSocket): void;
}

/** Old clients such as `curl --http1.0` offer nothing newer, and an offer without a match would end in an alert. */
const OLD_PROTOCOL = "http/1.0";

/** Servers of Node.js that do not listen. */
export const createTlsServers = (deps: TlsServersDeps): ContextTable<Server> =>
  createContextTable({
    ...deps,
    make: (options, policy, ticketKey, sessionContext) =>
      createServer(
        {
          ...options,
          handshakeTimeout: deps.handshakeTimeoutMs,
          minVersion: policy.min_tls_version === "1.3" ? "TLSv1.3" : "TLSv1.2",
          maxVersion: policy.tls_1_3 ? "TLSv1.3" : "TLSv1.2",
          ALPNProtocols: [...EDGE_ALPN.filter((protocol) => policy.http2 || protocol !== "h2"), OLD_PROTOCOL, TUNNEL_ALPN],
          sessionTimeout: SESSION_SECONDS,
          // The default of Node.js depends on the file that the thread began with, so sessions could not be resumed on
          // other threads.
          sessionIdContext: sessionContext,
          ...(ticketKey === null ? {} : { ticketKeys: ticketKey }),
        },
        deps.onSecure,
      ).on("tlsClientError", (_error, socket) => {
        // Node.js only reports a handshake that takes too long, and leaves the connection open.
        socket.destroy();
        deps.onFailed(socket);
      }),
    free: () => undefined,
  });
