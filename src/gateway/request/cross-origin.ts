import type { IncomingHttpHeaders } from "node:http";
import type { FlatHeaders, HeaderRules } from "#gateway/http/headers.ts";

const PREFLIGHT_SECONDS = 7200;
const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";

/**
 * Lets any page read an answer (Fetch §3.3). Browsers do not add a gateway token or a provider's key by themselves, so
 * `*` reveals nothing.
 */
export const OPEN_TO_PAGES: readonly string[] = ["access-control-allow-origin", "*", "access-control-expose-headers", "*"];

/** Whether a page asks for permission to send its request; such a question never carries a credential (Fetch §3.3.2). */
export const isPreflight = (method: string, headers: IncomingHttpHeaders): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

/** The answer's fields; requested headers are named, because `*` does not cover `authorization`. */
export function preflightFields(headers: IncomingHttpHeaders): FlatHeaders {
  const asked = headers["access-control-request-headers"];
  return [
    ...["access-control-allow-origin", "*", "access-control-allow-methods", METHODS],
    ...["access-control-allow-headers", typeof asked === "string" && asked !== "" ? asked : "*"],
    ...["access-control-max-age", String(PREFLIGHT_SECONDS), "vary", "Access-Control-Request-Headers"],
  ];
}

/** The same rules without the provider's CORS fields: browsers reject two `access-control-allow-origin`. */
export const withoutProvidersOwn = (rules: HeaderRules): HeaderRules => ({
  ...rules,
  toClient: (headers) => {
    const kept = Object.entries(headers).filter(([name]) => !name.startsWith("access-control-"));
    return rules.toClient(Object.fromEntries(kept));
  },
});
