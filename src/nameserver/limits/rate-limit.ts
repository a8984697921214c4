import { randomFillSync } from "node:crypto";
import type { RateLimitConfig } from "#nameserver/config.ts";
import { type Cidr, parseCidr } from "#kernel/net/cidr.ts";

/** The verdict on a UDP response. */
export const SEND = 0;
export const DROP = 1;
/** Sends an empty, truncated response. The client repeats the query over TCP, which a forged address cannot do. */
export const TRUNCATE = 2;
export type Verdict = typeof SEND | typeof DROP | typeof TRUNCATE;

/**
 * Response rate limiting. A forged source address directs responses at a victim, so each network gets limited rates: of
 * equal responses as many as caches need, and of all responses a total.
 */
export interface RateLimit {
  /**
   * Counts a response of class `sort` (response-class.ts) and `bytes` against the client's /24 or /56 network, because an
   * attacked client shares its line with its neighbours. The client's address of 4 or 16 bytes is at `start` of
   * `addresses`. Does not allocate.
   */
  verdict(addresses: Uint8Array, start: number, addressBytes: number, sort: number, bytes: number, nowMs: number): Verdict;
}

/** Unused budget that a network may save up. */
const BURST_MS = 1_000;
/** Upper limit of overdraft: a client that stops exceeding the limit waits no longer than this. */
const WINDOW_MS = 15_000;
/** Each started unit of so many bytes counts against the limit of all responses. */
export const UNIT_BYTES = 512;

const SETS = 16_384;
const WAYS = 4;
/** A set is one cache line: four times, then their four tags. */
const SET_BYTES = 64;
const SET_TIMES = SET_BYTES / 8;
const SET_TAGS = SET_BYTES / 4;
const TAGS_AT = (WAYS * 8) / 4;
/** Separate sets for the totals of networks, so that no number of response classes evicts them. */
const NETWORKS_FROM = SETS;
const SEED_AT = 2 * SETS * SET_BYTES;
const SEED_BYTES = 4;

/** A table with room for the 65,536 most recent pairs of network and response class, and as many networks. */
export function createRateTable(): SharedArrayBuffer {
  const table = new SharedArrayBuffer(SEED_AT + SEED_BYTES);
  // Random, so that attackers cannot predict which networks share a set.
  randomFillSync(new Uint8Array(table, SEED_AT));
  return table;
}

/**
 * Throws RangeError if an exemption is not a network. Threads write slots without locks; a race costs at most one
 * response more or less.
 */
export function createRateLimit({ perSecond, allPerSecond, slip, exempt, table }: RateLimitConfig): RateLimit | undefined {
  if (perSecond === 0) return undefined;
  const [seed = 0] = new Int32Array(table, SEED_AT);
  const tags = new Int32Array(table);
  /** Per slot, the time up to which its budget is spent. */
  const spentUntil = new Float64Array(table, 0, 2 * SETS * SET_TIMES);
  const costMs = 1_000 / perSecond;
  const unitMs = allPerSecond === 0 ? 0 : 1_000 / allPerSecond;
  const exemptions = exempt.map(network);
  let random = seed;

  /** Index of the tag's time. A new tag replaces the one in its set with the most budget left, whose loss does the least harm. */
  const timeOf = (set: number, tag: number, nowMs: number): number => {
    const first = set * SET_TIMES;
    const tagsAt = set * SET_TAGS + TAGS_AT;
    let oldest = 0;
    for (let way = 0; way < WAYS; way++) {
      if (tags[tagsAt + way] === tag) return first + way;
      if ((spentUntil[first + way] as number) < (spentUntil[first + oldest] as number)) oldest = way;
    }
    tags[tagsAt + oldest] = tag;
    spentUntil[first + oldest] = nowMs - BURST_MS;
    return first + oldest;
  };
  /** A network that keeps repeating a query above the limit gets no answers to it until it stops. */
  const isSortOver = (tag: number, nowMs: number): boolean => {
    const at = timeOf(tag & (SETS - 1), tag, nowMs);
    let spent = spentUntil[at] as number;
    // A time so far ahead means that the clock was set back.
    if (spent > nowMs + WINDOW_MS + costMs) spent = nowMs - BURST_MS;
    spent = Math.max(spent, nowMs - BURST_MS) + costMs;
    spentUntil[at] = Math.min(spent, nowMs + WINDOW_MS);
    return spent > nowMs;
  };
  /**
   * Counts only sent responses, so that a network with many clients still gets its rate. The last response may overdraw
   * the budget.
   */
  const isNetworkOver = (tag: number, bytes: number, nowMs: number): boolean => {
    const at = timeOf(NETWORKS_FROM + (tag & (SETS - 1)), tag, nowMs);
    let spent = spentUntil[at] as number;
    if (spent > nowMs + WINDOW_MS) spent = nowMs - BURST_MS;
    spent = Math.max(spent, nowMs - BURST_MS);
    if (spent + unitMs > nowMs) return true;
    spentUntil[at] = Math.min(spent + unitMs * Math.ceil(bytes / UNIT_BYTES), nowMs + WINDOW_MS);
    return false;
  };

  return {
    verdict: (addresses, start, addressBytes, sort, bytes, nowMs) => {
      const asker = hashOfNetwork(seed, addresses, start, addressBytes);
      if (!isSortOver(finished(mix(asker, sort)), nowMs) && (unitMs === 0 || !isNetworkOver(finished(asker), bytes, nowMs))) return SEND;
      if (isExempt(exemptions, addresses, start, addressBytes)) return SEND;
      // Random instead of every n-th, so that no client's queries are always the dropped ones.
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0;
      return slip > 0 && (random >>> 8) % slip === 0 ? TRUNCATE : DROP;
    },
  };
}

/**
 * MurmurHash3 of the network, an IPv4 /24 as one word and an IPv6 /56 as two. `finished` completes it, with or without a
 * response class mixed in.
 */
function hashOfNetwork(seed: number, bytes: Uint8Array, start: number, addressBytes: number): number {
  const isIpv4 = addressBytes === 4;
  const head = word(bytes, start);
  const mixed = mix(seed ^ addressBytes, isIpv4 ? head >>> 8 : head);
  return isIpv4 ? mixed : mix(mixed, word(bytes, start + 4) >>> 8);
}

function finished(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

const word = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);

function mix(state: number, word: number): number {
  const scrambled = Math.imul(word, 0xcc9e2d51);
  const mixed = state ^ Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function network(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new RangeError(`not a network: ${JSON.stringify(text)}`);
  return cidr;
}

function isExempt(exemptions: readonly Cidr[], addresses: Uint8Array, start: number, addressBytes: number): boolean {
  for (const { base, prefix } of exemptions) {
    if (base.bytes.length !== addressBytes) continue;
    let left = prefix;
    for (let i = 0; left > 0; i++, left -= 8) {
      const mask = left >= 8 ? 0xff : 0xff00 >> left;
      if ((((base.bytes[i] as number) ^ (addresses[start + i] as number)) & mask) !== 0) break;
    }
    if (left <= 0) return true;
  }
  return false;
}
