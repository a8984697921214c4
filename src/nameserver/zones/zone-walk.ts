import type { NameKey } from "#wire/dns/name.ts";
import type { RecordSets } from "./rrset.ts";

/** An iterator over a zone's names as they were when it started, whatever changes meanwhile. */
export interface ZoneWalk {
  /** The next name with records, in no particular order; undefined at the end. Throws ZoneWalkError if too much has changed. */
  next(): readonly [name: NameKey, sets: RecordSets] | undefined;
  /** Call when no more names are needed. */
  close(): void;
}

/** So much changed during the walk that its old state cannot be retained. */
export class ZoneWalkError extends Error {
  constructor() {
    super("the zone changed too much while it was read");
    this.name = "ZoneWalkError";
  }
}

/** What walks need of a name. */
export interface WalkedNode {
  readonly sets: RecordSets;
  /** Increases with each created name, as does its position in the map. */
  readonly order: number;
}

/** A large change in a layer above the map (name-layers.ts). */
type Layer = ReadonlyMap<NameKey, WalkedNode>;

/** The active walks over one map of names. */
export interface ZoneWalks {
  /** `nextOrder` is the order of the next created name; `layers` are above the map, newest first. */
  start(nextOrder: number, layers?: readonly Layer[]): ZoneWalk;
  /** Call before a name's state is replaced, with the layer that replaces it if there is one. */
  keep(key: NameKey, by?: Layer): void;
}

/**
 * Walks read the live map, because many may run over a large zone: a Map iterates in the order of creation, even during
 * changes. Only the old state of names ahead of a walk is retained, for up to `keptMax` names.
 */
export function createZoneWalks(nodes: ReadonlyMap<NameKey, WalkedNode>, keptMax = KEPT_MAX): ZoneWalks {
  const walks = new Set<Walk>();
  return {
    start: (nextOrder, layers = []) => {
      const walk = createWalk(nodes, nextOrder, layers, keptMax);
      walks.add(walk);
      return {
        next: walk.next,
        close: () => {
          walks.delete(walk);
          walk.close();
        },
      };
    },
    keep: (key, by) => {
      for (const walk of walks) walk.keep(key, by);
    },
  };
}

interface Walk extends ZoneWalk {
  keep(key: NameKey, by: Layer | undefined): void;
}

function createWalk(nodes: ReadonlyMap<NameKey, WalkedNode>, end: number, layers: readonly Layer[], keptMax: number): Walk {
  const entries = nodes.entries();
  const kept = new Map<NameKey, RecordSets>();
  /** Order of the last name that was returned or skipped. */
  let at = -1;
  let broken = false;

  /** The state when the walk began: ignores later layers. */
  const setsOf = (key: NameKey, node: WalkedNode): RecordSets => {
    for (const layer of layers) {
      const name = layer.get(key);
      if (name) return name.sets;
    }
    return node.sets;
  };
  const living = (): readonly [NameKey, RecordSets] | undefined => {
    for (;;) {
      const { value, done } = entries.next();
      // Names created after the start come last.
      if (done === true || value[1].order >= end) {
        at = end;
        return undefined;
      }
      const [key, node] = value;
      at = node.order;
      const sets = kept.get(key) ?? setsOf(key, node);
      kept.delete(key);
      if (sets.size > 0) return [key, sets];
    }
  };
  /** Names that the map no longer has, or has only as names created after the start. */
  const gone = (): readonly [NameKey, RecordSets] | undefined => {
    for (const [key, sets] of kept) {
      kept.delete(key);
      if (sets.size > 0) return [key, sets];
    }
    return undefined;
  };

  return {
    next: () => {
      if (broken) throw new ZoneWalkError();
      return (at < end ? living() : undefined) ?? gone();
    },
    keep: (key, by) => {
      const node = nodes.get(key);
      if (broken || !node || node.order <= at || node.order >= end || kept.has(key)) return;
      // The walk sees the same state before and after.
      if (by && layers.includes(by)) return;
      kept.set(key, setsOf(key, node));
      broken = kept.size > keptMax;
      if (broken) kept.clear();
    },
    close: () => kept.clear(),
  };
}

/** Names with all their records: at most about 20 MB. */
const KEPT_MAX = 50_000;
