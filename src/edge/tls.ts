import type { TlsOptions } from "node:tls";
import { EDGE_ALPN } from "./config.ts";
import { type Certificates, secureOptions } from "#snapshot/certificates.ts";

/** Options of the HTTPS listener. There is no certificate besides those of the names: an unknown name gets none. */
export const tlsOptions = (certificates: Certificates): TlsOptions => ({ ...secureOptions(certificates), ALPNProtocols: [...EDGE_ALPN] });
