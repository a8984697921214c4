import type { IncomingHttpHeaders } from "node:http";

/**
 * Fields that concern one connection only (RFC 9110 §7.6.1), fields that the other side's writer sets again
 * (host, content-length, expect) and accept-encoding: usage is read from the answer, so it must come plain.
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
]);

/** Names and values by turns. */
export type FlatHeaders = string[];

export interface HeaderRules {
  /** The request's fields as the provider may see them. */
  toProvider(headers: IncomingHttpHeaders): FlatHeaders;
  /** The answer's fields as the client may see them. */
  toClient(headers: IncomingHttpHeaders): FlatHeaders;
}

/** Fields of the gateway itself, ours and those of published clients, stay between client and gateway. */
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
  return {
    toProvider: (headers) => copy(headers, ["accept-encoding", "identity"]),
    toClient: (headers) => {
      const length = headers["content-length"];
      return copy(headers, typeof length === "string" ? ["content-length", length] : []);
    },
  };
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
