import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { type DnsName, keyOf, type NameKey } from "#wire/dns/name.ts";
import type { ServerQuestion } from "./query-server.ts";
import type { ExternalLimits } from "#nameserver/config.ts";
import { createSemaphore } from "#kernel/semaphore.ts";
import type { Resolution, Resolve } from "./resolve.ts";

/** The records of an external name for an answer. */
export interface ExternalRRset {
  /** Empty if the name has no records of the type, or none are known. */
  readonly rdatas: readonly Uint8Array[];
  /** Seconds. */
  readonly ttl: number;
  /** The name is an alias of this hosted name. */
  readonly ours?: DnsName;
  /** `stale`: expired, but cannot be refreshed. `unknown`: no lookup has succeeded. */
  readonly state: "good" | "stale" | "unknown";
  /** Milliseconds for which an answer that contains it may be cached. */
  readonly keepMs: number;
}

/** Undefined while a lookup that could find more is running. */
export type FindExternal = (name: DnsName, type: number) => ExternalRRset | undefined;

/** Records of external names: one lookup serves all clients, and results are refreshed while they are in use. */
export interface ExternalNames {
  readonly find: FindExternal;
  /** Returns the records known now, without waiting; never undefined. */
  readonly findNow: FindExternal;
  /**
   * The result of `make` once nothing is missing. After the time limit, or if too many queries wait, the result from the
   * data at hand. Rejects only if `make` throws.
   */
  complete<T extends Lacking>(make: (find: FindExternal) => T): Promise<T>;
  /** Looks up the addresses of names that queries will need, a few at a time. */
  warm(names: Iterable<DnsName>): void;
}

/** A result that is incomplete until its missing names are known. */
interface Lacking {
  readonly outside?: { readonly missing: readonly ServerQuestion[] };
}

export interface ExternalNamesDeps {
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly limits: ExternalLimits;
}

interface Good extends Resolution {
  /** When it was found, on the clock's monotonic scale in milliseconds. */
  readonly foundMs: number;
  /** How long it is valid, in milliseconds: its TTL, or a minimum if that is longer. */
  readonly lifeMs: number;
}

interface Entry {
  readonly question: ServerQuestion;
  good: Good | undefined;
  /** Failed lookups since the last success. */
  failures: number;
  retryMs: number;
  pending: Promise<void> | undefined;
}

/** How long answers are cached while their data is about to change. */
const KEEP_BRIEFLY_MS = 1_000;
/** Rounds of lookups for one answer: one result may lead to another name, such as an external alias of a hosted name. */
const ROUNDS_MAX = 4;
/** Limit of lookups ahead of queries, so that queries do not wait behind them. */
const WARM_LOOKUPS_MAX = 8;

