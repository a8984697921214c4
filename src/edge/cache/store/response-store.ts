import type { StoredResponse } from "./stored-response.ts";

/** A limit of the store. */
export interface StoreBound {
  readonly max: number;
  weightOf(response: StoredResponse): number;
}

/** Responses by primary key, within limits. */
export interface ResponseStore {
  /** Responses of a key, newest first; they differ in the request fields that Vary names. */
  find(key: string): readonly StoredResponse[];
  /** Replaces responses with the same keys. Does nothing if the response exceeds the limit. */
  put(response: StoredResponse): void;
  remove(response: StoredResponse): void;
  /** Removes the responses for which the predicate is true. */
  sweep(isGone: (response: StoredResponse) => boolean): void;
  /** Amount in use, measured by the first limit. */
  readonly used: number;
  readonly size: number;
}

/** Limit of responses per key: a Vary on a field with many values must not fill the store. */
const VARIANTS_MAX = 32;
const NONE: readonly StoredResponse[] = [];

/**
 * Evicts by SIEVE (Zhang et al., NSDI 2024): a hand walks from the oldest to the newest entry and evicts the first one
 * that was not used since the hand last passed it. A hit only sets a flag, and entries that are used once leave early.
 */
export function createResponseStore(
  bounds: readonly StoreBound[],
  onRemoved: (response: StoredResponse) => void = () => {},
): ResponseStore {
  const byKey = new Map<string, StoredResponse[]>();
  const used = bounds.map(() => 0);
  let newest: StoredResponse | null = null;
  let oldest: StoredResponse | null = null;
  let hand: StoredResponse | null = null;
  let size = 0;

  const account = (response: StoredResponse, sign: 1 | -1): void => {
    for (const [index, bound] of bounds.entries()) used[index]! += sign * bound.weightOf(response);
    size += sign;
  };
  const hasRoomFor = (response: StoredResponse): boolean =>
    bounds.every((bound, index) => used[index]! + bound.weightOf(response) <= bound.max);
  const link = (response: StoredResponse): void => {
    response.older = newest;
    response.newer = null;
    if (newest === null) oldest = response;
    else newest.newer = response;
    newest = response;
  };
  const unlink = (response: StoredResponse): void => {
    if (hand === response) hand = response.newer;
    if (response.newer === null) newest = response.older;
    else response.newer.older = response.older;
    if (response.older === null) oldest = response.newer;
    else response.older.newer = response.newer;
    response.newer = response.older = null;
  };
  const remove = (response: StoredResponse): void => {
    if (!response.isStored) return;
    response.isStored = false;
    unlink(response);
    account(response, -1);
    const left = byKey.get(response.asked.key)!.filter((other) => other !== response);
    if (left.length === 0) byKey.delete(response.asked.key);
    else byKey.set(response.asked.key, left);
    onRemoved(response);
  };
  const evictOne = (): void => {
    let candidate = hand ?? oldest;
    while (candidate !== null && candidate.visited) {
      candidate.visited = false;
      candidate = candidate.newer ?? oldest;
    }
    if (candidate === null) return;
    hand = candidate;
    remove(candidate);
  };

  return {
    find: (key) => byKey.get(key) ?? NONE,
    put: (response) => {
      const { key } = response.asked;
      for (const other of byKey.get(key) ?? NONE) if (isReplaced(other, response)) remove(other);
      if (bounds.some((bound) => bound.weightOf(response) > bound.max)) return;
      const others = byKey.get(key) ?? NONE;
      // A client that invents values must not evict variants that others use.
      if (others.length >= VARIANTS_MAX) remove(others.findLast((other) => !other.visited) ?? others.at(-1)!);
      while (!hasRoomFor(response)) evictOne();
      // few: VARIANTS_MAX
      byKey.set(key, [response, ...(byKey.get(key) ?? NONE)]);
      link(response);
      response.isStored = true;
      account(response, 1);
    },
    remove,
    sweep: (isGone) => {
      for (let response = oldest; response !== null;) {
        const next: StoredResponse | null = response.newer;
        if (isGone(response)) remove(response);
        response = next;
      }
    },
    get used() {
      return used[0]!;
    },
    get size() {
      return size;
    },
  };
}

/** `by` is a newer response to the same request, or one with another Vary. */
export const isReplaced = (stored: StoredResponse, by: StoredResponse): boolean =>
  stored.asked.apart === by.asked.apart && stored.secondary === by.secondary && stored.vary.join() === by.vary.join();
