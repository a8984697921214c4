import type { LargeMap } from "#kernel/large-map.ts";
import type { NameKey } from "#wire/dns/name.ts";
import type { RRsets } from "./rrset.ts";

/** An iterator over a zone's names as they were when it started, whatever changes meanwhile. */
export interface ZoneIterator {
  /**
   * The next name with records, in no particular order; undefined at the end. Null after `NAMES_PASSED_AT_ONCE` names without
   * records: leave the event loop to others before you go on. Throws ZoneIteratorError if too much has changed.
   */
  next(): WalkedName | null | undefined;
  /** Call when no more names are needed. */
  close(): void;
}

export type WalkedName = readonly [name: NameKey, sets: RRsets];

/** Names without records that one step passes over: a tenth of a millisecond. */
export const NAMES_PASSED_AT_ONCE = 500;

/** So much changed during the walk that its old state cannot be retained. */
export class ZoneIteratorError extends Error {
  constructor() {
    super("the zone changed too much while it was read");
    this.name = "ZoneIteratorError";
  }
}

/** The properties of a name that walks use. */
export interface WalkedNode {
  readonly sets: RRsets;
  /** Grows with each name that is created, as does its place in its part of the map. */
  readonly order: number;
}

type Nodes = Pick<LargeMap<WalkedNode>, "get" | "parts" | "partOf">;

/** A large change that becomes visible in layers above the map (name-layers.ts). */
type Layer = Pick<LargeMap<WalkedNode>, "get">;

/** The active walks over one map of names. */
export interface ZoneIterators {
  /** `nextOrder` is the order of the next created name; `layers` are above the map, newest first. */
  start(nextOrder: number, layers?: readonly Layer[]): ZoneIterator;
  /** Call before a name's state is replaced, with the layer that replaces it if there is one. */
  keep(key: NameKey, by?: Layer): void;
  /** Ends every walk with ZoneIteratorError, because names have moved to other parts of the map. */
  breakOff(): void;
}

/**
 * Walks read the living map, so that a zone of any size can have many of them: each part of the map hands out its entries in the
 * order of their creation, whatever is deleted or created meanwhile. A walk keeps only what changes ahead of it, up to
 * `keptMax` names.
 */
export function createZoneIterators(nodes: Nodes, keptMax = KEPT_MAX): ZoneIterators {
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

interface Walk extends ZoneIterator {
  keep(key: NameKey, by: Layer | undefined): void;
  breakOff(): void;
}

function createWalk(nodes: Nodes, end: number, layers: readonly Layer[], keptMax: number): Walk {
  const { parts } = nodes;
  const kept = new Map<NameKey, RRsets>();
  /** The current part, and the order of the last name of it that was returned or skipped. */
  let part = 0;
  let at = -1;
  let entries = parts[0]?.entries();
  let broken = false;

  /** The state when the walk began: ignores later layers. */
  const setsOf = (key: NameKey, node: WalkedNode): RRsets => {
    for (const layer of layers) {
      const name = layer.get(key);
      if (name) return name.sets;
    }
    return node.sets;
  };
  const living = (): WalkedName | null | undefined => {
    for (let passed = 0; entries; passed++) {
      if (passed === NAMES_PASSED_AT_ONCE) return null;
      const { value, done } = entries.next();
      // Names created after the start come after all others in their part.
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
  /** Names that the map no longer has, or has only as names created after the start. */
  const gone = (): WalkedName | null | undefined => {
    let passed = 0;
    for (const [key, sets] of kept) {
      kept.delete(key);
      if (sets.size > 0) return [key, sets];
      if (++passed === NAMES_PASSED_AT_ONCE) return null;
    }
    return undefined;
  };

  return {
    next: () => {
      if (broken) throw new ZoneIteratorError();
      const found = living();
      return found === undefined ? gone() : found;
    },
    keep: (key, by) => {
      const node = nodes.get(key);
      if (broken || !node || isPassed(key, node) || node.order >= end || kept.has(key)) return;
      // The walk already sees this layer's state.
      if (by && layers.includes(by)) return;
      kept.set(key, setsOf(key, node));
      if (kept.size > keptMax) breakOff();
    },
    breakOff,
    close: () => kept.clear(),
  };
}

/** Names with all their records: at most about 20 MB. */
const KEPT_MAX = 50_000;
