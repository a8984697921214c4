import type { Clock } from "#kernel/clock.ts";
import { sealEnvelope } from "#kernel/crypto/envelope.ts";
import type { EventMatch } from "#events/rows/rows.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";

/** Seals a text for who holds the key's other half; undefined where too many were sealed already. */
export type Sealing = (publicKey: string, text: string) => string | undefined;

/** An envelope costs a tenth of a millisecond: attackers must not make a thread spend its time on them. */
const ENVELOPES_PER_SECOND = 200;

export function createSealing(clock: Pick<Clock, "monotonicMs">): Sealing {
  let second = 0;
  let sealed = 0;
  return (publicKey, text) => {
    const now = Math.floor(clock.monotonicMs() / 1000);
    if (now !== second) sealed = 0;
    second = now;
    return ++sealed > ENVELOPES_PER_SECOND ? undefined : sealEnvelope(publicKey, text);
  };
}

/** What managed rules found, for the event: which rules, and what only where the deployment has a public key for it. */
export const eventMatches = ({ rule, found, public_key: publicKey }: Match, seal: Sealing): readonly EventMatch[] =>
  found.map(({ rule_id, matched }) => {
    const matched_data = matched === null ? undefined : seal(publicKey, JSON.stringify([matched]));
    // What only adds to a score is no proof by itself.
    const confidence = rule_id === rule.id ? "high" : "medium";
    return { detector: "", rule_id, count: 1, offset: 0, confidence, ...(matched_data === undefined ? {} : { matched_data }) };
  });
