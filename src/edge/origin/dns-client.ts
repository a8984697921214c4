import { Resolver } from "node:dns/promises";
import type { HostsFile } from "./hosts-file.ts";

/** The result of a look-up. Without addresses, the name has none or does not exist. */
export interface LookedUp {
  readonly addresses: readonly string[];
  /** The smallest TTL of the addresses; 0 without an address. */
  readonly ttlSeconds: number;
}

/** Looks up the addresses of a name. Rejects if no server has answered in time. */
export type LookUp = (name: string) => Promise<LookedUp>;

interface LookUpDeps {
  readonly hosts: HostsFile;
  /** Addresses of resolvers, with a port unless it is 53. Empty: the system's resolvers. */
  readonly servers: readonly string[];
  readonly timeoutMs: number;
}

const TRIES = 2;
/** Further addresses of a name are ignored. */
const ADDRESSES_MAX = 64;
/** The hosts file may change at any time. */
const HOSTS_TTL_SECONDS = 5;
/** Valid answers: no data of this type, or no such name. */
const NOTHING = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Looks up names without the system's look-up, which blocks one of the process's few threads until a server answers: slow
 * names of some sites would delay all others.
 */
export function createLookUp({ hosts, servers, timeoutMs }: LookUpDeps): LookUp {
  const open = (): Resolver => {
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / (TRIES + 1)), tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    return resolver;
  };
  let resolver = open();

  const ask = async (name: string): Promise<LookedUp> => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })]);
    const found = [...recordsOf(v4), ...recordsOf(v6)].slice(0, ADDRESSES_MAX);
    const failed = [v4, v6].find((answer) => answer.status === "rejected" && !NOTHING.has(codeOf(answer.reason)));
    // One family is enough; the other is asked again with the next look-up.
    if (found.length === 0 && failed?.status === "rejected") throw failed.reason;
    return {
      addresses: found.map(({ address }) => address),
      ttlSeconds: found.length === 0 ? 0 : Math.min(...found.map(({ ttl }) => ttl)),
    };
  };

  return async (name) => {
    const local = await hosts(name);
    if (local.length > 0) return { addresses: local, ttlSeconds: HOSTS_TTL_SECONDS };
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(() => limit.reject(new Error("the resolvers did not answer in time")), timeoutMs);
    try {
      return await Promise.race([ask(name), limit.promise]);
    } catch (error) {
      // The machine may have moved to another network, with other resolvers.
      if (servers.length === 0) resolver = open();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

interface Found {
  readonly address: string;
  readonly ttl: number;
}

const recordsOf = (answer: PromiseSettledResult<readonly Found[]>): readonly Found[] => (answer.status === "fulfilled" ? answer.value : []);

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");
