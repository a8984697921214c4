import type { Dispatcher } from "undici";
import type { GatewayLimits } from "./config.ts";

/** Kept-alive connections to providers, one pool an origin. */
export interface Pools {
  get(origin: string): Dispatcher | Promise<Dispatcher>;
  /** Cuts what is under way. */
  destroy(): Promise<void>;
}

/** The client library is loaded after the start, which has no use for it yet. */
export function createPools(limits: GatewayLimits): Pools {
  const pools = new Map<string, Dispatcher>();
  const library = new Promise<void>((resolve) => setImmediate(resolve)).then(() => import("undici"));
  const open = async (origin: string): Promise<Dispatcher> => {
    const { Pool } = await library;
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
    pools.set(origin, pool);
    return pool;
  };
  return {
    get: (origin) => pools.get(origin) ?? open(origin),
    destroy: async () => {
      await library;
      await Promise.all(Array.from(pools.values(), (pool) => pool.destroy()));
      pools.clear();
    },
  };
}
