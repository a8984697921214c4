import type { IncomingHttpHeaders } from "node:http";
import type { Credential } from "#control/access/authenticate.ts";
import { isApiKey, isTokenSecret } from "#control/access/secrets.ts";
import { type ErrorItem, PlatformError } from "#kernel/errors/errors.ts";
import { isEmail } from "#model/access/user.ts";
import { readSessionCookie } from "#api/dashboard/session-cookie.ts";

/**
 * The credential of a request: one of the two forms of SPEC 5.2, of which Authorization wins, or the cookie of a session.
 * `isSecure`: the API has TLS. Throws `missing_credentials` without any, and `invalid_request_headers` with the wrong header in its chain.
 */
export function readCredential(headers: IncomingHttpHeaders, isSecure = false): Credential {
  if (headers.authorization !== undefined)
    return readPassword(headers.authorization) ?? readInvitation(headers.authorization) ?? readBearer(headers.authorization);
  const email = headers["x-auth-email"];
  const key = headers["x-auth-key"];
  if (email !== undefined || key !== undefined) return readKey(email, key);
  const secret = readSessionCookie(headers, isSecure);
  if (secret === undefined) throw new PlatformError("missing_credentials");
  return { type: "session", secret };
}

/** RFC 7617 in UTF-8: sign-in from a browser. Only with an e-mail address, so that other values are refused as before. */
function readPassword(header: string): Credential | undefined {
  const encoded = /^basic +(\S+) *$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  const email = text.slice(0, Math.max(0, colon));
  return isEmail(email) ? { type: "password", email, password: text.slice(colon + 1) } : undefined;
}

/** Has its own scheme, so that the secret of a link is never taken for a token. */
function readInvitation(header: string): Credential | undefined {
  const secret = /^invitation +(\S+) *$/i.exec(header)?.[1];
  return secret !== undefined && isTokenSecret(secret) ? { type: "invitation", secret } : undefined;
}

function readBearer(header: string): Credential {
  // The scheme is case-insensitive (RFC 9110 §11.1).
  const secret = /^bearer +(\S+) *$/i.exec(header)?.[1];
  if (secret === undefined || !isTokenSecret(secret)) throw badHeader(6111, "Invalid format for Authorization header");
  return { type: "token", secret };
}

function readKey(email: string | string[] | undefined, key: string | string[] | undefined): Credential {
  if (email === undefined) throw badHeader(6100, "Missing X-Auth-Email header");
  if (key === undefined) throw badHeader(6101, "Missing X-Auth-Key header");
  if (typeof email !== "string" || !isEmail(email)) throw badHeader(6102, "Invalid format for X-Auth-Email header");
  if (typeof key !== "string" || !isApiKey(key)) throw badHeader(6103, "Invalid format for X-Auth-Key header");
  return { type: "key", email, key };
}

/** `chain` names the header (contract.md §2). */
export function badHeader(code: number, message: string): PlatformError {
  const chain: readonly ErrorItem[] = [{ code, message }];
  return new PlatformError("invalid_request_headers", { chain });
}
