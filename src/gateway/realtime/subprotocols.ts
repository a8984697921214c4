import type { IncomingHttpHeaders } from "node:http";

/** The subprotocols that a WebSocket client offers, without the gateway's token. */
export interface Subprotocols {
  /** The offer with the token, unchanged: browsers need one of their offers back if they made any. */
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
