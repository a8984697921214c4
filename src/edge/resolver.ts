import { lookup } from "node:dns";
import type { Clock } from "#kernel/clock.ts";

/** Addresses of a name from the system's resolver; empty where it has none or did not answer in time. Never rejects. */
export type Resolver = (name: string) => Promise<readonly string[]>;

interface ResolverOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly cacheMs: number;
}

const CACHED_NAMES_MAX = 10_000;

/** Questions for one name share one look-up, and its answer is believed for a while. */
export function createResolver(options: ResolverOptions): Resolver {
  const cache = new Map<string, { readonly untilMs: number; readonly addresses: Promise<readonly string[]> }>();
  return (name) => {
    const nowMs = options.clock.monotonicMs();
    const known = cache.get(name);
    if (known !== undefined && known.untilMs > nowMs) return known.addresses;
    cache.delete(name);
    // Insertion order is age order: the first is the oldest.
    for (const oldest of cache.keys()) {
      if (cache.size < CACHED_NAMES_MAX) break;
      cache.delete(oldest);
    }
    const addresses = lookUp(name, options.timeoutMs);
    cache.set(name, { untilMs: nowMs + options.cacheMs, addresses });
    return addresses;
  };
}

const lookUp = (name: string, timeoutMs: number): Promise<readonly string[]> =>
  new Promise((resolve) => {
    const limit = setTimeout(() => resolve([]), timeoutMs);
    // The system's own look-up knows /etc/hosts, which container networks rely upon.
    lookup(name, { all: true }, (error, found) => {
      clearTimeout(limit);
      resolve(error === null ? found.map((entry) => entry.address) : []);
    });
  });
