import type { IncomingHttpHeaders } from "node:http";
import type { Credential } from "#control/access/authenticate.ts";
import { isApiKey, isTokenSecret } from "#control/sign-in/secrets.ts";
import { type ErrorItem, PlatformError } from "#kernel/errors/errors.ts";
import type { PasskeyAssertion, Site } from "#model/access/passkey.ts";
import { isEmail } from "#model/access/user.ts";
import { readSessionCookie } from "#api/dashboard/session-cookie.ts";

/**
 * The credential of a request: one of the two forms of SPEC 5.2, of which Authorization wins, or the cookie of a session.
 * `isSecure`: the API has TLS. Throws `missing_credentials` without any, and `invalid_request_headers` with the wrong header in its chain.
 */
export function readCredential(headers: IncomingHttpHeaders, isSecure = false): Credential {
  if (headers.authorization !== undefined)
    return (
      readPassword(headers.authorization) ??
      readPasskey(headers, isSecure) ??
      readInvitation(headers.authorization) ??
      readBearer(headers.authorization)
    );
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

/** The assertion of a passkey: JSON of WebAuthn, as base64url. It is bound to the address that the browser sees. */
function readPasskey(headers: IncomingHttpHeaders, isSecure: boolean): Credential | undefined {
  const encoded = /^passkey +([A-Za-z0-9_-]+) *$/i.exec(headers.authorization ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const assertion = assertionIn(Buffer.from(encoded, "base64url").toString("utf8"));
  if (assertion === undefined) throw badHeader(6111, "Invalid format for Authorization header");
  return { type: "passkey", assertion, site: siteOf(headers, isSecure) };
}

function assertionIn(text: string): PasskeyAssertion | undefined {
  try {
    const { id, response } = JSON.parse(text) as { id?: unknown; response?: Readonly<Record<string, unknown>> };
    const { clientDataJSON, authenticatorData, signature, userHandle } = response ?? {};
    const strings = [id, clientDataJSON, authenticatorData, signature, userHandle ?? ""];
    if (!strings.every((one) => typeof one === "string" && BASE64_URL.test(one))) return undefined;
    const required = { id, clientDataJSON, authenticatorData, signature } as Omit<PasskeyAssertion, "userHandle">;
    return { ...required, userHandle: (userHandle ?? undefined) as string | undefined };
  } catch {
    return undefined;
  }
}

const BASE64_URL = /^[A-Za-z0-9_-]*$/;

/**
 * The address of the API in the request's Host field, which has been compared with the permitted names. A proxy in front may add TLS;
 * browsers have passkeys without TLS at localhost only.
 */
export function siteOf({ host: field = "" }: IncomingHttpHeaders, isSecure: boolean): Site {
  const authority = field.toLowerCase();
  const host = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::[0-9]*)?$/.exec(authority);
  const origins = isSecure ? [`https://${authority}`] : [`https://${authority}`, `http://${authority}`];
  return { host: host?.[1] ?? host?.[2] ?? "", origins };
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
