import type { Clock } from "#kernel/clock.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import { lowerCaseInto, NAME_BYTES_MAX, type NameKey } from "#wire/dns/name.ts";
import { type Freshness, isFresh } from "./dnssec/validity.ts";
import type { EdnsClass } from "./exchange.ts";

/**
 * A complete response, with the time in which its signatures may be handed out. Its question's name stands at byte 12 and
 * is replaced by the asker's spelling.
 */
export interface CachedResponse extends Freshness {
  readonly bytes: Buffer;
  readonly rcode: number;
  /** Where its OPT record starts, behind which nothing stands; 0 where it has none. */
  readonly optStart: number;
  /** What is limited together with it (rate-sorts.ts). */
  readonly sort: number;
  /** One of names without end, such as those that do not exist. */
  readonly isEndless: boolean;
  readonly zones: ReadonlySet<NameKey>;
}

/**
 * Responses by question. A commit drops the zones it changed before it is acknowledged, so that no answer
 * outlives the data it was made of.
 */
export interface AnswerCache {
  /** Undefined as well where its time is over. */
  get(key: string): CachedResponse | undefined;
  put(key: string, response: CachedResponse): void;
  dropZones(zones: ReadonlySet<NameKey>): void;
  clear(): void;
  readonly entryCount: number;
}

/** Names without end get this part of the room at most: a flood of them leaves the answers to all others where they are. */
const ENDLESS_PART = 1 / 4;

/** Larger responses are rare and not worth their memory. */
const RESPONSE_BYTES_MAX = 1500;

const scratch = Buffer.alloc(NAME_BYTES_MAX + 5);

/**
 * What tells responses apart: the name between `nameStart` and `nameEnd` without its case, type, class and EDNS. The name must be whole and of at most 255 bytes.
 */
export function cacheKey(
  packet: Uint8Array,
  nameStart: number,
  nameEnd: number,
  type: number,
  questionClass: number,
  ednsClass: EdnsClass,
): string {
  const length = nameEnd - nameStart;
  lowerCaseInto(scratch, packet, nameStart, length);
  scratch[length] = type >> 8;
  scratch[length + 1] = type;
  scratch[length + 2] = questionClass >> 8;
  scratch[length + 3] = questionClass;
  scratch[length + 4] = ednsClass;
  return scratch.toString("latin1", 0, length + 5);
}

/**
 * Writes the response for the asker whose message starts at `start` and whose question's name ends at `nameEnd` of
 * `packet`. The identifier, the RD bit and the name's spelling are the asker's own; the rest is the same for all.
 */
export function fillIn({ bytes }: CachedResponse, packet: Buffer, start: number, nameEnd: number, out: Buffer, outStart: number): void {
  const nameBytes = nameEnd - start - HEADER_BYTES;
  bytes.copy(out, outStart);
  out[outStart] = packet[start] as number;
  out[outStart + 1] = packet[start + 1] as number;
  out[outStart + 2] = ((bytes[2] as number) & 0xfe) | ((packet[start + 2] as number) & 0x01);
  const from = start + HEADER_BYTES;
  const to = outStart + HEADER_BYTES;
  for (let i = 0; i < nameBytes; i++) out[to + i] = packet[from + i] as number;
}

export interface AnswerCacheDeps {
  readonly entriesMax: number;
  readonly clock: Clock;
}

export function createAnswerCache({ entriesMax, clock }: AnswerCacheDeps): AnswerCache {
  const entries = new Map<string, CachedResponse>();
  const endless = new Set<string>();
  const keysByZone = new Map<NameKey, Set<string>>();

  const remove = (key: string): void => {
    for (const zone of entries.get(key)?.zones ?? []) {
      const keys = keysByZone.get(zone);
      keys?.delete(key);
      if (keys?.size === 0) keysByZone.delete(zone);
    }
    entries.delete(key);
    endless.delete(key);
  };
  /** The oldest goes first: a flood of random names passes through without ever growing the maps. */
  const makeRoom = ({ isEndless }: CachedResponse): void => {
    const oldestOf = isEndless && endless.size >= entriesMax * ENDLESS_PART ? endless : entries.size >= entriesMax ? entries : undefined;
    const oldest = oldestOf?.keys().next().value;
    if (oldest !== undefined) remove(oldest);
  };

  return {
    get: (key) => {
      const cached = entries.get(key);
      // Most responses hold no signatures, and then no time has to be asked for.
      if (cached === undefined || cached.untilMs === Number.POSITIVE_INFINITY || isFresh(cached, clock.nowMs())) return cached;
      remove(key);
      return undefined;
    },
    put: (key, response) => {
      if (response.bytes.length > RESPONSE_BYTES_MAX) return;
      remove(key);
      makeRoom(response);
      // A slice of Node's shared pool would keep all of its slab in memory for one short answer.
      const bytes = Buffer.allocUnsafeSlow(response.bytes.length);
      response.bytes.copy(bytes);
      entries.set(key, { ...response, bytes });
      if (response.isEndless) endless.add(key);
      for (const zone of response.zones) {
        const keys = keysByZone.get(zone);
        if (keys) keys.add(key);
        else keysByZone.set(zone, new Set([key]));
      }
    },
    dropZones: (zones) => {
      for (const zone of zones) for (const key of keysByZone.get(zone) ?? []) remove(key);
    },
    clear: () => {
      entries.clear();
      endless.clear();
      keysByZone.clear();
    },
    get entryCount() {
      return entries.size;
    },
  };
}
