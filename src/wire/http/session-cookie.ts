import { SESSION_COOKIE } from "#kernel/net/session-cookie-name.ts";

const NAME = Buffer.from(`${SESSION_COOKIE}=`);
const HOST_PREFIX = "__Host-";
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const MASK = 0x78;

/**
 * Overwrites the secret of a management API session in a Cookie field. Browsers store cookies by host, not by port (RFC
 * 6265 §8.5): a signed-in browser sends the secret to every port of the host, and the planes would forward it to the
 * origins and providers of tenants.
 */
export function maskSessionCookie(buffer: Buffer, start: number, end: number): void {
  const field = buffer.subarray(start, end);
  for (let at = field.indexOf(NAME); at >= 0; at = field.indexOf(NAME, at)) {
    const isOurs = beginsPair(field, at) || (beginsPair(field, at - HOST_PREFIX.length) && hasHostPrefix(field, at));
    at += NAME.length;
    if (!isOurs) continue;
    const stop = field.indexOf(SEMICOLON, at);
    field.fill(MASK, at, stop < 0 ? field.length : stop);
  }
}

/** `SESSION_COOKIE` with or without the prefix; written out, so that it is proven linear. */
const SETS = /^[ \t=]*(?:__Host-)?selvedge[ \t]*=/;

/**
 * Whether a Set-Cookie field sets the cookie of a management API session. Browsers trim the name, and send a cookie without a
 * name (`=selvedge=…`) as its value alone (RFC 6265bis §5.7).
 */
export const setsSessionCookie = (field: string): boolean => SETS.test(field);

const beginsPair = (field: Buffer, at: number): boolean => at === 0 || (at > 0 && (field[at - 1] === SEMICOLON || field[at - 1] === SPACE));

const hasHostPrefix = (field: Buffer, at: number): boolean => field.toString("latin1", at - HOST_PREFIX.length, at) === HOST_PREFIX;
