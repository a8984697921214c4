import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { Timers } from "#kernel/timers.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { GatewayLimits } from "#gateway/config.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import { createProviderPool, type ProviderPool } from "./provider-pool.ts";
import type { ReadTicks } from "./read-coalescing.ts";

/** Kept-alive connections to providers, one pool per origin. */
export interface Pools {
  /**
   * `isGuarded`: connect only to permitted addresses, whatever the names resolve to. Throws a RefusalError for an origin
   * that is itself an address that is not permitted.
   */
  get(origin: string, options?: { readonly isGuarded: boolean }): ProviderPool;
  /** Cuts all requests under way. */
  destroy(): void;
}

/** Bounded, because clients name the hosts of providers with an address per customer. */
const POOLS_MAX = 256;

export function createPools({
  limits,
  allows,
  timers,
  ticks,
  loop,
}: {
  readonly limits: GatewayLimits;
  readonly allows: AddressPolicy;
  readonly timers: Timers;
  readonly ticks: ReadTicks;
  readonly loop: SocketLoop | null;
}): Pools {
  const pools = new Map<string, ProviderPool>();
  const open = (name: string, origin: string, isGuarded: boolean): ProviderPool => {
    const pool = createProviderPool({
      origin,
      lookup: isGuarded ? guardedLookup(allows, portOf(origin)) : undefined,
      limits,
      timers,
      ticks,
      loop,
    });
    const [oldest] = pools.size < POOLS_MAX ? [] : pools;
    if (oldest !== undefined) {
      pools.delete(oldest[0]);
      oldest[1].close();
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
    destroy: () => {
      for (const pool of pools.values()) pool.destroy();
      pools.clear();
    },
  };
}

/**
 * Throws a RefusalError for an origin that is itself an address that is not permitted: such a connection needs no lookup,
 * so the guarded lookup would not see it.
 */
export function checkAddress(origin: string, allows: AddressPolicy): void {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !allows(host, portOf(origin))) throw new RefusalError({ name: "aig_upstream_not_allowed" });
}

/** The scheme's default port if the origin names none. */
export const portOf = (origin: string): number => {
  const { port, protocol } = new URL(origin);
  return Number(port) || (/^(?:https|wss):$/.test(protocol) ? 443 : 80);
};

/** Returns only permitted addresses, at the moment of the connection. */
export const guardedLookup =
  (allows: AddressPolicy, port: number): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const allowed = error === null ? found.filter(({ address }) => allows(address, port)) : [];
      const [first] = allowed;
      const failure =
        error ?? (first === undefined ? new Error("this server is not permitted to connect to the provider's address") : null);
      if (failure !== null || first === undefined) callback(failure, "");
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
