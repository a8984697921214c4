import type { Clock } from "#kernel/clock.ts";
import { LargeMap } from "#kernel/large-map.ts";
import type { NameKey } from "#wire/dns/name.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { signedTypes, visibleSet } from "#nameserver/zones/lookup.ts";
import type { ZoneIterator } from "#nameserver/zones/zone-iterator.ts";
import type { ZoneObserver, Zones } from "#nameserver/zones/zones.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";
import type { Signatures } from "./rrsig-cache.ts";

/**
 * Makes signatures before queries need them: for the names of a delta right after it, for whole zones at start and when
 * their keys change, and again before signatures expire. Works in slices, between which queries are answered. A query
 * signs for itself the sets that are not signed yet.
 */
export interface BackgroundSigner extends ZoneObserver {
  /** Goes through all signed zones now, and again every hour. */
  sweep(): void;
  close(): void;
}

export interface BackgroundSignerDeps {
  /** Called when the first slice runs, because zones are created after their observers. */
  readonly zones: () => Pick<Zones, "nearestZone" | "served">;
  readonly edge: EdgeFront;
  readonly signatures: Signatures;
  readonly clock: Clock;
}

/** About eighty signatures; then the thread does its other work. */
const SLICE_MS = 2;
const PAUSE_MS = 4;
/** Signatures are used until a week before they expire, so an hour more or less does not matter. */
const SWEEP_INTERVAL_MS = 3_600_000;

interface Job {
  readonly id: string;
  readonly key: NameKey;
}

/** A zone in which some names have changed; a large change has up to a million. */
interface Names extends Job {
  readonly names: LargeMap<true>;
  rest: Iterator<NameKey, undefined>;
}

function namesOf(job: Job): Names {
  const names = new LargeMap<true>();
  return { ...job, names, rest: names.keys() };
}

/** A zone whose names are all signed, after the signatures of removed names have been dropped. */
interface WholeZone extends Job {
  readonly tidying: Generator<void>;
  readonly names: ZoneIterator;
}

export function createBackgroundSigner({ zones, edge, signatures, clock }: BackgroundSignerDeps): BackgroundSigner {
  /** By zone, because several deltas in a row change the same names, most often the apex. */
  const changed = new Map<string, Names>();
  const whole = new LargeMap<Job>();
  /** The keys of signed zones by zone id. */
  const signed = new LargeMap<NameKey>();
  let walk: WholeZone | undefined;
  let slice: NodeJS.Timeout | undefined;
  let nextSweep: NodeJS.Timeout | undefined;

  const zoneOf = ({ id, key }: Job): ZoneIndex | undefined => {
    const zone = zones().nearestZone(key, null);
    return zone?.id === id && zone.dnssec ? zone : undefined;
  };
  const endWalk = (): void => {
    walk?.names.close();
    walk = undefined;
  };

  /** Signs the sets of one name. Returns false if the zone's keys are unusable. */
  const signName = (zone: ZoneIndex, owner: NameKey): boolean => {
    const node = zone.nodes.get(owner);
    return signedTypes(edge, zone, owner, node).every((type) => {
      const set = visibleSet(edge, zone, owner, node, type);
      return !set || signatures.kept(zone, { owner, type, ttl: set.ttl, rdatas: set.rdatas }) !== undefined;
    });
  };

  const stepChanged = (job: Names): void => {
    const zone = zoneOf(job);
    const { value: name, done } = job.rest.next();
    if (done === true) job.rest = job.names.keys();
    else job.names.delete(name);
    const isUsable = zone !== undefined && (name === undefined || signName(zone, name));
    if (!isUsable || job.names.size === 0) changed.delete(job.id);
  };

  const stepWalk = (job: WholeZone): void => {
    const zone = zoneOf(job);
    try {
      if (zone && job.tidying.next().done !== true) return;
      const found = zone && job.names.next();
      if (found !== null && (!found || !signName(zone!, found[0]))) endWalk();
    } catch {
      // Too much has changed since the walk began. Queries or the next walk sign the rest.
      endWalk();
    }
  };

  const startWalk = (job: Job): void => {
    whole.delete(job.id);
    const zone = zoneOf(job);
    if (!zone) return;
    if (!signName(zone, zone.key)) return;
    const tidying = signatures.keepOnly(zone, (name) => name === zone.key || zone.nodes.get(name) !== undefined);
    walk = { ...job, tidying, names: zone.nodes.walk() };
  };

  /** Does one piece of the pending work; returns false if none is left. */
  const step = (): boolean => {
    const [next] = changed.values();
    if (next) stepChanged(next);
    else if (walk) stepWalk(walk);
    else {
      const [job] = whole.values();
      if (!job) return false;
      startWalk(job);
    }
    return true;
  };
  const run = (): void => {
    slice = undefined;
    const untilMs = clock.monotonicMs() + SLICE_MS;
    while (step()) if (clock.monotonicMs() >= untilMs) return schedule();
  };
  const schedule = (): void => {
    slice ??= setTimeout(run, PAUSE_MS).unref();
  };

  const sweep = (): void => {
    const all = [...zones().served()].filter((zone) => zone.dnssec);
    signed.clear();
    for (const { id, key } of all) {
      signed.set(id, key);
      whole.set(id, { id, key });
    }
    signatures.retain(signed);
    schedule();
    nextSweep ??= setInterval(sweep, SWEEP_INTERVAL_MS).unref();
  };

  const signSoon = ({ id, key }: Job, names: readonly NameKey[]): void => {
    const pending = changed.get(id) ?? namesOf({ id, key });
    for (const name of names) pending.names.set(name, true);
    changed.set(id, pending);
    signatures.forget({ id }, names);
    schedule();
  };

  return {
    sweep,
    wants: (zoneId) => signed.has(zoneId),
    changed: ({ id, before, after, names }) => {
      if (!after?.dnssec) {
        if (signed.delete(id)) signatures.retain(signed);
        return;
      }
      signed.set(id, after.key);
      const job = { id, key: after.key };
      if (before?.dnssec !== after.dnssec || before.entry.paused !== after.entry.paused) whole.set(id, job);
      signSoon(job, [after.key, ...names.map(({ key }) => key)]);
    },
    named: (id, names) => {
      const key = signed.get(id);
      if (key !== undefined)
        signSoon(
          { id, key },
          names.map((name) => name.key),
        );
    },
    close: () => {
      clearTimeout(slice);
      clearInterval(nextSweep);
      endWalk();
    },
  };
}
