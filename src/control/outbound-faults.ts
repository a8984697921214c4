/** Facts about a failed attempt. */
export interface Attempted {
  /** Whether only public addresses were connected to. */
  readonly isGlobal: boolean;
  readonly totalMs: number;
}

/** The name has no address, or none that may be connected to. */
export const NO_ADDRESS = "EADDRNOTALLOWED";

/** The same message for all names, so that callers cannot find out which names exist in the private network. */
const NAMELESS = "its name does not resolve to an address that this server may connect to";
/** The same message for a refused, silent or different protocol, so that callers cannot scan ports of the private network. */
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
 * The reason for a failure, for the account that chose the address: without the resolved addresses, and without details
 * about services in the private network.
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

/** The codes of the error and its causes; if several addresses failed, they are in an AggregateError. */
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
