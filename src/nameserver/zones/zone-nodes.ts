import type { RRsets, StoredRecord, NameNode } from "./rrset.ts";
import { LargeMap } from "#kernel/large-map.ts";
import type { NameKey } from "#wire/dns/name.ts";
import { IndexedName, NO_SETS } from "./indexed-name.ts";
import { createNameLayers, namesFrom } from "./name-layers.ts";
import { createZoneIterators, type ZoneIterator, type ZoneIterators } from "./zone-iterator.ts";

/** The names of one zone. Effects of `add` and `remove` become visible with `settle`. */
export interface ZoneNodes {
  get(key: NameKey): NameNode | undefined;
  readonly isEmpty: boolean;
  /** Number of names, including empty non-terminals. */
  readonly size: number;
  /** Names with NS or DNAME records. Most zones have none; lookups then skip the search for a border. */
  readonly borders: number;
  add(key: NameKey, record: StoredRecord): void;
  /** Removes this very object. */
  remove(key: NameKey, record: StoredRecord): void;
  /** Rebuilds the RRsets of all changed names; once per delta, however many records of a name it changes. */
  settle(onChange?: (change: NameChange) => void): void;
  /** Iterates over the current names, over any length of time. */
  walk(): ZoneIterator;
  /**
   * Stages one record of a large change, invisible to queries: removes the object `before`, adds `after`. Call once per
   * record. Returns the number of names that it had to change (name-layers.ts, also for `isNext`).
   */
  stage(id: string, key: NameKey, before: StoredRecord | undefined, after: StoredRecord | undefined, isNext?: boolean): number;
  /**
   * Shows all staged changes at once. Calls `onNames` with the changed names as they are merged, some per tick; the
   * first time before it returns. Calls `onMerged` once, after the last of them.
   */
  release(id: string, onNames?: ReleasedNames, onMerged?: () => void): void;
  /** Discards the staged changes. */
  forget(id: string): void;
}

/** `isLast` with the last names. */
export type ReleasedNames = (names: readonly NameChange[], isLast: boolean) => void;

/** The change of one name by a delta. */
export interface NameChange {
  readonly key: NameKey;
  readonly before: RRsets;
  readonly after: RRsets;
}

/** Names merged per tick: about a millisecond, also while the records are merged in the same tick and the garbage collector marks. */
export const NAMES_FOLDED_AT_ONCE = 64;

/** `splitSize` is for tests. */
export function createZoneNodes(foldedAtOnce = NAMES_FOLDED_AT_ONCE, splitSize?: number): ZoneNodes {
  /** Visible names, except for the state in visible layers above; some are only slots that layers have reserved. */
  const nodes = new LargeMap<IndexedName>(() => walks.breakOff(), splitSize);
  /** The state of each changed name before the current delta. */
  const changed = new Map<NameKey, { readonly sets: RRsets; readonly isBorder: boolean }>();
  /** Names that the delta adds and that had no records before. */
  const fresh: IndexedName[] = [];
  const walks: ZoneIterators = createZoneIterators(nodes);
  let order = 0;
  let borders = 0;

  const create = (key: NameKey): IndexedName => {
    const made = new IndexedName(key, order++, 0);
    nodes.set(key, made);
    return made;
  };
  const find = (key: NameKey): IndexedName | undefined => {
    for (const { names } of layers.shown) {
      const name = names.get(key);
      if (name) return name;
    }
    return nodes.get(key);
  };
  const layers = createNameLayers({
    foldedAtOnce,
    look: (key) => find(key) ?? create(key),
    place: (key, layer, name) => {
      const before = nodes.get(key);
      walks.keep(key, layer.names);
      borders += Number(name.isBorder) - Number(before?.isBorder ?? false);
      if (name.holds > 0 || layers.has(key)) nodes.set(key, name);
      else nodes.delete(key);
      return before;
    },
    giveUp: (key) => void (nodes.get(key)?.holds === 0 && !layers.has(key) && nodes.delete(key)),
  });

  /** Call before the records change. */
  const touch = (node: IndexedName): void => {
    walks.keep(node.key);
    if (changed.has(node.key)) return;
    const { sets } = node;
    // A name that the delta added was not a border before.
    changed.set(node.key, { sets, isBorder: sets !== NO_SETS && node.isBorder });
  };
  /** The name with the changes of visible layers merged into it. */
  const current = (key: NameKey): IndexedName | undefined => {
    if (layers.shown.length > 0) layers.foldName(key);
    return nodes.get(key);
  };
  /**
   * Changes the count of the name, and of its ancestors if the name appears or disappears; returns the number of names
   * that do.
   */
  const hold = (key: NameKey, by: number): number => {
    let count = 0;
    for (const at of namesFrom(key)) {
      const name = current(at) ?? create(at);
      if (name.hold(by) === 0) break;
      if (name.holds === 0 && !layers.has(at)) nodes.delete(at);
      count += 1;
    }
    return count;
  };

  return {
    get: (key) => {
      const node = layers.shown.length === 0 ? nodes.get(key) : find(key);
      return node !== undefined && node.holds > 0 ? node : undefined;
    },
    get isEmpty() {
      return nodes.size === 0 && layers.isEmpty;
    },
    get size() {
      return nodes.size;
    },
    get borders() {
      return layers.shown.reduce((sum, layer) => sum + layer.borders, borders);
    },
    add: (key, record) => {
      const known = current(key);
      if (known) touch(known);
      const node = known ?? create(key);
      if (!known && !changed.has(key)) fresh.push(node);
      node.add(record);
      layers.added(key, record, hold(key, 1));
    },
    remove: (key, record) => {
      const node = current(key);
      if (!node) return;
      touch(node);
      if (node.remove(record)) layers.removed(key, record, hold(key, -1));
    },
    settle: (onChange) => {
      for (const node of fresh) {
        // The delta in progress also changed this name.
        if (changed.has(node.key)) continue;
        node.settle();
        borders += Number(node.isBorder);
        onChange?.({ key: node.key, before: NO_SETS, after: node.sets });
      }
      fresh.length = 0;
      for (const [key, before] of changed) {
        const node = nodes.get(key);
        node?.settle();
        borders += Number(node?.isBorder ?? false) - Number(before.isBorder);
        onChange?.({ key, before: before.sets, after: node?.sets ?? NO_SETS });
      }
      changed.clear();
      layers.settle();
    },
    walk: () =>
      walks.start(
        order,
        layers.shown.map(({ names }) => names),
      ),
    stage: layers.stage,
    release: (id, onNames, onMerged) => {
      layers.settle();
      let names: NameChange[] = [];
      layers.release(id, {
        named: (key, before, after) => void (onNames && names.push({ key, before: before?.sets ?? NO_SETS, after: after.sets })),
        turned: (isLast) => {
          onNames?.(names, isLast);
          names = [];
          if (isLast) onMerged?.();
        },
      });
    },
    forget: layers.forget,
  };
}
