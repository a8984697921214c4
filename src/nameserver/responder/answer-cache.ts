import type { Clock } from "#kernel/clock.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import type { NameKey } from "#wire/dns/name.ts";
import { asksSame, cacheKey, slotOf, TYPE_AND_CLASS_BYTES, u16 } from "./answer-keys.ts";
import { type Freshness, isFresh } from "#nameserver/dnssec/validity.ts";
import type { EdnsClass } from "#nameserver/message/exchange.ts";

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
  /** The same for a question in a packet, with type and class behind its name as in cacheKey. Allocates nothing for what is asked often. */
  find(packet: Uint8Array, nameStart: number, nameEnd: number, ednsClass: EdnsClass): CachedResponse | undefined;
  put(key: string, response: CachedResponse): void;
  dropZones(zones: ReadonlySet<NameKey>): void;
  clear(): void;
  readonly entryCount: number;
}

/** Names without end get this part of the room at most: a flood of them leaves the answers to all others where they are. */
const ENDLESS_PART = 1 / 4;

/** Larger responses are rare and not worth their memory. */
const RESPONSE_BYTES_MAX = 1500;

/**
 * Writes the response for the asker whose message starts at `start` and whose question's name ends at `nameEnd` of
 * `packet`. The identifier, the RD bit and the name's spelling are the asker's own; the rest is the same for all.
 */
export function fillIn({ bytes }: CachedResponse, packet: Buffer, start: number, nameEnd: number, out: Buffer, outStart: number): void {
  const nameEndsAt = nameEnd - start;
  out[outStart] = packet[start] as number;
  out[outStart + 1] = packet[start + 1] as number;
  out[outStart + 2] = ((bytes[2] as number) & 0xfe) | ((packet[start + 2] as number) & 0x01);
  for (let i = 3; i < HEADER_BYTES; i++) out[outStart + i] = bytes[i] as number;
  for (let i = HEADER_BYTES; i < nameEndsAt; i++) out[outStart + i] = packet[start + i] as number;
  for (let i = nameEndsAt; i < bytes.length; i++) out[outStart + i] = bytes[i] as number;
}

export interface AnswerCacheDeps {
  readonly entriesMax: number;
  readonly clock: Clock;
}

/** A response in the cache. All of it that answers need is here and in its bytes, so that few lines of memory are read. */
interface Entry extends CachedResponse {
  readonly ednsClass: number;
  /** Signatures have their time; all else is right until it is dropped. */
  readonly isTimed: boolean;
  readonly slot: number;
}

/** All are made here, so that they have one shape for the compiler. */
const createEntry = (response: CachedResponse, bytes: Buffer, ednsClass: number, slot: number): Entry => ({
  bytes,
  ednsClass,
  rcode: response.rcode,
  optStart: response.optStart,
  sort: response.sort,
  isTimed: response.untilMs !== Number.POSITIVE_INFINITY,
  slot,
  isEndless: response.isEndless,
  zones: response.zones,
  fromMs: response.fromMs,
  untilMs: response.untilMs,
});

export function createAnswerCache({ entriesMax, clock }: AnswerCacheDeps): AnswerCache {
  const entries = new Map<string, Entry>();
  const endless = new Set<string>();
  const keysByZone = new Map<NameKey, Set<string>>();
  /** Of the entries with one slot, the one that was put or found last: most questions need no text that way. */
  const slots = createSlots(entriesMax);

  const remove = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    for (const zone of entry.zones) {
      const keys = keysByZone.get(zone);
      keys?.delete(key);
      if (keys?.size === 0) keysByZone.delete(zone);
    }
    entries.delete(key);
    endless.delete(key);
    if (slots[entry.slot] === entry) slots[entry.slot] = undefined;
  };
  /** The oldest goes first: a flood of random names passes through without ever growing the maps. */
  const makeRoom = ({ isEndless }: CachedResponse): void => {
    const oldestOf = isEndless && endless.size >= entriesMax * ENDLESS_PART ? endless : entries.size >= entriesMax ? entries : undefined;
    const oldest = oldestOf?.keys().next().value;
    if (oldest !== undefined) remove(oldest);
  };
  const get = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (isUsable(entry, clock)) return entry;
    remove(key);
    return undefined;
  };

  return {
    get,
    find: (packet, nameStart, nameEnd, ednsClass) => {
      const slot = slotOf(packet, nameStart, nameEnd + TYPE_AND_CLASS_BYTES, ednsClass) & (slots.length - 1);
      const entry = slots[slot];
      if (
        entry !== undefined &&
        entry.ednsClass === ednsClass &&
        asksSame(entry.bytes, packet, nameStart, nameEnd) &&
        isUsable(entry, clock)
      )
        return entry;
      const key = cacheKey(packet, nameStart, nameEnd, u16(packet, nameEnd), u16(packet, nameEnd + 2), ednsClass);
      const known = get(key);
      if (known !== undefined) slots[slot] = known;
      return known;
    },
    put: (key, response) => {
      if (response.bytes.length > RESPONSE_BYTES_MAX) return;
      remove(key);
      makeRoom(response);
      // A slice of Node's shared pool would keep all of its slab in memory for one short answer.
      const bytes = Buffer.allocUnsafeSlow(response.bytes.length);
      response.bytes.copy(bytes);
      const keyBytes = Buffer.from(key, "latin1");
      const last = keyBytes.length - 1;
      keyBytes.copy(bytes, HEADER_BYTES, 0, last);
      const ednsClass = keyBytes[last] as number;
      const slot = slotOf(keyBytes, 0, last, ednsClass) & (slots.length - 1);
      const entry = createEntry(response, bytes, ednsClass, slot);
      entries.set(key, entry);
      slots[slot] = entry;
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
      slots.fill(undefined);
    },
    get entryCount() {
      return entries.size;
    },
  };
}

/** A power of two of them, so that a mask finds one. */
const createSlots = (entriesMax: number): (Entry | undefined)[] =>
  new Array<Entry | undefined>(2 ** Math.ceil(Math.log2(Math.max(1, entriesMax)))).fill(undefined);

/** Most responses hold no signatures, and then no time has to be asked for. */
const isUsable = (entry: Entry, clock: Clock): boolean => !entry.isTimed || isFresh(entry, clock.nowMs());
