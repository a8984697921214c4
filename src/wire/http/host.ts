import { isIPv6 } from "node:net";

/** The host and port of a Host field or of an absolute target, in canonical form. */
export interface Authority {
  /** Lower case, no final dot; an IPv6 address is in brackets. */
  readonly host: string;
  /** Null if none was given. */
  readonly port: number | null;
}

// linear: pumped
const NAME = /^([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::([0-9]{1,5}))?$/;
const IPV6 = /^(\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?$/;
const NAME_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

/**
 * Parses `host[:port]`; null for any other text: user information, paths, white space, percent signs, empty labels or
 * ports. Names must be ASCII (RFC 9110 §7.2, RFC 3986 §3.2).
 */
export function parseAuthority(text: string): Authority | null {
  const lower = text.toLowerCase();
  const match = NAME.exec(lower) ?? IPV6.exec(lower);
  if (match === null) return null;
  const host = match[1]!;
  if (!(host.startsWith("[") ? isIPv6(host.slice(1, -1)) : isName(host))) return null;
  const port = match[2] === undefined ? null : Number(match[2]);
  return port === 0 || (port !== null && port > 65535) ? null : { host, port };
}

function isName(host: string): boolean {
  if (host.length > NAME_LENGTH_MAX) return false;
  for (let start = 0; start < host.length;) {
    const dot = host.indexOf(".", start);
    const end = dot < 0 ? host.length : dot;
    if (end - start > LABEL_LENGTH_MAX) return false;
    start = end + 1;
  }
  return true;
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Whether both name the same host and port; a port that is left out is the scheme's own (RFC 3986 §6.2.3). */
export function isSameAuthority(one: Authority, other: Authority, scheme: "http" | "https"): boolean {
  const own = DEFAULT_PORTS[scheme];
  return one.host === other.host && (one.port ?? own) === (other.port ?? own);
}
