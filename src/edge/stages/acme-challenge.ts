import type { Replica } from "#snapshot/feed.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { Page } from "#edge/pages/error-page.ts";

/** RFC 8555 §8.3: whoever proves a name over plain HTTP has no certificate yet. */
export const ACME_CHALLENGES = "/.well-known/acme-challenge/";

export interface AcmeChallenges {
  /** What a certificate authority looks for, where it is the installation that asked it; null for every other request. */
  answer(exchange: Pick<Exchange, "path" | "scheme" | "host">): Page | null;
}

/** Answers for the name that a token was given for, whether or not a zone here has it: whoever gets here was led here. */
export function createAcmeChallenges(replica: Pick<Replica, "snapshot">): AcmeChallenges {
  return {
    answer: ({ path, scheme, host }) => {
      if (!path.startsWith(ACME_CHALLENGES) || scheme !== "http") return null;
      const entry = replica.snapshot.get("acme_challenge", path.slice(ACME_CHALLENGES.length));
      // Tokens of others, such as those of an origin that gets certificates itself, are passed on.
      if (entry === undefined || entry.host !== host) return null;
      return { status: 200, reason: "OK", contentType: "application/octet-stream", body: entry.key_authorization, isChosen: true };
    },
  };
}
