import type { IncomingHttpHeaders } from "node:http";
import type { ClientRequest } from "./client-request.ts";

/** The services before the edge, whose own name is the last. */
const withoutLast = (list: string): string => list.slice(0, Math.max(0, list.lastIndexOf(","))).trim();

/** What the edge adds to a request for its origins; providers are to learn none of it. */
const WORDS = ["connecting-ip", "device-type", "ipcountry", "ray", "visitor"];

/**
 * Requests that the edge hands on, as their clients sent them: from the address that the edge names, without the fields
 * that it adds. It listens on loopback alone, and so whoever is on this machine is believed.
 */
export function createEdgeRequests(vendorPrefix: string): (req: ClientRequest) => ClientRequest {
  const added = new Set(["x-forwarded-for", "x-forwarded-proto", ...WORDS.map((word) => `${vendorPrefix}-${word}`)]);
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
