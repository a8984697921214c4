import type { NameKey } from "#wire/dns/name.ts";
import type { RecordSets } from "./rrset.ts";

/** A zone's names as they were at one moment, one after the other, whatever changes meanwhile. */
export interface ZoneWalk {
  /** The next name that has records, in no order; undefined behind the last. Throws ZoneWalkError where too much has changed. */
  next(): readonly [name: NameKey, sets: RecordSets] | undefined;
  /** To be called when no more is wanted. */
  close(): void;
}

/** Too much has changed since the walk began for keeping what was there before. */
export class ZoneWalkError extends Error {
  constructor() {
    super("the zone changed too much while it was read");
    this.name = "ZoneWalkError";
  }
}

/** What walks need to know of a name. */
export interface WalkedNode {
  readonly sets: RecordSets;
  /** Grows with each name that is created, as does its place in the map. */
  readonly order: number;
}

/** A large change that names become above what the map has (name-layers.ts). */
type Layer = ReadonlyMap<NameKey, WalkedNode>;

/** The walks that are under way over one map of names. */
export interface ZoneWalks {
  /** `nextOrder` is what the next name to be created will get; `layers` are above the map, newest first. */
  start(nextOrder: number, layers?: readonly Layer[]): ZoneWalk;
  /** To be called before what is at the name is replaced, by what a layer has of it where it says so. */
  keep(key: NameKey, by?: Layer): void;
}

/**
 * Walks read the living map, which a zone of any size can have many of: a Map hands out its entries in the order of their
 * creation, whatever is deleted or created meanwhile. Only what changes ahead of a walk is kept for it, up to
 * `keptMax` names.
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
  /** The order of the last name that was handed out or passed over. */
  let at = -1;
  let broken = false;

  /** As it was when the walk began: later layers are not the walk's. */
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
      // What was created after the start stands behind everything else.
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
  /** What the map has no more, or only as names created after the start. */
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
      // To the walk it is the same before and after.
      if (by && layers.includes(by)) return;
      kept.set(key, setsOf(key, node));
      broken = kept.size > keptMax;
      if (broken) kept.clear();
    },
    close: () => kept.clear(),
  };
}

/** Names with all their records: some 20 MB at most. */
const KEPT_MAX = 50_000;
