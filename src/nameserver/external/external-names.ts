import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { type DnsName, keyOf, type NameKey } from "#wire/dns/name.ts";
import type { ServerQuestion } from "./ask-server.ts";
import type { OutsideLimits } from "#nameserver/config.ts";
import { createSemaphore } from "#kernel/semaphore.ts";
import type { Resolution, Resolve } from "./resolve.ts";

/** What an answer may say of a name elsewhere. */
export interface OutsideSet {
  /** None: the name has nothing of the type, as far as anybody knows. */
  readonly rdatas: readonly Uint8Array[];
  /** Seconds. */
  readonly ttl: number;
  /** The name is an alias of this one of ours. */
  readonly ours?: DnsName;
  /** `stale`: it was so, and cannot be looked up again. `unknown`: it could never be looked up. */
  readonly state: "good" | "stale" | "unknown";
  /** How long an answer that is made of it may be kept. */
  readonly keepMs: number;
}

/** Undefined where a look-up could tell more and has not ended. */
export type FindOutside = (name: DnsName, type: number) => OutsideSet | undefined;

/** What is behind names elsewhere: looked up once for all who ask, and kept fresh while it is asked for. */
export interface ExternalNames {
  readonly find: FindOutside;
  /** The same without waiting for anything: never undefined. */
  readonly findNow: FindOutside;
  /**
   * What `make` makes once nothing is missing any more; when that takes too long, or too many wait already, what it makes
   * of what there is. Rejects only as `make` throws.
   */
  complete<T extends Lacking>(make: (find: FindOutside) => T): Promise<T>;
  /** Looks up the addresses of names that will be asked for, a few at a time. */
  warm(names: Iterable<DnsName>): void;
}

/** What may have to be made again. */
interface Lacking {
  readonly outside?: { readonly missing: readonly ServerQuestion[] };
}

export interface OutsideNamesDeps {
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly limits: OutsideLimits;
}

interface Good extends Resolution {
  /** Milliseconds on the clock's monotonic scale. */
  readonly foundMs: number;
  /** How long it is believed: for its TTL, and a little while where that is less. */
  readonly lifeMs: number;
}

interface Entry {
  readonly question: ServerQuestion;
  good: Good | undefined;
  /** Look-ups that failed since the last that did not. */
  failures: number;
  retryMs: number;
  pending: Promise<void> | undefined;
}

/** While something is about to change, answers are made anew so often. */
const KEEP_BRIEFLY_MS = 1_000;
/** What one look-up finds may lead to the next, as where a name elsewhere is an alias of one of ours. */
const ROUNDS_MAX = 4;
/** So that whoever asks finds a turn while names are looked up that nobody asked for yet. */
const WARM_LOOKUPS_MAX = 8;

export function createExternalNames({ resolve, clock, metrics, limits }: OutsideNamesDeps): ExternalNames {
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

  /** What was entered first goes first; what is in use comes back with the next question. */
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

  const find = (name: DnsName, type: number, waiting: boolean): OutsideSet | undefined => {
    const entry = entries.get(entryKey({ name, type }));
    const now = clock.monotonicMs();
    const fresh = entry?.good && freshSet(entry.good, now, limits);
    const isFailing = entry !== undefined && entry.failures > 0;
    const stale = !fresh && entry?.good && (isFailing || !waiting) ? staleSet(entry.good, now, limits) : undefined;
    if (entry && (fresh ? fresh.keepMs <= KEEP_BRIEFLY_MS : stale) && now >= entry.retryMs) void lookUp(entry);
    if (fresh) return fresh;
    // Somebody has waited in vain already, not long ago or for something that has a substitute.
    if (waiting && !stale && !(isFailing && now < entry.retryMs)) return undefined;
    if (stale) counters.stale.value += 1;
    return stale ?? { rdatas: [], ttl: limits.staleTtl, state: "unknown", keepMs: KEEP_BRIEFLY_MS };
  };

  const warmOne = (question: ServerQuestion): void => {
    const isNew = (): boolean => !entries.has(entryKey(question));
    // With no turn left, the first who asks waits.
    if (isNew()) void warmTurns.run(async () => (isNew() ? lookUp(entryOf(question)) : undefined)).catch(() => {});
  };

  const findNow: FindOutside = (name, type) => find(name, type, false);

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

function goodOf(found: Resolution, foundMs: number, { ttlMin, ttlMax, nothingTtlMax }: OutsideLimits): Good {
  const ttl = Math.min(found.ttl, found.rdatas.length > 0 || found.ours ? ttlMax : nothingTtlMax);
  return { ...found, ttl, foundMs, lifeMs: Math.max(ttl, ttlMin) * 1000 };
}

/** Undefined once its time is over. Answers keep it until it is time to look it up again. */
function freshSet({ foundMs, lifeMs, ...found }: Good, now: number, { refreshAfter }: OutsideLimits): OutsideSet | undefined {
  const ageMs = now - foundMs;
  if (ageMs >= lifeMs) return undefined;
  return { ...found, state: "good", keepMs: Math.max(lifeMs * refreshAfter - ageMs, KEEP_BRIEFLY_MS) };
}

function staleSet({ foundMs, lifeMs, ...found }: Good, now: number, { staleMs, staleTtl }: OutsideLimits): OutsideSet | undefined {
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