export function createExternalNames({ resolve, clock, metrics, limits }: ExternalNamesDeps): ExternalNames {
  const entries = new Map<string, Entry>();
  const turns = createSemaphore(limits.lookupsMax, limits.queuedLookupsMax);
  const warmTurns = createSemaphore(WARM_LOOKUPS_MAX, limits.queuedLookupsMax);
  const counters = createCounters(metrics);
  let waiters = 0;

  const entryOf = (question: ServerQuestion): Entry => {
    const key = entryKey(question);
    let entry = entries.get(key);
    if (!entry) {
      makeRoom();
      entry = { question, good: undefined, failures: 0, retryMs: 0, pending: undefined };
      entries.set(key, entry);
      counters.names.value = entries.size;
    }
    return entry;
  };

  /** Removes the oldest entry; an entry in use returns with the next query. */
  const makeRoom = (): void => {
    const oldest = entries.size >= limits.entriesMax ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
  };

  const lookUp = (entry: Entry): Promise<void> => {
    entry.pending ??= turns
      .run(() => resolve(entry.question))
      .then(
        (found) => {
          Object.assign(entry, { good: goodOf(found, clock.monotonicMs(), limits), failures: 0, retryMs: 0 });
          counters.lookups[found.rdatas.length > 0 || found.ours ? "found" : "nothing"].value += 1;
        },
        () => {
          entry.retryMs = clock.monotonicMs() + Math.min(limits.retryMinMs * 2 ** entry.failures, limits.retryMaxMs);
          entry.failures += 1;
          counters.lookups.failed.value += 1;
        },
      )
      .finally(() => (entry.pending = undefined));
    return entry.pending;
  };

  const find = (name: DnsName, type: number, waiting: boolean): ExternalRRset | undefined => {
    const entry = entries.get(entryKey({ name, type }));
    const now = clock.monotonicMs();
    const fresh = entry?.good && freshSet(entry.good, now, limits);
    const isFailing = entry !== undefined && entry.failures > 0;
    const stale = !fresh && entry?.good && (isFailing || !waiting) ? staleSet(entry.good, now, limits) : undefined;
    if (entry && (fresh ? fresh.keepMs <= KEEP_BRIEFLY_MS : stale) && now >= entry.retryMs) void lookUp(entry);
    if (fresh) return fresh;
    // No query waits if a lookup failed a short time ago, or if stale data can be used instead.
    if (waiting && !stale && !(isFailing && now < entry.retryMs)) return undefined;
    if (stale) counters.stale.value += 1;
    return stale ?? { rdatas: [], ttl: limits.staleTtl, state: "unknown", keepMs: KEEP_BRIEFLY_MS };
  };

  const warmOne = (question: ServerQuestion): void => {
    const isNew = (): boolean => !entries.has(entryKey(question));
    // If it cannot start now, the first query starts it and waits.
    if (isNew()) void warmTurns.run(async () => (isNew() ? lookUp(entryOf(question)) : undefined)).catch(() => {});
  };

  const findNow: FindExternal = (name, type) => find(name, type, false);

  return {
    find: (name, type) => find(name, type, true),
    findNow,
    complete: async (make) => {
      const lookUps = (made: Lacking): Promise<unknown>[] => (made.outside?.missing ?? []).map((question) => lookUp(entryOf(question)));
      const { promise: overdue, resolve: giveUp } = Promise.withResolvers<"overdue">();
      const timer = setTimeout(giveUp, waiters < limits.waitersMax ? limits.waitMs : 0, "overdue");
      waiters += 1;
      try {
        for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
          const made = make((name, type) => find(name, type, true));
          const pending = lookUps(made);
          if (pending.length === 0) return made;
          if ((await Promise.race([Promise.all(pending), overdue])) === "overdue") break;
        }
        return make(findNow);
      } finally {
        waiters -= 1;
        clearTimeout(timer);
      }
    },
    warm: (names) => {
      let left = limits.warmNamesMax;
      for (const name of names) {
        if (left-- <= 0) return;
        for (const type of [TYPE.A, TYPE.AAAA]) warmOne({ name, type });
      }
    },
  };
}

const entryKey = ({ name, type }: ServerQuestion): NameKey => `${keyOf(name)}${type}`;

function goodOf(found: Resolution, foundMs: number, { ttlMin, ttlMax, nothingTtlMax }: ExternalLimits): Good {
  const ttl = Math.min(found.ttl, found.rdatas.length > 0 || found.ours ? ttlMax : nothingTtlMax);
  return { ...found, ttl, foundMs, lifeMs: Math.max(ttl, ttlMin) * 1000 };
}

/** Undefined after its lifetime. Answers may be cached until the result should be refreshed. */
function freshSet({ foundMs, lifeMs, ...found }: Good, now: number, { refreshAfter }: ExternalLimits): ExternalRRset | undefined {
  const ageMs = now - foundMs;
  if (ageMs >= lifeMs) return undefined;
  return { ...found, state: "good", keepMs: Math.max(lifeMs * refreshAfter - ageMs, KEEP_BRIEFLY_MS) };
}

function staleSet({ foundMs, lifeMs, ...found }: Good, now: number, { staleMs, staleTtl }: ExternalLimits): ExternalRRset | undefined {
  if (now - foundMs >= lifeMs + staleMs) return undefined;
  return { ...found, ttl: Math.min(found.ttl, staleTtl), state: "stale", keepMs: KEEP_BRIEFLY_MS };
}

function createCounters(metrics: MetricRegistry) {
  const lookups = (result: string) =>
    metrics.counter("selvedge_dns_external_lookups_total", "Lookups of external names that aliases of hosted zones point to", { result });
  return {
    lookups: { found: lookups("found"), nothing: lookups("nothing"), failed: lookups("failed") },
    names: metrics.gauge("selvedge_dns_external_names", "External names and types in the cache"),
    stale: metrics.counter("selvedge_dns_external_stale_total", "Answers with stale addresses because a new lookup failed"),
  };
}
