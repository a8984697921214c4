import { hkdfSync } from "node:crypto";
import { type OpenSsl, TICKET_KEY_BYTES } from "#wire/native/openssl.ts";
import { type ContextTable, type ContextTableDeps, createContextTable, SESSION_SECONDS } from "./context-table.ts";

export interface TlsContextsDeps extends Pick<ContextTableDeps<number>, "certificates" | "certificatesMax"> {
  readonly openSsl: OpenSsl;
}

/** Contexts of OpenSSL, for connections in the epoll loop. */
export const createTlsContexts = ({ openSsl, ...deps }: TlsContextsDeps): ContextTable<number> =>
  createContextTable({
    ...deps,
    make: ({ cert, key, ciphers }, policy, ticketKey, sessionContext) => {
      const context = openSsl.createContext({
        chain: cert,
        privateKey: key,
        ciphers: ciphers.split(":"),
        minVersion: policy.min_tls_version === "1.3" ? "1.3" : "1.2",
        maxVersion: policy.tls_1_3 ? "1.3" : "1.2",
        http2: policy.http2,
        sessionContext,
        sessionSeconds: SESSION_SECONDS,
        ticketKey: ticketKey === null ? null : extended(ticketKey),
      });
      if (context === null) throw new Error("OpenSSL does not accept the certificate");
      return context;
    },
    free: openSsl.freeContext,
  });

const NAME_BYTES = 16;

/**
 * The same name, and secrets of the length that OpenSSL needs. They differ from those that Node.js derives, which seals
 * tickets in another way.
 */
function extended(key: Buffer): Buffer {
  const secrets = hkdfSync("sha256", key.subarray(NAME_BYTES), "", "session tickets of our own loop", TICKET_KEY_BYTES - NAME_BYTES);
  return Buffer.concat([key.subarray(0, NAME_BYTES), Buffer.from(secrets)]);
}
