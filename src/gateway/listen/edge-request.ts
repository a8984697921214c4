import type { IncomingHttpHeaders } from "node:http";
import type { ClientRequest } from "./client-request.ts";

/** The services before the edge, whose own name is the last. */
const withoutLast = (list: string): string => list.slice(0, Math.max(0, list.lastIndexOf(","))).trim();

/** Fields that the edge adds to a request for its origins; providers must not see them. Those that every proxy adds do not reach them anyway. */
const WORDS = ["connecting-ip", "device-type", "ipcountry", "ray", "visitor"];

/**
 * Requests that the edge forwards, as its clients sent them: with the client address from the edge, and without the
 * fields that it adds. The listener is on loopback only, so it trusts every process on this machine.
 */
export function createEdgeRequests(vendorPrefix: string): (req: ClientRequest) => ClientRequest {
  const added = new Set(["x-forwarded-for", ...WORDS.map((word) => `${vendorPrefix}-${word}`)]);
  return (req) => {
    const headers: IncomingHttpHeaders = {};
    for (const name in req.headers) if (!added.has(name)) headers[name] = req.headers[name];
    const passed = headers["cdn-loop"];
    if (passed !== undefined) headers["cdn-loop"] = withoutLast(String(passed));
    if (headers["cdn-loop"] === "") delete headers["cdn-loop"];
    const address = req.headers[`${vendorPrefix}-connecting-ip`];
    return { ...req, headers, address: typeof address === "string" ? address : req.address };
  };
}
