import type { LargeMap } from "#kernel/large-map.ts";
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
  /** Grows with each name that is created, as does its place in its part of the map. */
  readonly order: number;
}

type Nodes = Pick<LargeMap<WalkedNode>, "get" | "parts" | "partOf">;

/** A large change that names become above what the map has (name-layers.ts). */
type Layer = Pick<LargeMap<WalkedNode>, "get">;

/** The walks that are under way over one map of names. */
export interface ZoneWalks {
  /** `nextOrder` is what the next name to be created will get; `layers` are above the map, newest first. */
  start(nextOrder: number, layers?: readonly Layer[]): ZoneWalk;
  /** To be called before what is at the name is replaced, by what a layer has of it where it says so. */
  keep(key: NameKey, by?: Layer): void;
  /** Ends every walk with ZoneWalkError: names have got other parts of the map. */
  breakOff(): void;
}

/**
 * Walks read the living map, so that a zone of any size can have many of them: each part of the map hands out its entries in the
 * order of their creation, whatever is deleted or created meanwhile. A walk keeps only what changes ahead of it, up to
 * `keptMax` names.
 */
export function createZoneWalks(nodes: Nodes, keptMax = KEPT_MAX): ZoneWalks {
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
    breakOff: () => {
      for (const walk of walks) walk.breakOff();
    },
  };
}

interface Walk extends ZoneWalk {
  keep(key: NameKey, by: Layer | undefined): void;
  breakOff(): void;
}

function createWalk(nodes: Nodes, end: number, layers: readonly Layer[], keptMax: number): Walk {
  const { parts } = nodes;
  const kept = new Map<NameKey, RecordSets>();
  /** The part that it has come to, and the order of the last name in it that was handed out or passed over. */
  let part = 0;
  let at = -1;
  let entries = parts[0]?.entries();
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
    while (entries) {
      const { value, done } = entries.next();
      // What was created after the start stands behind everything else in its part.
      if (done === true || value[1].order >= end) {
        entries = parts[++part]?.entries();
        at = -1;
        continue;
      }
      const [key, node] = value;
      at = node.order;
      const sets = kept.get(key) ?? setsOf(key, node);
      kept.delete(key);
      if (sets.size > 0) return [key, sets];
    }
    return undefined;
  };
  const isPassed = (key: NameKey, { order }: WalkedNode): boolean => {
    const its = nodes.partOf(key);
    return its < part || (its === part && order <= at);
  };
  const breakOff = (): void => {
    broken = true;
    kept.clear();
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
      return living() ?? gone();
    },
    keep: (key, by) => {
      const node = nodes.get(key);
      if (broken || !node || isPassed(key, node) || node.order >= end || kept.has(key)) return;
      // To the walk it is the same before and after.
      if (by && layers.includes(by)) return;
      kept.set(key, setsOf(key, node));
      if (kept.size > keptMax) breakOff();
    },
    breakOff,
    close: () => kept.clear(),
  };
}

/** Names with all their records: some 20 MB at most. */
const KEPT_MAX = 50_000;
