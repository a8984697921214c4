import type { Clock } from "#kernel/clock.ts";
import { sealEnvelope } from "#kernel/crypto/envelope.ts";
import type { EventMatch } from "#events/rows/rows.ts";
import type { Found, Match } from "#rules/engine/compiled-rule.ts";
import type { Matched } from "#rules/managed/matched-part.ts";

/** Encrypts a text for the holder of the private key; undefined if the limit is reached. */
export type Sealing = (publicKey: string, text: string) => string | undefined;

/** Encrypting one text takes a tenth of a millisecond: attackers must not fill a thread's time with it. */
const ENVELOPES_PER_SECOND = 200;

export function createMatchedDataEncryptor(clock: Pick<Clock, "monotonicMs">): Sealing {
  let second = 0;
  let sealed = 0;
  return (publicKey, text) => {
    const now = Math.floor(clock.monotonicMs() / 1000);
    if (now !== second) sealed = 0;
    second = now;
    return ++sealed > ENVELOPES_PER_SECOND ? undefined : sealEnvelope(publicKey, text);
  };
}

/** Places named in one event. */
const PLACES_MAX = 64;
/** Longer names are left out: they are values rather than names. */
const NAME_CHARACTERS_MAX = 128;

/**
 * The matches of managed rules, for the event: which rules, and where. The matched text is included only if the
 * deployment has a public key for it.
 */
export const eventMatches = (match: Match, seal: Sealing): readonly EventMatch[] =>
  match.found.flatMap((found) => placesOf(match, found, seal)).slice(0, PLACES_MAX);

function placesOf({ rule, public_key: publicKey }: Match, { rule_id, places, score }: Found, seal: Sealing): readonly EventMatch[] {
  // A rule that only adds to a score proves nothing by itself.
  const confidence = rule_id === rule.id ? "high" : "medium";
  const told = { detector: "", rule_id, count: 1, offset: 0, confidence } as const;
  const scored = score === 0 ? {} : { score };
  if (places.length === 0) return [{ ...told, ...scored }];
  return places.map((place, at) => {
    const matched_data = publicKey === "" || at > 0 ? undefined : seal(publicKey, JSON.stringify([place]));
    return { ...told, ...(at === 0 ? scored : {}), ...partOf(place), ...(matched_data === undefined ? {} : { matched_data }) };
  });
}

/** Requests are bytes, events are text. */
const partOf = ({ part, name }: Matched): Pick<EventMatch, "part" | "name"> =>
  name === "" || name.length > NAME_CHARACTERS_MAX ? { part } : { part, name: Buffer.from(name, "latin1").toString() };
