import type { IncomingHttpHeaders } from "node:http";
import type { Credential } from "#control/access/authenticate.ts";
import { isApiKey, isTokenSecret } from "#control/access/secrets.ts";
import { type ErrorItem, PlatformError } from "#kernel/errors/errors.ts";
import { isEmail } from "#model/access/user.ts";

/**
 * The credential of a request in either form of SPEC 5.2; Authorization wins where both are there. Throws
 * `missing_credentials` without any, and `invalid_request_headers` with the header that is wrong in its chain.
 */
export function readCredential(headers: IncomingHttpHeaders): Credential {
  if (headers.authorization !== undefined) return readBearer(headers.authorization);
  const email = headers["x-auth-email"];
  const key = headers["x-auth-key"];
  if (email === undefined && key === undefined) throw new PlatformError("missing_credentials");
  return readKey(email, key);
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

/** `chain` says which header it is (contract.md §2). */
export function badHeader(code: number, message: string): PlatformError {
  const chain: readonly ErrorItem[] = [{ code, message }];
  return new PlatformError("invalid_request_headers", { chain });
}
