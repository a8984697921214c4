import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { addressKey, createRateLimiter, type RateLimitConfig } from "#kernel/net/rate-limiter.ts";
import { type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import { createProvider, type ProviderConfig, type ProviderIdentity, type ProviderRound } from "./provider.ts";
import type { SignInChallenges } from "./sign-in-challenges.ts";

/** Each makes the server ask the provider. */
const PER_ADDRESS: RateLimitConfig = { requests: 60, periodSeconds: 300 };

export interface ProviderReturn {
  /** Of the browser's return. */
  readonly query: string;
  /** The cookie that the beginning has set; undefined in another browser. */
  readonly secret: string | undefined;
}

/** A round of a browser to the provider and back. */
export interface ProviderSignIn {
  readonly name: string;
  readonly redirectUri: string;
  /** Where to send the browser, and the secret of its cookie. `label`: of the session. */
  begin(label: string, ip: string): Promise<{ readonly url: string; readonly secret: string }>;
  /** Whom the provider has signed in, in the browser that began. Throws `provider_ended`, and what `Provider` throws. */
  finish(back: ProviderReturn): Promise<{ readonly identity: ProviderIdentity; readonly label: string }>;
}

export interface ProviderSignInDeps {
  readonly config: ProviderConfig;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly challenges: SignInChallenges;
  /** Limits that other servers count, too. */
  readonly sharedLimits?: SharedLimits | undefined;
}

interface Kept {
  readonly round: ProviderRound;
  readonly label: string;
}

const CONTEXT = "sign-in provider";

export function createProviderSignIn({
  config,
  clock,
  sealer,
  challenges,
  sharedLimits: limits = UNSHARED,
}: ProviderSignInDeps): ProviderSignIn {
  const provider = createProvider(config, clock);
  const rounds = createRateLimiter(PER_ADDRESS, clock, { limits, name: "provider sign-ins" });
  return {
    name: config.name,
    redirectUri: config.redirectUri,
    begin: async (label, ip) => {
      const standing = rounds.take(addressKey(ip));
      if (standing?.allowed === false)
        throw new PlatformError("rate_limited", {
          message: "Too many sign-ins. Please wait.",
          headers: { "retry-after": String(standing.resetSeconds) },
        });
      const { url, round } = await provider.begin();
      const kept: Kept = { round, label };
      return { url, secret: await challenges.issue("provider", { data: sealer.seal(JSON.stringify(kept), CONTEXT) }) };
    },
    finish: async ({ query, secret }) => {
      const row = secret === undefined ? undefined : await challenges.take("provider", secret);
      if (row === undefined) throw new PlatformError("provider_ended");
      const { round, label } = JSON.parse(sealer.open(row.data, CONTEXT).toString()) as Kept;
      return { identity: await provider.finish(query, round), label };
    },
  };
}
