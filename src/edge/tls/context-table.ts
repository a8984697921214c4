import type { TicketKeys } from "#kernel/process/worker-protocol.ts";
import type { CertificateOptions, Certificates } from "#snapshot/certificates.ts";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";

/** What a zone's settings say of its handshakes. */
export type TlsPolicy = Pick<EdgeSettings, "min_tls_version" | "tls_1_3" | "http2">;

/**
 * Something for each certificate in use, each policy that it is asked for under, and each ticket key: the versions of a
 * connection, what it is offered by ALPN and which tickets it can open are decided before its handshake begins.
 */
export interface ContextTable<T> {
  /** `ticketKeyName` is that of an offered ticket, where it is one of ours. Null where the certificate's key does not open. */
  get(certificateId: string, policy: TlsPolicy, ticketKeyName: string): T | null;
  useTicketKeys(keys: TicketKeys): void;
  /** The name of the key if a ticket that begins with it can be opened, or an empty text. */
  ticketKeyNamed(names: readonly Buffer[]): string;
  /** Gives all of it back. */
  clear(): void;
}

export interface ContextTableDeps<T> {
  readonly certificates: Certificates;
  /** Certificates that are kept open: those above the limit that were not asked for the longest are closed. */
  readonly certificatesMax: number;
  make(options: CertificateOptions, policy: TlsPolicy, ticketKey: Buffer | null): T;
  free(made: T): void;
}

/** A session can be resumed for so long; shorter than a ticket key lives after it has been replaced. */
export const SESSION_SECONDS = 7_200;
const KEY_NAME_BYTES = 16;

export function createContextTable<T>(deps: ContextTableDeps<T>): ContextTable<T> {
  /** By certificate, in the order of use; then by policy and key. */
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
        made = deps.certificates.openWith(certificateId, (options) => deps.make(options, policy, keys.get(name) ?? null));
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

const nameOf = (key: Buffer): string => key.toString("latin1", 0, KEY_NAME_BYTES);
