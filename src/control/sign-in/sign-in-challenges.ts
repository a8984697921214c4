import { type Clock, isoMicros } from "#kernel/clock.ts";
import { randomBytes } from "node:crypto";
import { insertSignInChallenge, type SignInChallengeRow, takeSignInChallenge } from "#store/access/sign-in-challenges.ts";
import type { Store } from "#store/database/store.ts";
import { hashSecret } from "./secrets.ts";

/** How long a person has for a sign-in. */
export const CHALLENGE_SECONDS = 600;
const CHALLENGE_BYTES = 32;

export type ChallengePurpose = "passkey" | "passkey_create" | "provider";

/** Random values that a sign-in must return: each once, and for ten minutes. The store has their hashes. */
export interface SignInChallenges {
  /** `data` is kept with it. */
  issue(purpose: ChallengePurpose, about?: { readonly userId?: string; readonly data?: string }): Promise<string>;
  /** Uses the challenge up; undefined if it was not issued for this purpose, was used, or has ended. */
  take(purpose: ChallengePurpose, challenge: string): Promise<SignInChallengeRow | undefined>;
}

export function createSignInChallenges({ store, clock }: { readonly store: Store; readonly clock: Clock }): SignInChallenges {
  return {
    issue: async (purpose, { userId = null, data = "" }: { userId?: string | null; data?: string } = {}) => {
      const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
      const nowMicros = clock.nowMicros();
      const expires_on = isoMicros(nowMicros + CHALLENGE_SECONDS * 1_000_000);
      const row = { hash: hashSecret(challenge), purpose, user_id: userId, data, expires_on };
      await store.write(({ db }) => insertSignInChallenge(db, row, isoMicros(nowMicros)));
      return challenge;
    },
    take: async (purpose, challenge) => {
      const asked = { hash: hashSecret(challenge), purpose, now: isoMicros(clock.nowMicros()) };
      return (await store.write(({ db }) => takeSignInChallenge(db, asked))).result;
    },
  };
}
