import type { IncomingHttpHeaders } from "node:http";

/** What a WebSocket client offers, less the token that is the gateway's. */
export interface Subprotocols {
  /** As the client wrote it: browsers want one of what they offered back, if there was anything. */
  readonly tokenEntry: string | undefined;
  readonly token: string | undefined;
  /** For the provider. */
  readonly others: readonly string[];
}

/**
 * Browsers cannot set header fields on a WebSocket, so the gateway's token may be a subprotocol:
 * `{prefix}-aig-authorization.TOKEN`, or `cf-…` from published clients.
 */
export function readSubprotocols(headers: IncomingHttpHeaders, vendorPrefix: string): Subprotocols {
  const offered = (headers["sec-websocket-protocol"] ?? "")
    .split(",", 32)
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const starts = [vendorPrefix, "cf"].map((prefix) => `${prefix}-aig-authorization.`);
  const tokenEntry = offered.find((name) => starts.some((start) => name.startsWith(start)));
  return {
    tokenEntry,
    token: tokenEntry?.slice(tokenEntry.indexOf(".") + 1),
    others: offered.filter((name) => !starts.some((start) => name.startsWith(start))),
  };
}
