import { createHash, randomFillSync } from "node:crypto";
import { createSipHash } from "#kernel/crypto/siphash.ts";

/** Counts events under keys in bounded memory that threads may share. Never throws, never waits long. */
export interface RateCounters {
  /** The time for the other methods. A wall clock would end all windows when it is set, or make them last until it is as late again. */
  nowMs(): number;
  /**
   * Adds to the key's count and returns the sum; 0 only reads it. A sum that is not whole is above the limit, but by what other machines
   * may still return.
   */
  add(key: string, amount: number, window: RateWindow, nowMs: number): number;
  /** Time until which the key is blocked; 0 if it is not. */
  keptOutUntil(key: string, nowMs: number): number;
  keepOut(key: string, untilMs: number, nowMs: number): void;
}

/** Counters of many owners in one memory. Those of the table itself have no owner. */
export interface CounterTable extends RateCounters {
  /**
   * The counters of a ruleset's owner. In a full table, a new key takes the slot of the account that has most of them, and there of
   * its zone that has most: many keys of one zone do not displace the few of another.
   */
  of(accountId: string, ownerId: string): RateCounters;
}

export interface RateWindow {
  readonly periodMs: number;
  /** Each key's windows start with its first event. `fixed` resets at a window's end; `sliding` includes the weighted previous window. */
  readonly technique: "fixed" | "sliding";
  /** The number with which the sum is compared, for counters that machines share. */
  readonly limit?: number;
}

/** Words of a slot: the key's hash, its owner, then its state. */
const TAG = 0;
/** 16 bits of the account's hash, 16 of the zone's. */
const OWNER = 1;
const STARTED = 2;
const COUNT = 3;
const BEFORE = 4;
const KEPT_OUT = 5;
const USED = 6;
const PERIOD = 7;
const SLOT_WORDS = 8;
/** Possible slots of a key; if all are taken, the least recently used one of the owner with most of them is replaced. */
const WAYS = 16;
/** Slots per key: at the limit of keys, one in a hundred has to share. */
const PLACES_PER_KEY = 1.5;
const HEADER_WORDS = 8;
/** Times are tenths of a second since the table was made: 32 bits suffice for six years. */
const TICK_MS = 100;
/** A lock is held for at most a microsecond, unless the system suspends the thread; the lock of a dead thread is taken over. */
const SPINS_MAX = 1_000;
const WAITS_MAX = 100;
const WAIT_MS = 1;
const COUNT_MAX = 0x7fff_ffff;

/**
 * Memory for this many keys, which is allocated up front but touched only as keys arrive. Threads with the same buffer
 * share the counters.
 */
export function createCounterMemory(keys: number, nowMs: number): SharedArrayBuffer {
  const sets = setsFor(keys);
  const buffer = new SharedArrayBuffer((HEADER_WORDS + sets + sets * WAYS * SLOT_WORDS) * 4);
  // With a random key, clients cannot choose addresses whose keys share a slot.
  randomFillSync(new Uint8Array(buffer, 0, 16));
  new Float64Array(buffer, 16, 1)[0] = nowMs;
  return buffer;
}

const setsFor = (keys: number): number => Math.max(1, Math.ceil((keys * PLACES_PER_KEY) / WAYS));

