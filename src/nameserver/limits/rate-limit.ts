import { randomFillSync } from "node:crypto";
import type { RateLimitConfig } from "#nameserver/config.ts";
import { type Cidr, parseCidr } from "#kernel/net/cidr.ts";

/** What becomes of a response over UDP. */
export const SEND = 0;
export const DROP = 1;
/** An empty answer that sends the client to TCP, which nobody speaks from a forged address. */
export const TRUNCATE = 2;
export type Verdict = typeof SEND | typeof DROP | typeof TRUNCATE;

/**
 * Response rate limiting: questions under a forged address are answered to whoever has it, so no network gets more of
 * the same than one that caches could ask for, and not without end of what differs.
 */
export interface RateLimit {
  /**
   * Counts a response of the sort (response-class.ts) and of so many bytes to the network, /24 or /56, of the client whose
   * address of 4 or 16 bytes stands at `start` of `addresses`: an attacked client and its neighbours share a line.
   * Allocates nothing.
   */
  verdict(addresses: Uint8Array, start: number, addressBytes: number, sort: number, bytes: number, nowMs: number): Verdict;
}

/** What a network may save up while it asks nothing. */
const BURST_MS = 1_000;
/** Who goes on asking over the limit waits no longer than this once it has stopped. */
const WINDOW_MS = 15_000;
/** Started so often, a response is one more unit of the limit of all responses. */
export const UNIT_BYTES = 512;

const SETS = 16_384;
const WAYS = 4;
/** A set is one line of the processor's cache: four points in time, and behind them four tags. */
const SET_BYTES = 64;
const SET_TIMES = SET_BYTES / 8;
const SET_TAGS = SET_BYTES / 4;
const TAGS_AT = (WAYS * 8) / 4;
/** Behind the sets of sorts stand those of networks, so that no number of sorts makes a network be forgotten. */
const NETWORKS_FROM = SETS;
const SEED_AT = 2 * SETS * SET_BYTES;
const SEED_BYTES = 4;

/** Room for the 65,536 sorts of responses and as many networks that were seen last, whatever comes. */
export function createRateTable(): SharedArrayBuffer {
  const table = new SharedArrayBuffer(SEED_AT + SEED_BYTES);
  // Nobody outside may know which networks share a set.
  randomFillSync(new Uint8Array(table, SEED_AT));
  return table;
}

/** Throws RangeError on an exemption that is not a network. Threads race for a slot without harm: one response more or less. */
export function createRateLimit({ perSecond, allPerSecond, slip, exempt, table }: RateLimitConfig): RateLimit | undefined {
  if (perSecond === 0) return undefined;
  const [seed = 0] = new Int32Array(table, SEED_AT);
  const tags = new Int32Array(table);
  /** The points in time up to which budgets are spent. */
  const spentUntil = new Float64Array(table, 0, 2 * SETS * SET_TIMES);
  const costMs = 1_000 / perSecond;
  const unitMs = allPerSecond === 0 ? 0 : 1_000 / allPerSecond;
  const exemptions = exempt.map(network);
  let random = seed;

  /** Where the time of the tag stands; if nowhere, in place of the one that is forgotten with the least harm: which has the most left. */
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
  /** A network that continues to ask the same above the limit gets no answers to it until it stops. */
  const isSortOver = (tag: number, nowMs: number): boolean => {
    const at = timeOf(tag & (SETS - 1), tag, nowMs);
    let spent = spentUntil[at] as number;
    // Nothing is spent that far ahead: the clock was set back.
    if (spent > nowMs + WINDOW_MS + costMs) spent = nowMs - BURST_MS;
    spent = Math.max(spent, nowMs - BURST_MS) + costMs;
    spentUntil[at] = Math.min(spent, nowMs + WINDOW_MS);
    return spent > nowMs;
  };
  /** Only what is sent is counted, so that a network with many clients still gets its rate. The last response may overdraw. */
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
      // No pattern, so that nobody's questions always fall on the dropped ones.
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0;
      return slip > 0 && (random >>> 8) % slip === 0 ? TRUNCATE : DROP;
    },
  };
}

/** MurmurHash3 over the network, an IPv4 /24 as one word and an IPv6 /56 as two; `finished` ends it, with the sort behind or without. */
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
