import type { Clock } from "#kernel/clock.ts";
import { fitsPassword } from "#kernel/crypto/password.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { addressKey, createRateLimiter, type RateLimitConfig, type RateLimitState } from "#kernel/net/rate-limiter.ts";
import { listSessions } from "#store/access/sessions.ts";
import { findUserByEmail, type UserRow } from "#store/access/users.ts";
import type { Store } from "#store/database/store.ts";
import { type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";

/** Limit of wrong passwords from one address. */
const PER_ADDRESS: RateLimitConfig = { requests: 20, periodSeconds: 300 };
/**
 * Limit of wrong passwords for one user, from addresses where the user has not signed in before. So guessing from many
 * addresses does not lock the user out.
 */
const PER_USER: RateLimitConfig = { requests: 30, periodSeconds: 900 };

export interface PasswordCheck {
  /**
   * The user with this e-mail address and password. Throws `wrong_password`, and `rate_limited` after too many of these
   * errors.
   */
  userOf(email: string, password: string, ip: string): Promise<UserRow>;
}

export interface PasswordCheckDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Limits that other servers count, too. */
  readonly sharedLimits?: SharedLimits | undefined;
}

export function createPasswordCheck({ store, clock, sharedLimits: limits = UNSHARED }: PasswordCheckDeps): PasswordCheck {
  const addresses = createRateLimiter(PER_ADDRESS, clock, { limits, name: "passwords of an address", isStrict: true });
  const users = createRateLimiter(PER_USER, clock, { limits, name: "passwords of a user", isStrict: true });

  const isKnownPlace = async (userId: string, place: string): Promise<boolean> =>
    (await listSessions(store.read, { user_id: userId })).some((session) => session.token_id === null && addressKey(session.ip) === place);

  return {
    userOf: async (given, password, ip) => {
      const [email, place] = [given.toLowerCase(), addressKey(ip)];
      // Counted first, because requests that arrive together are separate guesses.
      await addresses.ready(place);
      refuse(addresses.take(place));
      const user = await findUserByEmail(store.read, email);
      // An unknown e-mail is counted like a known one, so that both get the same response.
      const guessed = user !== undefined && (await isKnownPlace(user.id, place)) ? null : email;
      if (guessed !== null) {
        await users.ready(guessed);
        refuse(users.take(guessed));
      }
      const fits = await fitsPassword(password, user?.password_hash ?? null);
      if (user === undefined || !fits) throw new PlatformError("wrong_password");
      return user;
    },
  };
}

function refuse(standing: RateLimitState | null): void {
  if (standing === null || standing.allowed) return;
  throw new PlatformError("rate_limited", {
    message: "Too many sign-ins with wrong passwords. Please wait, or sign in with an API token.",
    headers: { "retry-after": String(standing.resetSeconds) },
  });
}
