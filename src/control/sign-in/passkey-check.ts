import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { addressKey, createRateLimiter, type RateLimitConfig } from "#kernel/net/rate-limiter.ts";
import { type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import type { PasskeyAssertion, PasskeyRequest, Site } from "#model/access/passkey.ts";
import { countPasskeyUse, passkeyByCredential, type PasskeyRow } from "#store/access/passkeys.ts";
import type { Store } from "#store/database/store.ts";
import { CHALLENGE_SECONDS, type SignInChallenges } from "./sign-in-challenges.ts";

/** Limits of one address: of started sign-ins, and of assertions, as many as of passwords. */
const REQUESTS_PER_ADDRESS: RateLimitConfig = { requests: 100, periodSeconds: 300 };
const ASSERTIONS_PER_ADDRESS: RateLimitConfig = { requests: 20, periodSeconds: 300 };

/** Sign-in with a passkey. */
export interface PasskeyCheck {
  /** A request for the browser of somebody who signs in; it does not depend on the user. */
  request(site: Site, ip: string): Promise<PasskeyRequest>;
  /** The passkey that signed. Throws `passkey_refused`, and `rate_limited` after many attempts. */
  check(assertion: PasskeyAssertion, site: Site, ip: string): Promise<PasskeyRow>;
}

export interface PasskeyCheckDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly challenges: SignInChallenges;
  /** Limits that other servers count, too. */
  readonly sharedLimits?: SharedLimits | undefined;
}

export function createPasskeyCheck({ store, clock, challenges, sharedLimits: limits = UNSHARED }: PasskeyCheckDeps): PasskeyCheck {
  const requests = createRateLimiter(REQUESTS_PER_ADDRESS, clock, { limits, name: "passkey requests" });
  const assertions = createRateLimiter(ASSERTIONS_PER_ADDRESS, clock, { limits, name: "passkeys" });
  const count = (limiter: typeof requests, ip: string): void => {
    const standing = limiter.take(addressKey(ip));
    if (standing === null || standing.allowed) return;
    throw new PlatformError("rate_limited", {
      message: "Too many sign-ins with passkeys. Please wait, or sign in in another way.",
      headers: { "retry-after": String(standing.resetSeconds) },
    });
  };
  return {
    request: async (site, ip) => {
      assertHasName(site);
      count(requests, ip);
      const challenge = await challenges.issue("passkey");
      return { challenge, rpId: site.host, timeout: CHALLENGE_SECONDS * 1000, userVerification: "required", allowCredentials: [] };
    },
    check: async (assertion, site, ip) => {
      count(assertions, ip);
      const challenge = challengeIn(assertion.clientDataJSON);
      // Used up first, so that a second attempt needs a new one whatever comes of this.
      if ((await challenges.take("passkey", challenge)) === undefined) throw refused("the challenge does not exist, was used or has ended");
      const row = await passkeyByCredential(store.read, assertion.id);
      if (row === undefined || row.host !== site.host) throw refused("no such passkey for this host");
      if (assertion.userHandle !== undefined && assertion.userHandle !== userHandleOf(row.user_id))
        throw refused("the passkey belongs to another user than it says");
      const counter = await verifyAssertion(assertion, challenge, site, row);
      const next = { counter, last_used_on: isoMicros(clock.nowMicros()) };
      const { result: isFirst } = await store.write(({ db }) => countPasskeyUse(db, row, next));
      if (!isFirst) throw refused("the passkey was deleted or used meanwhile");
      return row;
    },
  };
}

/** Throws `passkey_refused` unless the passkey signed this challenge at this site, having verified its user; its new count. */
async function verifyAssertion(
  { id, clientDataJSON, authenticatorData, signature, userHandle }: PasskeyAssertion,
  expectedChallenge: string,
  site: Site,
  row: PasskeyRow,
): Promise<number> {
  // Loaded on demand, because most starts of the server have no sign-in.
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature, ...(userHandle === undefined ? {} : { userHandle }) },
      },
      ...{ expectedChallenge, expectedOrigin: [...site.origins], expectedRPID: site.host, requireUserVerification: true },
      credential: { id: row.credential_id, publicKey: new Uint8Array(Buffer.from(row.public_key, "base64url")), counter: row.counter },
    });
    if (verified) return authenticationInfo.newCounter;
  } catch (error) {
    throw refused(error instanceof Error ? error.message : "the assertion cannot be read");
  }
  throw refused("the signature is wrong");
}

/** WebAuthn has no relying parties that are addresses. */
export function assertHasName({ host }: Site): void {
  if (host === "" || parseIp(host) !== undefined) throw new PlatformError("passkey_host");
}

/** The challenge that the browser signed; empty if there is none. */
export function challengeIn(clientDataJSON: string): string {
  try {
    const data = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString("utf8")) as { challenge?: unknown };
    return typeof data.challenge === "string" ? data.challenge : "";
  } catch {
    return "";
  }
}

/** How passkeys name their user. */
export const userHandleOf = (userId: string): string => Buffer.from(userId).toString("base64url");

export const refused = (detail: string): PlatformError => new PlatformError("passkey_refused", { detail });
