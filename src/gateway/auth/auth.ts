import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type CidrSet, createCidrSet } from "#kernel/net/cidr.ts";
import type { Clock } from "#kernel/clock.ts";
import { addressKey, createRateLimiter, FAILURES_PER_ADDRESS, isBeyondGuessing, type RateLimitConfig } from "#kernel/net/rate-limiter.ts";
import { type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import type { TokenEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";
import type { Refusal } from "#gateway/http/errors.ts";

export interface Authenticator {
  /**
   * Undefined if the request carries a token that may run gateways of the account now and from this address; otherwise
   * the refusal. An address that sent too many unknown tokens must wait. Valid tokens still work from it; short ones only
   * if they were accepted before.
   */
  refusal(headers: IncomingHttpHeaders, accountId: string, address: string): Refusal | undefined;
}

/** A token with its conditions, compiled for the check of each request. */
interface CompiledToken {
  readonly hash: Buffer;
  readonly accounts: ReadonlySet<string> | "*";
  readonly notBeforeMs: number;
  readonly expiresMs: number;
  readonly allow: CidrSet;
  readonly deny: CidrSet;
}

/**
 * Tokens accepted lately: the gateway does not hash a busy client's token for each request, and accepts it while others
 * guess from the same address.
 */
const CACHE_ENTRIES_MAX = 1000;

/**
 * SPEC 5.1: `{prefix}-aig-authorization`, or `{prefix}-aig-token` from SDKs, holds `Bearer TOKEN`. The names that
 * published clients send (`cf-…`) are understood under every prefix.
 */
export function createAuthenticator(deps: {
  readonly replica: Replica;
  readonly clock: Clock;
  readonly vendorPrefix: string;
  /** Limits unknown tokens from one address. */
  readonly failureLimit?: RateLimitConfig;
  /** Limits that other machines count, too. */
  readonly sharedLimits?: SharedLimits;
}): Authenticator {
  const names = [...new Set([deps.vendorPrefix, "cf"])].flatMap((prefix) => [`${prefix}-aig-authorization`, `${prefix}-aig-token`]);
  const byHash = new Map<string, CompiledToken>();
  const seen = new Map<string, CompiledToken>();
  const guesses = createRateLimiter(deps.failureLimit ?? FAILURES_PER_ADDRESS, deps.clock, {
    ...{ limits: deps.sharedLimits ?? UNSHARED, name: "unknown tokens" },
  });
  /** Keeps the accepted tokens that still exist, with their current rights. */
  const seeAgain = (): void => {
    for (const [secret, { hash: digest }] of Array.from(seen)) {
      const token = byHash.get(digest.toString("hex"));
      if (token === undefined) seen.delete(secret);
      else seen.set(secret, token);
    }
  };
  followKind(deps.replica, "token", {
    clear: () => byHash.clear(),
    put: (_id, entry) => {
      const token = compileToken(entry);
      if (token !== undefined) byHash.set(entry.hash, token);
    },
    remove: (_id, { hash: digest }) => void byHash.delete(digest),
    changed: seeAgain,
  });

  const find = (secret: string): CompiledToken | undefined => {
    const digest = hash("sha256", secret, "buffer");
    const token = byHash.get(digest.toString("hex"));
    // The index finds by hash, which a guesser cannot steer; the comparison takes constant time.
    if (token === undefined || !timingSafeEqual(token.hash, digest)) return undefined;
    const [oldest] = seen.size < CACHE_ENTRIES_MAX ? [] : seen.keys();
    if (oldest !== undefined) seen.delete(oldest);
    seen.set(secret, token);
    return token;
  };

  return {
    refusal: (headers, accountId, address) => {
      const secret = bearerSecret(headers, names);
      if (secret === undefined) return UNAUTHORIZED;
      let token = seen.get(secret);
      if (token === undefined) {
        const guesser = addressKey(address);
        const standing = guesses.look(guesser);
        const hasFailed = standing?.allowed === false;
        if (hasFailed && !isBeyondGuessing(secret)) return tooMany(standing.resetSeconds);
        token = find(secret);
        // Only an unknown token is a guess: one that has expired, or belongs to another account, was given to somebody.
        if (token === undefined) guesses.take(guesser);
        if (token === undefined && hasFailed) return tooMany(standing.resetSeconds);
      }
      return token !== undefined && covers(token, accountId, address, deps.clock.nowMs()) ? undefined : UNAUTHORIZED;
    },
  };
}

const UNAUTHORIZED: Refusal = { name: "aig_unauthorized" };

const tooMany = (waitSeconds: number): Refusal => ({
  name: "aig_rate_limited",
  message: "Too many requests with unknown gateway tokens from this address. Please wait.",
  headers: ["retry-after", String(waitSeconds)],
});

/** The secret of the first credential header that the request has. The scheme's case does not matter (RFC 9110 §11.1). */
function bearerSecret(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === "string") return /^bearer +([\x21-\x7e]{1,256})$/i.exec(value)?.[1];
  }
  return undefined;
}

function covers(token: CompiledToken, accountId: string, address: string, nowMs: number): boolean {
  if (token.accounts !== "*" && !token.accounts.has(accountId)) return false;
  // Written so that a time that cannot be read (NaN) refuses.
  if (!(nowMs >= token.notBeforeMs && nowMs < token.expiresMs)) return false;
  return (token.allow.size === 0 || token.allow.has(address)) && !token.deny.has(address);
}

/** Undefined for a token whose address conditions cannot be read: such a token must not be accepted. */
function compileToken(entry: TokenEntry): CompiledToken | undefined {
  try {
    return {
      hash: Buffer.from(entry.hash, "hex"),
      accounts: entry.accounts === "*" ? "*" : new Set(entry.accounts),
      notBeforeMs: entry.not_before === null ? -Infinity : Date.parse(entry.not_before),
      expiresMs: entry.expires_on === null ? Infinity : Date.parse(entry.expires_on),
      allow: createCidrSet(entry.addresses.allow),
      deny: createCidrSet(entry.addresses.deny),
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
