import type { NameKey } from "#wire/dns/name.ts";

/** A complete response. Its question's name stands at byte 12 and is replaced by the asker's spelling. */
export interface CachedResponse {
  readonly bytes: Buffer;
  readonly zones: ReadonlySet<NameKey>;
}

/**
 * Responses by question. A commit drops the zones it changed before it is acknowledged, so that no answer
 * outlives the data it was made of.
 */
export interface AnswerCache {
  get(key: string): CachedResponse | undefined;
  put(key: string, response: CachedResponse): void;
  dropZones(zones: ReadonlySet<NameKey>): void;
  clear(): void;
  readonly entryCount: number;
}

/** Larger responses are rare and not worth their memory. */
const RESPONSE_BYTES_MAX = 1500;

/** The name's key, then what else tells responses apart: type, class and EDNS (0 without, 1 with, 2 with DO). */
export const cacheKey = (name: NameKey, type: number, questionClass: number, ednsClass: 0 | 1 | 2): string =>
  name + String.fromCharCode(type, questionClass, ednsClass);

export function createAnswerCache({ entriesMax }: { readonly entriesMax: number }): AnswerCache {
  const entries = new Map<string, CachedResponse>();
  const keysByZone = new Map<NameKey, Set<string>>();

  const remove = (key: string): void => {
    for (const zone of entries.get(key)?.zones ?? []) {
      const keys = keysByZone.get(zone);
      keys?.delete(key);
      if (keys?.size === 0) keysByZone.delete(zone);
    }
    entries.delete(key);
  };

  return {
    get: (key) => entries.get(key),
    put: (key, response) => {
      if (response.bytes.length > RESPONSE_BYTES_MAX) return;
      remove(key);
      // The oldest goes first: a flood of random names passes through without ever growing the map.
      const oldest = entries.size >= entriesMax ? entries.keys().next().value : undefined;
      if (oldest !== undefined) remove(oldest);
      // A slice of Node's shared pool would keep all of its slab in memory for one short answer.
      const bytes = Buffer.allocUnsafeSlow(response.bytes.length);
      response.bytes.copy(bytes);
      entries.set(key, { bytes, zones: response.zones });
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
      keysByZone.clear();
    },
    get entryCount() {
      return entries.size;
    },
  };
}
