import type { IncomingHttpHeaders } from "node:http";
import type { FlatHeaders, HeaderRules } from "#gateway/http/headers.ts";

const PREFLIGHT_SECONDS = 7200;
const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";

/** Lets any page read an answer (Fetch §3.3). No browser adds a gateway token or a provider's key by itself, so `*` gives away nothing. */
export const OPEN_TO_PAGES: readonly string[] = ["access-control-allow-origin", "*", "access-control-expose-headers", "*"];

/** A page's question whether it may send its request, which never carries a credential (Fetch §3.3.2). */
export const isPreflight = (method: string, headers: IncomingHttpHeaders): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

/** The answer's fields; what is asked for is named, since `*` does not cover `authorization`. */
export function preflightFields(headers: IncomingHttpHeaders): FlatHeaders {
  const asked = headers["access-control-request-headers"];
  return [
    ...["access-control-allow-origin", "*", "access-control-allow-methods", METHODS],
    ...["access-control-allow-headers", typeof asked === "string" && asked !== "" ? asked : "*"],
    ...["access-control-max-age", String(PREFLIGHT_SECONDS), "vary", "Access-Control-Request-Headers"],
  ];
}

/** The same rules without the provider's own fields for pages: two `access-control-allow-origin` are none to a browser. */
export const withoutProvidersOwn = (rules: HeaderRules): HeaderRules => ({
  ...rules,
  toClient: (headers) => {
    const kept = Object.entries(headers).filter(([name]) => !name.startsWith("access-control-"));
    return rules.toClient(Object.fromEntries(kept));
  },
});
