import type { Clock } from "#kernel/clock.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import type { NameKey } from "#wire/dns/name.ts";
import { asksSame, cacheKey, slotOf, TYPE_AND_CLASS_BYTES, u16 } from "./answer-keys.ts";
import { type Freshness, isFresh } from "#nameserver/dnssec/validity.ts";
import type { EdnsClass } from "#nameserver/message/exchange.ts";

/**
 * A complete response and how long its signatures may be used. The query name is at byte 12; `fillIn` replaces it with
 * the client's spelling.
 */
export interface CachedResponse extends Freshness {
  readonly bytes: Buffer;
  readonly rcode: number;
  /** Offset of the OPT record, which is the last record; 0 without one. */
  readonly optStart: number;
  /** Class for response rate limiting (response-class.ts). */
  readonly sort: number;
  /** The query name is one of an unlimited number, such as names that do not exist. */
  readonly isEndless: boolean;
  readonly zones: ReadonlySet<NameKey>;
}

/**
 * Responses by question. A commit removes responses of the zones it changed before it is acknowledged, so that no
 * response outlives its data.
 */
export interface AnswerCache {
  /** Returns undefined for an expired response too. */
  get(key: string): CachedResponse | undefined;
  /** The same for a question in a packet, with name, type and class as in `cacheKey`. Does not allocate for frequent questions. */
  find(packet: Uint8Array, nameStart: number, nameEnd: number, ednsClass: EdnsClass): CachedResponse | undefined;
  put(key: string, response: CachedResponse): void;
  dropZones(zones: ReadonlySet<NameKey>): void;
  clear(): void;
  readonly entryCount: number;
}

/** Share of the cache for names of an unlimited number: a flood of them cannot evict other responses. */
const ENDLESS_PART = 1 / 4;

/** Larger responses are rare and not worth the memory. */
const RESPONSE_BYTES_MAX = 1500;

/**
 * Writes the response for the client whose message starts at `start` and whose query name ends at `nameEnd` of `packet`.
 * Identifier, RD bit and spelling of the name come from the client; the rest is the same for all.
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

/** A response in the cache. It contains all that is needed to answer, to touch few cache lines. */
interface Entry extends CachedResponse {
  readonly ednsClass: number;
  /** Has signatures, which expire; other responses stay valid until they are removed. */
  readonly isTimed: boolean;
  readonly slot: number;
}

/** All entries are created here, so that the compiler sees one shape. */
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
  /** The entry of each slot that was stored or found last: most lookups need no key string. */
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
  /** Evicts the oldest first: a flood of random names passes through without growing the maps. */
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
      // A slice of Node.js's pool would keep its whole slab in memory.
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

/** A power of two, so that a mask selects a slot. */
const createSlots = (entriesMax: number): (Entry | undefined)[] =>
  new Array<Entry | undefined>(2 ** Math.ceil(Math.log2(Math.max(1, entriesMax)))).fill(undefined);

/** Most responses have no signatures, and then the clock is not read. */
const isUsable = (entry: Entry, clock: Clock): boolean => !entry.isTimed || isFresh(entry, clock.nowMs());
