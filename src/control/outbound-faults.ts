/** What is known of an attempt when it fails. */
export interface Attempted {
  /** Whether only addresses of the Internet were connected to. */
  readonly isGlobal: boolean;
  readonly totalMs: number;
}

/** The name leads nowhere, or to where nothing is sent. */
export const NO_ADDRESS = "EADDRNOTALLOWED";

/** Which of a name's servers answer within one's own network is nobody's business who can name an address. */
const NAMELESS = "its name has no address to which anything is sent";
/** Refused, silent, without TLS or speaking something else: a port of one's own network is not told apart from others. */
const SILENT = "it gave no HTTP answer: nothing listens there, its certificate is not trusted, or it takes too long";

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "it refuses connections",
  ECONNRESET: "it closed the connection without an answer",
  EPIPE: "it closed the connection without an answer",
  UND_ERR_SOCKET: "it closed the connection without an answer",
  EHOSTUNREACH: "its address cannot be reached from here",
  ENETUNREACH: "its address cannot be reached from here",
  ETIMEDOUT: "no connection could be made in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection could be made in time",
  UND_ERR_HEADERS_OVERFLOW: "its answer is no HTTP that is understood",
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
    if (code.startsWith("HPE_")) return "its answer is no HTTP that is understood";
    if (/CERT|SIGNATURE|ISSUER/.test(code)) return `its certificate is not trusted (${code})`;
    if (code.startsWith("ERR_SSL_") || code === "EPROTO") return "it speaks no TLS that is understood";
  }
  return isTimeout(error) ? `no answer came within ${totalMs / 1000} seconds` : "the exchange failed";
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
