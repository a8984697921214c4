import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Dispatcher } from "undici";
import type { AddressPolicy } from "#kernel/address-policy.ts";
import type { GatewayLimits } from "./config.ts";
import { RefusalError } from "./errors.ts";

/** Kept-alive connections to providers, one pool an origin. */
export interface Pools {
  /**
   * `isGuarded`: only addresses that may be reached are connected to, whatever names lead to. Throws a RefusalError for an
   * origin that is itself an address that may not.
   */
  get(origin: string, options?: { readonly isGuarded: boolean }): Dispatcher | Promise<Dispatcher>;
  /** Cuts what is under way. */
  destroy(): Promise<void>;
}

/** Time for the whole server to become ready before the client library takes the processor; it is 90 ms of loading. */
const WARM_UP_MS = 1_000;
/** Some providers have an address for each customer, and clients name them. */
const POOLS_MAX = 256;

/** The client library is loaded soon after the start, or by the first request if that is sooner. */
export function createPools(limits: GatewayLimits, allows: AddressPolicy): Pools {
  const pools = new Map<string, Dispatcher>();
  const load = (): Promise<typeof import("undici")> => import("undici");
  const warmUp = setTimeout(load, WARM_UP_MS).unref();
  const open = async (name: string, origin: string, isGuarded: boolean): Promise<Dispatcher> => {
    const { Pool } = await load();
    // Another request may have opened it while this one waited.
    const known = pools.get(name);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connections: limits.upstreamConnectionsMax,
      pipelining: 1,
      headersTimeout: limits.firstByteTimeoutMs,
      bodyTimeout: limits.idleTimeoutMs,
      connect: { timeout: limits.connectTimeoutMs, ...(isGuarded ? { lookup: guardedLookup(allows) } : {}) },
    });
    const [oldest] = pools.size < POOLS_MAX ? [] : pools;
    if (oldest !== undefined) {
      pools.delete(oldest[0]);
      // What is under way comes to its end.
      void oldest[1].close();
    }
    pools.set(name, pool);
    return pool;
  };
  return {
    get: (origin, { isGuarded } = { isGuarded: false }) => {
      if (!isGuarded) return pools.get(origin) ?? open(origin, origin, false);
      checkAddress(origin, allows);
      const name = `guarded ${origin}`;
      return pools.get(name) ?? open(name, origin, true);
    },
    destroy: async () => {
      clearTimeout(warmUp);
      await Promise.all(Array.from(pools.values(), (pool) => pool.destroy()));
      pools.clear();
    },
  };
}

/** Throws a RefusalError for an origin that is itself an address that may not be reached: a connection to it looks nothing up. */
export function checkAddress(origin: string, allows: AddressPolicy): void {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !allows(host)) throw new RefusalError({ name: "aig_upstream_not_allowed" });
}

/** Gives only addresses that may be reached, at the moment in which one of them is connected to. */
export const guardedLookup =
  (allows: AddressPolicy): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const allowed = error === null ? found.filter(({ address }) => allows(address)) : [];
      const [first] = allowed;
      const failure = error ?? (first === undefined ? new Error("the provider's address may not be reached from here") : null);
      if (failure !== null || first === undefined) callback(failure, "");
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
