import type { TlsOptions } from "node:tls";
import { type Certificates, secureOptions } from "#snapshot/certificates.ts";
import { EDGE_ALPN } from "./config.ts";
import type { Zones } from "./zones.ts";

/** Options of the HTTPS listener. There is no certificate besides those of the names: an unknown name gets none. */
export const tlsOptions = (certificates: Certificates, zones: Zones): TlsOptions => ({
  ...secureOptions(certificates),
  // Without a protocol in common the handshake fails with an alert (RFC 7301 §3.2).
  ALPNCallback: ({ servername, protocols }) => {
    const spoken = zones.find(servername.toLowerCase())?.settings.http2 === false ? EDGE_ALPN.filter((name) => name !== "h2") : EDGE_ALPN;
    return spoken.find((name) => protocols.includes(name));
  },
});
