import type { IncomingHttpHeaders } from "node:http";
import { newId } from "#kernel/crypto/ids.ts";
import { FORWARDING_FIELDS } from "#kernel/net/client-addresses.ts";
import { setsSessionCookie } from "#wire/http/session-cookie.ts";

/**
 * Fields of one connection only (RFC 9110 §7.6.1), fields that the next writer sets again (host, content-length, expect),
 * accept-encoding, because usage is read from the plain answer, and the addresses of clients.
 */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "content-length",
  "expect",
  "accept-encoding",
  "cdn-loop",
  "cf-connecting-ip",
  ...FORWARDING_FIELDS,
]);

/** Names and values alternate. */
export type FlatHeaders = string[];

export interface HeaderRules {
  /** The request's fields that the provider may see. */
  toProvider(headers: IncomingHttpHeaders): FlatHeaders;
  /** The answer's fields that the client may see. */
  toClient(headers: IncomingHttpHeaders): FlatHeaders;
  /** Whether the request has passed this gateway before; it would loop until all connections are used. */
  isLoop(headers: IncomingHttpHeaders): boolean;
  /** The member of CDN-Loop by which `isLoop` recognizes requests of this gateway. */
  readonly loop: string;
}

/** The gateway's own fields, under our prefix and the published one, are not forwarded. */
export function createHeaderRules(vendorPrefix: string): HeaderRules {
  const ours = `${vendorPrefix}-aig-`;
  const isGatewayField = (name: string): boolean =>
    name.startsWith(ours) || name.startsWith("cf-aig-") || name === "cf-cache-ttl" || name === "cf-skip-cache";
  const copy = (headers: IncomingHttpHeaders, into: FlatHeaders): FlatHeaders => {
    const named = namedByConnection(headers.connection);
    for (const name in headers) {
      const value = headers[name];
      if (value === undefined || NOT_FORWARDED.has(name) || isGatewayField(name) || named?.has(name)) continue;
      if (typeof value === "string") into.push(name, value);
      else for (const item of value) into.push(name, item);
    }
    return into;
  };
  const loop = newLoopName(vendorPrefix);
  return {
    loop,
    toProvider: (headers) => {
      const passed = headers["cdn-loop"];
      return copy(headers, ["accept-encoding", "identity", "cdn-loop", passed === undefined ? loop : `${String(passed)}, ${loop}`]);
    },
    toClient: (headers) => {
      const length = headers["content-length"];
      const seen = headers["set-cookie"] === undefined ? headers : withoutSessions(headers);
      return copy(seen, typeof length === "string" ? ["content-length", length] : []);
    },
    isLoop: ({ "cdn-loop": passed }) =>
      passed !== undefined &&
      String(passed)
        .split(",")
        .some((member) => member.trim() === loop),
  };
}

/** The gateway's name in CDN-Loop (RFC 8586); unique, because a gateway of another installation may be a provider. */
const newLoopName = (vendorPrefix: string): string => `${vendorPrefix}-aig-${newId()}`;

/** Removes cookies of the management API's sessions: browsers would send them to this host. */
function withoutSessions(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { "set-cookie": given, ...others } = headers;
  const cookies = [given ?? []].flat();
  const kept = cookies.filter((cookie) => !setsSessionCookie(cookie));
  return kept.length === cookies.length ? headers : { ...others, "set-cookie": kept };
}

/** Further hop-by-hop fields that this connection names. */
function namedByConnection(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || /^(keep-alive|close)$/i.test(connection)) return undefined;
  return new Set(
    connection
      .toLowerCase()
      .split(",", 64)
      .map((name) => name.trim()),
  );
}
