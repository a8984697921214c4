import { Resolver } from "node:dns/promises";
import type { HostsFile } from "./hosts-file.ts";

/** What was found of a name. No address: there is such a name without any, or no such name. */
export interface LookedUp {
  readonly addresses: readonly string[];
  /** Of the address that may be kept for the shortest time; 0 without an address. */
  readonly ttlSeconds: number;
}

/** Asks for the addresses of a name. Rejects where nobody who knows has answered in time. */
export type LookUp = (name: string) => Promise<LookedUp>;

interface LookUpDeps {
  readonly hosts: HostsFile;
  /** Addresses of resolvers, with a port where it is not 53; none: those of the system. */
  readonly servers: readonly string[];
  readonly timeoutMs: number;
}

const TRIES = 2;
/** A name with more addresses than this gets along with the first ones. */
const ADDRESSES_MAX = 64;
/** The hosts file may change at any time. */
const HOSTS_TTL_SECONDS = 5;
/** Answers, and good ones: there is nothing of the type, or no such name. */
const NOTHING = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Looks up names without the system's own look-up, which blocks one of the few threads of the process for as long as a
 * server takes: names of some visitors' sites would hold up those of all others.
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
    // One family is better than none: the other one has its chance with the next look-up.
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
      // The machine may be in another network by now, with other resolvers.
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
