import { type NameKey, parentKey } from "#wire/dns/name.ts";
import type { ZoneIndex } from "./zones.ts";

export interface ZoneDirectory {
  readonly size: number;
  clear(): void;
  /** Those that are found, in no order. */
  all(): Iterable<ZoneIndex>;
  /** The zone closest to the name, or undefined. */
  find(key: NameKey): ZoneIndex | undefined;
  add(zone: ZoneIndex): void;
  remove(zone: { readonly id: string; readonly key: NameKey }): void;
}

/** Zones by name. Several accounts may have entered the same domain: the first of each list is served. */
export function createZoneDirectory(): ZoneDirectory {
  const byName = new Map<NameKey, ZoneIndex[]>();
  return {
    get size() {
      return byName.size;
    },
    clear: () => byName.clear(),
    all: (): Iterable<ZoneIndex> => byName.values().flatMap((zones) => zones.slice(0, 1)),
    find: (key: NameKey): ZoneIndex | undefined => {
      for (let name: NameKey | undefined = key; name !== undefined; name = parentKey(name)) {
        const zone = byName.get(name)?.[0];
        if (zone) return zone;
      }
      return undefined;
    },
    add: (zone: ZoneIndex): void => {
      byName.set(zone.key, [...(byName.get(zone.key) ?? []), zone].sort(byRank));
    },
    remove: ({ id, key }: { readonly id: string; readonly key: NameKey }): void => {
      const rest = (byName.get(key) ?? []).filter((zone) => zone.id !== id);
      if (rest.length === 0) byName.delete(key);
      else byName.set(key, rest);
    },
  };
}

/** An active zone before one that still waits for its delegation, then by identifier. */
function byRank(a: ZoneIndex, b: ZoneIndex): number {
  const rank = (zone: ZoneIndex): number => (zone.entry.status === "active" ? 0 : 1);
  return rank(a) - rank(b) || (a.id < b.id ? -1 : 1);
}
