import { hash } from "node:crypto";
import type { TicketKeys } from "#kernel/process/worker-protocol.ts";
import type { CertificateOptions, Certificates } from "#snapshot/certificates.ts";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";

/** The zone settings that apply to handshakes. */
export type TlsPolicy = Pick<EdgeSettings, "min_tls_version" | "tls_1_3" | "http2">;

/**
 * One TLS context for each combination in use of certificate, policy and ticket key: versions, ALPN and tickets are
 * decided before the handshake begins.
 */
export interface ContextTable<T> {
  /** `ticketKeyName`: of an offered ticket, if its key is ours; otherwise empty. Null if the certificate's key cannot be decrypted. */
  get(certificateId: string, policy: TlsPolicy, ticketKeyName: string): T | null;
  useTicketKeys(keys: TicketKeys): void;
  /** The name of the key that opens one of the offered tickets, which begin with these names; otherwise empty. */
  ticketKeyNamed(names: readonly Buffer[]): string;
  /** Frees all contexts. */
  clear(): void;
}

export interface ContextTableDeps<T> {
  readonly certificates: Certificates;
  /** Open certificates at most; the least recently used ones are closed. */
  readonly certificatesMax: number;
  /** `sessionContext`: sessions are resumed where this is the same. */
  make(options: CertificateOptions, policy: TlsPolicy, ticketKey: Buffer | null, sessionContext: string): T;
  free(made: T): void;
}

/** How long a session can be resumed; shorter than the life of a replaced ticket key. */
export const SESSION_SECONDS = 7_200;
const KEY_NAME_BYTES = 16;

export function createContextTable<T>(deps: ContextTableDeps<T>): ContextTable<T> {
  /** By certificate, in order of use; then by policy and key. */
  const opened = new Map<string, Map<string, T | null>>();
  let keys = new Map<string, Buffer>();

  const close = (certificateId: string): void => {
    for (const made of opened.get(certificateId)?.values() ?? []) if (made !== null) deps.free(made);
    opened.delete(certificateId);
  };
  const clear = (): void => {
    for (const id of [...opened.keys()]) close(id);
  };
  deps.certificates.onChange((ids) => {
    if (ids === null) clear();
    else for (const id of ids) close(id);
  });

  const madeOf = (certificateId: string): Map<string, T | null> => {
    const made = opened.get(certificateId) ?? new Map<string, T | null>();
    opened.delete(certificateId);
    for (const oldest of opened.keys()) {
      if (opened.size < deps.certificatesMax) break;
      close(oldest);
    }
    opened.set(certificateId, made);
    return made;
  };

  return {
    clear,
    get: (certificateId, policy, ticketKeyName) => {
      const all = madeOf(certificateId);
      const name = ticketKeyName === "" ? (keys.keys().next().value ?? "") : ticketKeyName;
      const key = `${policy.min_tls_version === "1.3"} ${policy.tls_1_3} ${policy.http2} ${name}`;
      let made = all.get(key);
      if (made === undefined) {
        made = deps.certificates.openWith(certificateId, (options) =>
          deps.make(options, policy, keys.get(name) ?? null, sessionContextOf(certificateId)),
        );
        all.set(key, made);
      }
      return made;
    },
    useTicketKeys: (newest) => {
      keys = new Map(newest.map((key) => [nameOf(Buffer.from(key)), Buffer.from(key)]));
      clear();
    },
    ticketKeyNamed: (names) => names.map(nameOf).find((name) => keys.has(name)) ?? "",
  };
}

/**
 * All certificates share the ticket keys, so this keeps a session of one tenant's name from being resumed under another's,
 * where no certificate would be shown (RFC 6066 §3). At most 32 bytes (SSL_CTX_set_session_id_context).
 */
const sessionContextOf = (certificateId: string): string => hash("sha256", certificateId, "hex").slice(0, 32);

const nameOf = (key: Buffer): string => key.toString("latin1", 0, KEY_NAME_BYTES);
