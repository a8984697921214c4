import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { AppliedOp, Snapshot } from "#snapshot/feed.ts";
import { ANY_ACCOUNT } from "#snapshot/reliance.ts";
import { nameOfKey } from "#wire/dns/name.ts";
import type { Zones } from "#nameserver/zones/zones.ts";
import type { ExternalLimits } from "#nameserver/config.ts";
import { createExternalNames, type ExternalNames } from "./external-names.ts";
import { createResolve } from "./resolve.ts";
import { resolversOf } from "./servers.ts";
import { isElsewhere, externalTargets } from "./targets.ts";

/** Records of external names that aliases of hosted zones lead to. */
export interface ExternalLookups extends Pick<ExternalNames, "find" | "findNow" | "complete"> {
  /** Looks up names that queries will need: of the whole snapshot, or of the changes in `ops`. */
  prepare(snapshot: Snapshot, ops: readonly AppliedOp[] | null): void;
  /** Aborts all running lookups. */
  close(): void;
}

export interface ExternalLookupsDeps {
  /** Addresses of resolvers, with a port if it is not 53. Empty: those of the system. */
  readonly resolvers: readonly string[];
  readonly zones: Zones;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly limits: ExternalLimits;
}

export function createExternalLookups({ resolvers, zones, clock, metrics, limits }: ExternalLookupsDeps): ExternalLookups {
  const closing = new AbortController();
  const resolve = createResolve({
    servers: resolversOf(resolvers),
    // Results are shared by all accounts.
    isOurs: (key) => !isElsewhere(zones, nameOfKey(key), ANY_ACCOUNT),
    limits,
    closing: closing.signal,
  });
  const names = createExternalNames({ resolve, clock, metrics, limits });
  return {
    find: names.find,
    findNow: names.findNow,
    complete: names.complete,
    prepare: (snapshot, ops) => names.warm(externalTargets(zones, snapshot, ops)),
    close: () => closing.abort(new Error("the nameserver is shutting down")),
  };
}
