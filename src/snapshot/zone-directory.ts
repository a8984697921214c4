import { LargeMap } from "#kernel/large-map.ts";
import type { ZoneEntry } from "./entries.ts";
import { isProved, isReliedOn } from "./reliance.ts";

/**
 * The viewer of a zone: an account whose records, rules or hostnames point at the name. `null`: an outside query for the
 * name itself.
 */
export type Viewer = string | null;

/** The zones of a plane by name. Several accounts may have added the same name; at most one of these zones is active. */
export interface ZoneDirectory<Key extends string, Zone> {
  /** Names that can be queried. */
  readonly size: number;
  clear(): void;
  add(zone: Zone): void;
  /** The zone that was added under the name. */
  remove(key: Key, zone: Zone): void;
  /**
   * The zone closest to the name. From outside: an active one, or if none covers the name one that has moved away and
   * still answers. For an account: an active one that this account relies on (reliance.ts), regardless of others' zones.
   */
  nearestZone(key: Key, viewer: Viewer): Zone | undefined;
  /** The oldest zone that waits under exactly this name for a proof; undefined if another zone answers for the name. */
  oldestClaim(key: Key): Zone | undefined;
  /** Zones of exactly this name, `NAMED_MAX` at most: first the active one, then moved ones, then waiting ones, oldest first. */
  named(key: Key): IteratorObject<Zone>;
  /** Zones that `nearestZone` gives to outside queries, in any order. */
  standing(): Iterable<Zone>;
}

export interface ZoneDirectoryDeps<Key extends string, Zone> {
  keyOf(zone: Zone): Key;
  /** The parent name; undefined above the last one. */
  parentOf(key: Key): Key | undefined;
}

type Listed = { readonly entry: ZoneEntry };

export function createZoneDirectory<Key extends string, Zone extends Listed>({
  keyOf,
  parentOf,
}: ZoneDirectoryDeps<Key, Zone>): ZoneDirectory<Key, Zone> {
  const active = new LargeMap<Zone[]>();
  const moved = new LargeMap<Zone[]>();
  const waiting = new LargeMap<Zone[]>();
  const indexFor = ({ entry: { status } }: Zone): LargeMap<Zone[]> => (status === "active" ? active : status === "moved" ? moved : waiting);

  const nearestIn = (index: Pick<LargeMap<readonly Zone[]>, "get">, key: Key): Zone | undefined => {
    for (let name: Key | undefined = key; name !== undefined; name = parentOf(name)) {
      const zones = index.get(name);
      if (zones !== undefined) return zones[0];
    }
    return undefined;
  };
  const nearestFor = (account: string, key: Key): Zone | undefined => {
    for (let name: Key | undefined = key; name !== undefined; name = parentOf(name)) {
      const zone = active.get(name)?.find(({ entry }) => isReliedOn(entry, account));
      if (zone !== undefined) return zone;
    }
    return undefined;
  };
  const nearestZone = (key: Key, viewer: Viewer): Zone | undefined =>
    viewer === null ? (nearestIn(active, key) ?? (moved.size > 0 ? nearestIn(moved, key) : undefined)) : nearestFor(viewer, key);

  return {
    get size() {
      return active.size + moved.size;
    },
    clear: () => {
      for (const index of [active, moved, waiting]) index.clear();
    },
    add: (zone) => {
      const index = indexFor(zone);
      const key = keyOf(zone);
      const zones = index.get(key);
      if (zones === undefined) index.set(key, [zone]);
      else zones.splice(placeOf(zones, zone.entry), 0, zone);
    },
    remove: (key, zone) => {
      const index = indexFor(zone);
      const zones = index.get(key);
      const place = zones === undefined ? 0 : placeOf(zones, zone.entry);
      if (zones?.[place]?.entry.id !== zone.entry.id) return;
      zones.splice(place, 1);
      if (zones.length === 0) index.delete(key);
    },
    nearestZone,
    oldestClaim: (key) => {
      const zone = waiting.get(key)?.[0];
      return zone !== undefined && nearestZone(key, null) === undefined ? zone : undefined;
    },
    named: (key) =>
      [active, moved, waiting]
        .values()
        .flatMap((index) => index.get(key) ?? [])
        .take(NAMED_MAX),
    *standing() {
      for (const zones of active.values()) yield zones[0] as Zone;
      for (const [key, zones] of moved) if (nearestZone(key as Key, null) === zones[0]) yield zones[0] as Zone;
    },
  };
}

/**
 * Limit of zones that a message about their name may be meant for: additional claims on the name do not make it more
 * expensive.
 */
const NAMED_MAX = 64;

/** Position of the zone among those of its name and status. Thousands of accounts may wait for one name. */
function placeOf(zones: readonly Listed[], entry: ZoneEntry): number {
  let low = 0;
  let high = zones.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore((zones[middle] as Listed).entry, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Proved zones first, as in the time in which one replaces another; then the oldest. */
function isBefore(a: ZoneEntry, b: ZoneEntry): boolean {
  if (isProved(a) !== isProved(b)) return isProved(a);
  const [aSince, bSince] = [a.created_on ?? "", b.created_on ?? ""];
  return aSince === bSince ? a.id < b.id : aSince < bSince;
}
