import type { Replica } from "#snapshot/feed.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { Page } from "#edge/pages/error-page.ts";

/** RFC 8555 §8.3: served over plain HTTP, since the name has no certificate yet. */
export const ACME_CHALLENGES = "/.well-known/acme-challenge/";

export interface AcmeChallenges {
  /** The response to a certificate authority, if this installation requested the certificate; null for every other request. */
  answer(exchange: Pick<Exchange, "path" | "scheme" | "host">): Page | null;
}

/** Answers for the name of the token even if no zone here has it: DNS has led the authority here. */
export function createAcmeChallenges(replica: Pick<Replica, "snapshot">): AcmeChallenges {
  return {
    answer: ({ path, scheme, host }) => {
      if (!path.startsWith(ACME_CHALLENGES) || scheme !== "http") return null;
      const entry = replica.snapshot.get("acme_challenge", path.slice(ACME_CHALLENGES.length));
      // Other tokens, such as those of an origin that gets certificates itself, are passed on.
      if (entry === undefined || entry.host !== host) return null;
      return { status: 200, reason: "OK", contentType: "application/octet-stream", body: entry.key_authorization, isChosen: true };
    },
  };
}
