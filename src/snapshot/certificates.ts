import { constants } from "node:crypto";
import { createSecureContext, type SecureContext, type TlsOptions } from "node:tls";
import type { Clock } from "#kernel/clock.ts";
import type { Metric } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { createValuesByName } from "#kernel/values-by-name.ts";
import type { CertificateEntry } from "./entries.ts";
import type { AppliedOp, Replica } from "./feed.ts";

/** Opens the TLS context for a requested server name. */
export interface Certificates {
  /** The id of the certificate that covers the name and belongs to the zone that serves it, or null; does not open a context. */
  idFor(serverName: string): string | null;
  /** Null if no certificate covers the name, or its key does not open. */
  contextFor(serverName: string): SecureContext | null;
  /** The options of one certificate, as a listener takes it for clients that send no name. */
  optionsOf(id: string): CertificateOptions | null;
  /** Builds a value from one certificate's options; null without options, or if they are unusable. */
  openWith<T>(id: string, make: (options: CertificateOptions) => T): T | null;
  /** Called when certificates were added or removed, with their ids, or null if it may be all. */
  onChange(listener: (ids: ReadonlySet<string> | null) => void): void;
}

/** Options of node:tls. */
export interface CertificateOptions {
  /** PEM: the certificate and the chain to its root. */
  readonly cert: string;
  /** PEM. */
  readonly key: Buffer;
  readonly ciphers: string;
  readonly minVersion: "TLSv1.2";
  readonly honorCipherOrder: true;
  readonly secureOptions: number;
}

/** The id of the installation's own certificate, which belongs to no zone. */
export const SERVICE_CERTIFICATE_ID = "service";

/** TLS 1.3, and of TLS 1.2 the suites with forward secrecy and authenticated encryption (RFC 7905 for ChaCha20; SPEC 9, 2023-07-01). */
const CIPHERS = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Common options of every TLS listener. */
const COMMON = {
  minVersion: "TLSv1.2",
  ciphers: CIPHERS,
  honorCipherOrder: true,
  // Node would allow a few renegotiations on each connection.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/** Options of a listener that selects the certificate by the requested name. */
export const secureOptions = (certificates: Certificates): TlsOptions => ({
  ...COMMON,
  handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  SNICallback: (serverName, callback) => {
    // Without a context the handshake fails with an alert, whereas an error here would only reset the connection.
    callback(null, certificates.contextFor(serverName.toLowerCase()) ?? undefined);
  },
});

/**
 * Certificates of a replica, by the names they cover. A context costs 31 KB and 0.23 ms (http-edge.md): contexts are
 * opened on demand, and the least recently used are closed above the limit.
 */
export function createCertificates(deps: {
  readonly replica: Replica;
  readonly sealer: Sealer;
  readonly contextsMax: number;
  readonly keysNotOpened: Metric;
  /** The zone that serves the name here, or null. A certificate for the name in another zone may be an attacker's. */
  zoneIdOf(serverName: string): string | null;
  /** For certificates of zones' owners, which count while they are valid; without a clock none of them is used. */
  readonly clock?: Clock;
}): Certificates {
  /** Certificate ids by host, newest last: among equal ranks the last one put wins. */
  const idsByHost = createValuesByName<string>();
  const contexts = new Map<string, SecureContext | null>();
  const listeners: ((ids: ReadonlySet<string> | null) => void)[] = [];

  const add = (id: string, entry: CertificateEntry): void => {
    for (const host of entry.hosts) idsByHost.add(host, id);
  };

  const remove = (id: string, entry: CertificateEntry): void => {
    contexts.delete(id);
    for (const host of entry.hosts) idsByHost.remove(host, id);
  };

  const put = ({ id, before, value }: Extract<AppliedOp, { readonly kind: "certificate" }>): void => {
    if (before !== undefined) remove(id, before);
    if (value !== null) add(id, value);
  };

  const rebuild = (): void => {
    idsByHost.clear();
    contexts.clear();
    for (const [id, entry] of deps.replica.snapshot.entries("certificate")) add(id, entry);
  };

  const optionsOf = (id: string): CertificateOptions | null => {
    const entry = deps.replica.snapshot.get("certificate", id);
    if (entry === undefined) return null;
    try {
      const key = deps.sealer.open(entry.private_key, `certificate:${id}`);
      return { cert: entry.chain, key, ...COMMON };
    } catch {
      deps.keysNotOpened.value++;
      return null;
    }
  };

  const openWith = <T>(id: string, make: (options: CertificateOptions) => T): T | null => {
    const options = optionsOf(id);
    try {
      return options && make(options);
    } catch {
      deps.keysNotOpened.value++;
      return null;
    }
  };

  const cached = (id: string): SecureContext | null => {
    let context = contexts.get(id);
    if (context === undefined) context = openWith(id, createSecureContext);
    contexts.delete(id);
    // Insertion order is order of use: the first is the least recently used.
    for (const oldest of contexts.keys()) {
      if (contexts.size < deps.contextsMax) break;
      contexts.delete(oldest);
    }
    contexts.set(id, context);
    return context;
  };

  rebuild();
  deps.replica.onApplied((ops) => {
    const changed = ops?.filter(({ kind }) => kind === "certificate");
    if (changed?.length === 0) return;
    if (ops === null) rebuild();
    else for (const op of ops) if (op.kind === "certificate") put(op);
    const ids = changed === undefined ? null : new Set(changed.map(({ id }) => id));
    for (const listener of listeners) listener(ids);
  });

  /** 0 without a rank, -1 if it must not be used for the zone's names now. */
  const rankFor = (id: string, zoneId: string | null): number => {
    const entry = deps.replica.snapshot.get("certificate", id);
    // The installation's own certificate belongs to no zone.
    if (entry === undefined || (entry.zone_id !== "" && entry.zone_id !== zoneId)) return -1;
    if (entry.rank === undefined) return 0;
    return deps.clock !== undefined && Date.parse(entry.not_after) > deps.clock.nowMs() ? entry.rank : -1;
  };

  const best = (host: string, zoneId: string | null): string | null => {
    let found: string | null = null;
    let highest = 0;
    for (const id of idsByHost.all(host)) {
      const rank = rankFor(id, zoneId);
      if (rank < highest) continue;
      [found, highest] = [id, rank];
    }
    return found;
  };

  const idFor = (serverName: string): string | null => {
    const dot = serverName.indexOf(".");
    const zoneId = deps.zoneIdOf(serverName);
    return best(serverName, zoneId) ?? (dot > 0 ? best(`*${serverName.slice(dot)}`, zoneId) : null);
  };

  return {
    idFor,
    optionsOf,
    openWith,
    onChange: (listener) => void listeners.push(listener),
    contextFor: (serverName) => {
      const id = idFor(serverName);
      return id === null ? null : cached(id);
    },
  };
}
