import type { Dispatcher } from "undici";
import type { GatewayLimits } from "./config.ts";

/** Kept-alive connections to providers, one pool an origin. */
export interface Pools {
  get(origin: string): Dispatcher | Promise<Dispatcher>;
  /** Cuts what is under way. */
  destroy(): Promise<void>;
}

/** Time for the whole server to become ready before the client library takes the processor; it is 90 ms of loading. */
const WARM_UP_MS = 1_000;
/** Some providers have an address for each customer, and clients name them. */
const POOLS_MAX = 256;

/** The client library is loaded soon after the start, or by the first request if that is sooner. */
export function createPools(limits: GatewayLimits): Pools {
  const pools = new Map<string, Dispatcher>();
  const load = (): Promise<typeof import("undici")> => import("undici");
  const warmUp = setTimeout(load, WARM_UP_MS).unref();
  const open = async (origin: string): Promise<Dispatcher> => {
    const { Pool } = await load();
    // Another request may have opened it while this one waited.
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connections: limits.upstreamConnectionsMax,
      pipelining: 1,
      headersTimeout: limits.firstByteTimeoutMs,
      bodyTimeout: limits.idleTimeoutMs,
      connect: { timeout: limits.connectTimeoutMs },
    });
    const [oldest] = pools.size < POOLS_MAX ? [] : pools;
    if (oldest !== undefined) {
      pools.delete(oldest[0]);
      // What is under way comes to its end.
      void oldest[1].close();
    }
    pools.set(origin, pool);
    return pool;
  };
  return {
    get: (origin) => pools.get(origin) ?? open(origin),
    destroy: async () => {
      clearTimeout(warmUp);
      await Promise.all(Array.from(pools.values(), (pool) => pool.destroy()));
      pools.clear();
    },
  };
}
