import type { IncomingHttpHeaders } from "node:http";
import { SESSION_SECONDS_MAX } from "#model/access/session.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { SECURE_SESSION_COOKIE, SESSION_COOKIE } from "#kernel/net/session-cookie-name.ts";

/**
 * The secret of the session's cookie, or undefined. Over TLS only by the name that browsers protect: a page of another host of the
 * domain can set a cookie of the other name, and would have the visitor act in a session of its choice (RFC 6265bis §4.1.3.2).
 */
export function readSessionCookie(headers: IncomingHttpHeaders, isSecure: boolean): string | undefined {
  for (const pair of (headers.cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, at)).trim();
    if (name === SECURE_SESSION_COOKIE || (name === SESSION_COOKIE && !isSecure)) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Browsers hide the secret from scripts and from requests that other sites start. An empty secret deletes the cookie. */
export const sessionCookie = (secret: string, isSecure: boolean): string =>
  [
    `${isSecure ? SECURE_SESSION_COOKIE : SESSION_COOKIE}=${secret}`,
    "Path=/",
    `Max-Age=${secret === "" ? 0 : SESSION_SECONDS_MAX}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");

/**
 * Refuses a request with a cookie that a page of another site may have started. SameSite already withholds the cookie
 * from these, but not from a page at another port of this host. Browsers report the origin of a request: by
 * Sec-Fetch-Site, or by Origin if they do not trust the connection; a request that changes something must have one of
 * them.
 */
export function assertOwnPage(method: string, headers: IncomingHttpHeaders): void {
  const isSafe = method === "GET" || method === "HEAD";
  if (isSafe) assertNoForeignPage(headers);
  else if (!isOwnPage(headers)) throw new PlatformError("foreign_page");
}

/**
 * Refuses a request that a page of another site has started; allows programs: a form can have e-mail and password in its
 * address, and would sign the browser in as another user.
 */
export function assertNoForeignPage(headers: IncomingHttpHeaders): void {
  const isProgram = headers["sec-fetch-site"] === undefined && headers.origin === undefined;
  if (!isProgram && !isOwnPage(headers)) throw new PlatformError("foreign_page");
}

function isOwnPage({ "sec-fetch-site": site, origin, host = "" }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === "same-origin";
  return origin !== undefined && /^https?:\/\/(.*)$/.exec(origin)?.[1] === host;
}
