import { isIP, type OnReadOpts, type Socket } from "node:net";
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  getCACertificates,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { OriginTls } from "#edge/exchange/decisions.ts";
import type { Clock } from "#kernel/clock.ts";

/** Key of origins that may share connections. Host names and addresses do not contain spaces. */
export const originKey = (address: string, port: number, tls: OriginTls | null): string =>
  tls === null ? `${address} ${port}` : `${address} ${port} ${tls.serverName} ${tls.verified}`;

/** Opens TLS connections to origins, and resumes the sessions of earlier ones. */
export interface OriginTlsClient {
  /** Resumes a session only with the same origin, address and verification. */
  connect(address: string, port: number, tls: OriginTls, onread: OnReadOpts): Socket;
}

interface OriginTlsDeps {
  readonly clock: Clock;
  /** PEM; trusted besides the system's roots. */
  readonly roots: readonly string[];
}

const SESSIONS_MAX = 10_000;
/** A resumed session skips the check of the certificate, so a revoked trust or an expiry is noticed after at most this time. */
const SESSION_LIFE_MS = 3_600_000;
/** The only protocol offered to origins (RFC 7301). */
const ALPN = ["http/1.1"];

export function createOriginTlsClient({ clock, roots }: OriginTlsDeps): OriginTlsClient {
  const sessions = new Map<string, { readonly session: Buffer; readonly untilMs: number }>();
  let verifying: SecureContext | null = null;
  let accepting: SecureContext | null = null;
  // Reading some hundred roots takes a while, and most installations never need them.
  const contextFor = (verified: boolean): SecureContext =>
    verified ? (verifying ??= createSecureContext({ ca: trustedRoots(roots) })) : (accepting ??= createSecureContext({ ca: [] }));

  const resumable = (key: string): Buffer | undefined => {
    const known = sessions.get(key);
    if (known === undefined || known.untilMs > clock.monotonicMs()) return known?.session;
    sessions.delete(key);
    return undefined;
  };
  const keep = (key: string, session: Buffer): void => {
    sessions.delete(key);
    // In order of insertion, so the first is the oldest.
    for (const oldest of sessions.keys()) {
      if (sessions.size < SESSIONS_MAX) break;
      sessions.delete(oldest);
    }
    sessions.set(key, { session, untilMs: clock.monotonicMs() + SESSION_LIFE_MS });
  };

  return {
    connect: (address, port, tls, onread) => {
      const key = originKey(address, port, tls);
      const session = resumable(key);
      const options = {
        host: address,
        port,
        allowHalfOpen: true,
        onread,
        secureContext: contextFor(tls.verified),
        ALPNProtocols: ALPN,
        // RFC 6066 §3: an address is not a server name.
        servername: isIP(tls.serverName) === 0 ? tls.serverName : "",
        // The caller decides about an invalid certificate, with `isGood`.
        rejectUnauthorized: false,
        checkServerIdentity: (_name: string, certificate: PeerCertificate) => checkServerIdentity(tls.serverName, certificate),
        ...(session === undefined ? {} : { session }),
      };
      const socket = connect(options);
      socket.setNoDelay(true);
      socket.on("session", (fresh) => {
        if (isGood(socket, tls)) keep(key, fresh);
      });
      return socket;
    },
  };
}

/** True if the origin's certificate is accepted. Valid once the handshake is over. */
export const isGood = (socket: TLSSocket, tls: OriginTls): boolean => !tls.verified || socket.authorized;

/** The system's roots, or those of Node.js if it has none, and the installation's own. */
function trustedRoots(own: readonly string[]): string[] {
  const system = getCACertificates("system");
  const roots = system.length > 0 ? system : getCACertificates("bundled");
  return [...new Set([...roots, ...getCACertificates("extra"), ...own])];
}
