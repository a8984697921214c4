import type { IncomingHttpHeaders } from "node:http";
import { SESSION_SECONDS_MAX } from "#model/access/session.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

/** RFC 6265bis §4.1.3.2: a browser takes a cookie of this name only over TLS, from this host, for all of it. */
const SECURE_NAME = "__Host-selvedge";
const NAME = "selvedge";

/** The secret of the session's cookie, or undefined. */
export function readSessionCookie(headers: IncomingHttpHeaders): string | undefined {
  for (const pair of (headers.cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, at)).trim();
    if (name === NAME || name === SECURE_NAME) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Browsers keep the secret from scripts and from requests that other sites start. An empty one takes the cookie away. */
export const sessionCookie = (secret: string, isSecure: boolean): string =>
  [
    `${isSecure ? SECURE_NAME : NAME}=${secret}`,
    "Path=/",
    `Max-Age=${secret === "" ? 0 : SESSION_SECONDS_MAX}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");

/**
 * Refuses a request with a cookie that a page of another site may have started. SameSite keeps the cookie from these already, but
 * not from a page at another port of this host. Browsers say where a request comes from: by Sec-Fetch-Site, or by Origin where they
 * do not trust the connection; a request that changes something must say it.
 */
export function assertOwnPage(method: string, headers: IncomingHttpHeaders): void {
  const site = headers["sec-fetch-site"];
  const { origin, host = "" } = headers;
  const isOwn = site === undefined ? origin !== undefined && /^https?:\/\/(.*)$/.exec(origin)?.[1] === host : site === "same-origin";
  const isSafe = method === "GET" || method === "HEAD";
  if (isOwn || (isSafe && site === undefined && origin === undefined)) return;
  throw new PlatformError("foreign_page");
}