export function createCounterTable(buffer: SharedArrayBuffer, timeMs: () => number): CounterTable {
  const words = new Int32Array(buffer);
  const sets = (words.length - HEADER_WORDS) / (1 + WAYS * SLOT_WORDS);
  const slotsAt = HEADER_WORDS + sets;
  const hash = createSipHash(new Uint8Array(buffer, 0, 16).slice());
  const bornMs = new Float64Array(buffer, 16, 1)[0] ?? 0;
  const bytes = Buffer.alloc(KEY_BYTES_MAX);
  const digest = new Uint8Array(8);
  const digestWords = new Int32Array(digest.buffer);
  const tickOf = (ms: number): number => Math.max(1, Math.min(COUNT_MAX, Math.floor((ms - bornMs) / TICK_MS) + 1));

  /** Fills `digest`, and returns the set. */
  const place = (key: string): number => {
    // A key that does not fit is replaced by its digest.
    const text = key.length * 3 <= KEY_BYTES_MAX ? key : createHash("sha256").update(key).digest("base64");
    hash(bytes, 0, bytes.write(text), digest, 0);
    const mixed = ((digestWords[0] ?? 0) ^ Math.imul(digestWords[1] ?? 0, 0x9e37_79b1)) >>> 0;
    return Math.floor((mixed / 2 ** 32) * sets);
  };

  const lock = (set: number): void => {
    const at = HEADER_WORDS + set;
    const isTaken = (): boolean => Atomics.compareExchange(words, at, 0, 1) === 0;
    for (let spins = 0; spins < SPINS_MAX; spins++) if (isTaken()) return;
    // Sleeping lets the thread with the lock continue.
    for (let waits = 0; waits < WAITS_MAX; waits++) {
      Atomics.wait(words, at, 1, WAIT_MS);
      if (isTaken()) return;
    }
  };
  const unlock = (set: number): void => void Atomics.store(words, HEADER_WORDS + set, 0);

  /** The key's slot, or -1. */
  const find = (set: number, owner: number): number => {
    const tag = digestWords[0] || 1;
    for (let way = 0, at = slotsAt + set * WAYS * SLOT_WORDS; way < WAYS; way++, at += SLOT_WORDS)
      if (words[at + TAG] === tag && words[at + OWNER] === owner) return at;
    return -1;
  };

  /** Slots of a set whose owner has these bits. */
  const owned = (set: number, owner: number, mask: number): number => {
    let slots = 0;
    for (let way = 0, at = slotsAt + set * WAYS * SLOT_WORDS + OWNER; way < WAYS; way++, at += SLOT_WORDS)
      if (((words[at]! ^ owner) & mask) === 0) slots++;
    return slots;
  };

  /** A free slot for the key of this owner, or the one that is needed least. */
  const take = (set: number, owner: number, tick: number): number => {
    const from = slotsAt + set * WAYS * SLOT_WORDS;
    let best = -1;
    for (let at = from; best < 0 && at < from + WAYS * SLOT_WORDS; at += SLOT_WORDS) if (words[at + TAG] === 0) best = at;
    if (best < 0) best = least(set, owner, tick);
    words.fill(0, best, best + SLOT_WORDS);
    words[best + TAG] = digestWords[0] || 1;
    words[best + OWNER] = owner;
    return best;
  };

  /** Of the account with most slots in a full set, and its zone with most, the slot that is needed least. The new key counts. */
  const least = (set: number, owner: number, tick: number): number => {
    const from = slotsAt + set * WAYS * SLOT_WORDS;
    let best = -1;
    let [mostOfAccount, mostOfZone, bestWorth] = [0, 0, 0];
    for (let at = from; at < from + WAYS * SLOT_WORDS; at += SLOT_WORDS) {
      const other = words[at + OWNER]!;
      // Halves: among equals it is the new key's own account or zone that makes room.
      const ofAccount = owned(set, other, ACCOUNT_MASK) + (((other ^ owner) & ACCOUNT_MASK) === 0 ? 1.5 : 0);
      const ofZone = owned(set, other, -1) + (other === owner ? 1.5 : 0);
      // Blocked keys are evicted last.
      const worth = Math.max(words[at + USED]!, words[at + KEPT_OUT]! > tick ? words[at + KEPT_OUT]! : 0);
      const order = mostOfAccount - ofAccount || mostOfZone - ofZone || worth - bestWorth;
      if (best >= 0 && order >= 0) continue;
      best = at;
      [mostOfAccount, mostOfZone, bestWorth] = [ofAccount, ofZone, worth];
    }
    return best;
  };

  const count = (at: number, amount: number, { periodMs, technique }: RateWindow, tick: number): number => {
    const period = Math.max(1, Math.round(periodMs / TICK_MS));
    const started = words[at + STARTED]!;
    const passed = tick - started;
    if (started === 0 || passed >= 2 * period || words[at + PERIOD] !== period) {
      words[at + STARTED] = tick;
      words[at + COUNT] = words[at + BEFORE] = 0;
      words[at + PERIOD] = period;
    } else if (passed >= period) {
      words[at + STARTED] = started + period;
      words[at + BEFORE] = words[at + COUNT]!;
      words[at + COUNT] = 0;
    }
    const now = Math.min(COUNT_MAX, words[at + COUNT]! + amount);
    words[at + COUNT] = now;
    words[at + USED] = tick;
    if (technique === "fixed") return now;
    const left = Math.max(0, period - (tick - words[at + STARTED]!));
    return now + Math.floor((words[at + BEFORE]! * left) / period);
  };

  const countersOf = (owner: number): RateCounters => ({
    nowMs: timeMs,
    add: (key, amount, window, nowMs) => {
      const tick = tickOf(nowMs);
      const set = place(key);
      lock(set);
      const found = find(set, owner);
      // A lookup without counting must not take a slot.
      const result = found < 0 && amount === 0 ? 0 : count(found < 0 ? take(set, owner, tick) : found, amount, window, tick);
      unlock(set);
      return result;
    },
    keptOutUntil: (key, nowMs) => {
      const set = place(key);
      lock(set);
      const at = find(set, owner);
      const until = at < 0 ? 0 : words[at + KEPT_OUT]!;
      unlock(set);
      return until > tickOf(nowMs) ? bornMs + until * TICK_MS : 0;
    },
    keepOut: (key, untilMs, nowMs) => {
      const tick = tickOf(nowMs);
      const set = place(key);
      lock(set);
      const found = find(set, owner);
      const at = found < 0 ? take(set, owner, tick) : found;
      words[at + KEPT_OUT] = tickOf(untilMs);
      words[at + USED] = tick;
      unlock(set);
    },
  });
  const bitsOf = (id: string): number => {
    place(id);
    return digestWords[0]! & 0xffff;
  };
  return { ...countersOf(0), of: (accountId, ownerId) => countersOf((bitsOf(accountId) << 16) | bitsOf(ownerId)) };
}

const ACCOUNT_MASK = 0xffff_0000 | 0;

const KEY_BYTES_MAX = 1024;
