import { type CidrSet, createCidrSet } from "./cidr.ts";
import { formatIp, parseIp, unmapIp } from "./ip.ts";

/** Header fields in which proxies report the address of their client, by lower-case name. */
export const CLIENT_ADDRESS_FIELDS = ["x-forwarded-for", "x-real-ip", "cf-connecting-ip", "forwarded"] as const;
export type ClientAddressField = (typeof CLIENT_ADDRESS_FIELDS)[number];

/**
 * Fields in which proxies describe their client and its request, by lower-case name. A server behind us trusts them, or
 * learns from them about a client that it has nothing to do with.
 */
export const FORWARDING_FIELDS: readonly string[] = [
  "client-ip",
  "do-connecting-ip",
  "fastly-client-ip",
  "fly-client-ip",
  "forwarded",
  "forwarded-for",
  "front-end-https",
  "proxy-client-ip",
  "true-client-ip",
  "wl-proxy-client-ip",
  "x-appengine-user-ip",
  "x-accel-mapping",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-envoy-external-address",
  "x-forwarded",
  "x-invoke-status",
  "x-now-route-matches",
  "x-original-forwarded-for",
  "x-original-method",
  "x-real-ip",
  "x-sendfile-type",
  ...["for", "host", "port", "prefix", "proto", "protocol", "scheme", "server", "ssl", "uri", "url"].map((word) => `x-forwarded-${word}`),
];

/** The operator's proxies in front of a listener. */
export interface TrustedProxies {
  /** Addresses and blocks. */
  readonly networks: readonly string[];
  /** The field that all of them set. Only this one is read: a client chooses the others. */
  readonly field: ClientAddressField;
}

/** Addresses of clients behind trusted proxies. */
export interface ClientAddresses {
  readonly field: ClientAddressField;
  /** Whether the peer is a trusted proxy, and may therefore represent many clients. */
  trusts(peer: string): boolean;
  /**
   * The client of a request from this peer: for a trusted proxy the rightmost address in the field's lines that is not a
   * trusted proxy's, otherwise the peer. Proxies append on the right; entries left of the first untrusted address are
   * only claims. If a proxy names no address (RFC 7239 §6.2, §6.3), the client is that proxy. Canonical text.
   */
  of(peer: string, lines: readonly string[]): string;
}

/** Null without networks: then each peer is the client. Throws RangeError with the text of an invalid network. */
export function createClientAddresses({ networks, field }: TrustedProxies): ClientAddresses | null {
  if (networks.length === 0) return null;
  const proxies = createCidrSet(networks);
  const { readLast, isList } = FIELDS[field];
  return {
    field,
    trusts: proxies.has,
    of: (peer, lines) => (proxies.has(peer) ? clientOf(peer, lines, proxies, readLast, isList) : peer),
  };
}

/** The lines of the field in a header object, in which they may have been joined. */
export function linesOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  field: ClientAddressField,
): readonly string[] {
  const lines = headers[field];
  return lines === undefined ? [] : typeof lines === "string" ? [lines] : lines;
}

/** The last element of a list: its address, or null, and the length of the text before its comma; -1 for none. */
interface LastElement {
  readonly node: string | null;
  readonly before: number;
}

type ReadLast = (text: string, end: number) => LastElement;

const FIELDS: Readonly<Record<ClientAddressField, { readonly readLast: ReadLast; readonly isList: boolean }>> = {
  "x-forwarded-for": { readLast: lastOfList, isList: true },
  "x-real-ip": { readLast: lastOfList, isList: false },
  "cf-connecting-ip": { readLast: lastOfList, isList: false },
  forwarded: { readLast: lastForwarded, isList: true },
};

function clientOf(peer: string, lines: readonly string[], proxies: CidrSet, readLast: ReadLast, isList: boolean): string {
  let client = peer;
  for (let line = lines.length - 1; line >= 0; line--) {
    const text = lines[line] ?? "";
    for (let end = text.length; end > 0;) {
      const { node, before } = readLast(text, end);
      end = before;
      // RFC 9110 §5.6.1: empty elements are ignored.
      if (node === "") continue;
      const address = node === null ? undefined : addressOf(node);
      if (address === undefined) return client;
      client = address;
      if (!isList || !proxies.has(address)) return client;
    }
  }
  return client;
}

/** `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::7`, `[2001:db8::7]` and `[2001:db8::7]:4711`; a port may be hidden (RFC 7239 §6). */
function addressOf(node: string): string | undefined {
  const inBrackets = node.startsWith("[");
  const end = inBrackets ? node.indexOf("]") : endOfIpv4(node);
  if (end < 0 || !isPort(node, inBrackets ? end + 1 : end)) return undefined;
  const address = parseIp(node.slice(inBrackets ? 1 : 0, end));
  if (address === undefined || (inBrackets && address.family === 4)) return undefined;
  return formatIp(unmapIp(address));
}

/** The end of the address in `a.b.c.d:port`; IPv6 without brackets has no port. */
function endOfIpv4(node: string): number {
  const colon = node.indexOf(":");
  return colon < 0 || node.includes(":", colon + 1) ? node.length : colon;
}

/** Whether the rest is empty or a port. */
const isPort = (node: string, at: number): boolean => at === node.length || /^:[A-Za-z0-9._-]{1,64}$/.test(node.slice(at, at + 66));

function lastOfList(text: string, end: number): LastElement {
  const comma = text.lastIndexOf(",", end - 1);
  return { node: text.slice(comma + 1, end).trim(), before: comma };
}

/**
 * The last element of a Forwarded field (RFC 7239 §4), read from its end: a proxy's element follows those of the client,
 * and an open quote in these must not reach into it.
 */
function lastForwarded(text: string, end: number): LastElement {
  let at = blanksBefore(text, end);
  let node: string | null = null;
  if (at === 0 || text[at - 1] === ",") return { node: "", before: at - 1 };
  for (;;) {
    const value = valueBefore(text, at);
    const equals = at - value.length - 1;
    if (value === "" || equals < 1 || text[equals] !== "=") return UNREADABLE;
    const name = tokenBefore(text, equals);
    if (name === "") return UNREADABLE;
    if (name.toLowerCase() === "for") {
      if (node !== null) return UNREADABLE;
      node = value.startsWith('"') ? value.slice(1, -1) : value;
    }
    at = blanksBefore(text, equals - name.length);
    // An empty value names no client either, but is not an empty element.
    if (at === 0 || text[at - 1] === ",") return { node: node === "" ? null : node, before: at - 1 };
    if (text[at - 1] !== ";") return UNREADABLE;
    at = blanksBefore(text, at - 1);
  }
}

const UNREADABLE: LastElement = { node: null, before: -1 };

/** The token or quoted string, with its quotes, that ends there; empty without either. */
function valueBefore(text: string, end: number): string {
  if (text[end - 1] !== '"') return tokenBefore(text, end);
  for (let quote = text.lastIndexOf('"', end - 2); end > 1 && quote >= 0;) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return text.slice(quote, end);
    quote = quote === 0 ? -1 : text.lastIndexOf('"', quote - 1 - escapes);
  }
  return "";
}

/** Some proxies write IPv6 addresses without the quotes that colons and brackets require. */
function tokenBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && !ENDS_TOKEN.has(text[start - 1] ?? "")) start--;
  return text.slice(start, end);
}

const ENDS_TOKEN: ReadonlySet<string> = new Set([" ", "\t", ",", ";", "=", '"', "\\"]);

function blanksBefore(text: string, end: number): number {
  let at = end;
  while (at > 0 && (text[at - 1] === " " || text[at - 1] === "\t")) at--;
  return at;
}
