/** What is known of an attempt when it fails. */
export interface Attempted {
  /** Whether only addresses of the Internet were connected to. */
  readonly isGlobal: boolean;
  readonly totalMs: number;
}

/** The name leads nowhere, or to where nothing is sent. */
export const NO_ADDRESS = "EADDRNOTALLOWED";

/** Which of a name's servers answer within one's own network is nobody's business who can name an address. */
const NAMELESS = "its name does not resolve to an address that this server may connect to";
/** Refused, silent, without TLS or speaking something else: a port of one's own network is not told apart from others. */
const SILENT = "it sent no HTTP response: nothing listens there, its certificate is not trusted, or it takes too long";

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "it refuses connections",
  ECONNRESET: "it closed the connection before it responded",
  EPIPE: "it closed the connection before it responded",
  UND_ERR_SOCKET: "it closed the connection before it responded",
  EHOSTUNREACH: "this server cannot reach its address",
  ENETUNREACH: "this server cannot reach its address",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  UND_ERR_HEADERS_OVERFLOW: "its response is not valid HTTP",
};
const NO_NAME: ReadonlySet<string> = new Set([NO_ADDRESS, "ENOTFOUND", "ENODATA", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"]);

/**
 * Why nothing was sent, for whoever named the address: without the addresses that a name leads to, and without telling what
 * listens in a network that is not theirs.
 */
export function outboundFault(error: unknown, { isGlobal, totalMs }: Attempted): string {
  const codes = codesOf(error);
  if (codes.some((code) => NO_NAME.has(code))) return NAMELESS;
  if (!isGlobal) return SILENT;
  for (const code of codes) {
    const known = BY_CODE[code];
    if (known !== undefined) return known;
    if (code.startsWith("HPE_")) return "its response is not valid HTTP";
    if (/CERT|SIGNATURE|ISSUER/.test(code)) return `its certificate is not trusted (${code})`;
    if (code.startsWith("ERR_SSL_") || code === "EPROTO") return "the TLS handshake failed";
  }
  return isTimeout(error) ? `it did not respond within ${totalMs / 1000} seconds` : "the request failed";
}

const CAUSES_MAX = 4;

/** The codes of the error and of what caused it; several addresses that failed are several errors in one. */
function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < CAUSES_MAX; at = at.cause, depth++) {
    for (const one of at instanceof AggregateError ? [at, ...at.errors] : [at]) {
      const { code } = one as NodeJS.ErrnoException;
      if (typeof code === "string") codes.push(code);
    }
  }
  return codes;
}

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (error.name === "TimeoutError" || (error.cause instanceof Error && error.cause.name === "TimeoutError"));
