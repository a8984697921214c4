import type { RecordSets, StoredRecord, NameNode } from "./rrset.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { type NameKey, parentKey } from "#wire/dns/name.ts";
import { HeldName, NO_SETS } from "./held-name.ts";
import { createNameLayers, namesFrom } from "./name-layers.ts";
import { createZoneWalks, type ZoneWalk, type ZoneWalks } from "./zone-walk.ts";

/** The names of one zone. What `add` and `remove` did is seen once `settle` has run. */
export interface ZoneNodes {
  get(key: NameKey): NameNode | undefined;
  readonly isEmpty: boolean;
  /** Names, with those that exist only because of one below them. */
  readonly size: number;
  /** Names with NS or DNAME records. Most zones have none, and then no question needs to look for them above its name. */
  readonly borders: number;
  add(key: NameKey, record: StoredRecord): void;
  /** The very object that was added. */
  remove(key: NameKey, record: StoredRecord): void;
  /** Makes the sets of all names that changed anew: once a delta, however many records of a name it holds. */
  settle(onChange?: (change: NameChange) => void): void;
  /** Everything that is there now, to be read over time. */
  walk(): ZoneWalk;
  /** Part of a large change, which nobody sees: the very object that goes, and what comes. Of one record, it is told once. */
  stage(id: string, key: NameKey, before: StoredRecord | undefined, after: StoredRecord | undefined): void;
  /**
   * Shows all that was staged, at once. What it made of names is told as soon as it is written down, some names a turn;
   * the first time before it returns.
   */
  release(id: string, onNames?: ReleasedNames): void;
  /** Forgets what was staged. */
  forget(id: string): void;
}

/** `isLast` where no more will come. */
export type ReleasedNames = (names: readonly NameChange[], isLast: boolean) => void;

/** What one delta made of a name. */
export interface NameChange {
  readonly key: NameKey;
  readonly before: RecordSets;
  readonly after: RecordSets;
}

/** Names that one turn folds: about a millisecond. */
export const NAMES_FOLDED_AT_ONCE = 500;

/** `splitSize` is for tests. */
export function createZoneNodes(foldedAtOnce = NAMES_FOLDED_AT_ONCE, splitSize?: number): ZoneNodes {
  /** What is seen, but for what shown layers have above it; some are only places that layers have taken. */
  const nodes = new LargeMap<HeldName>(() => walks.breakOff(), splitSize);
  /** What stood at each name before the delta that is being applied. */
  const changed = new Map<NameKey, { readonly sets: RecordSets; readonly isBorder: boolean }>();
  /** Names that the delta brings and that had nothing before. */
  const fresh: HeldName[] = [];
  /** The names above the one that was added last, which are most often above the next one too. */
  let above: { readonly parent: NameKey | undefined; readonly nodes: readonly HeldName[] } | null = null;
  const walks: ZoneWalks = createZoneWalks(nodes);
  let order = 0;
  let borders = 0;

  const create = (key: NameKey, recordsWithin: number): HeldName => {
    const made = new HeldName(key, order++, recordsWithin);
    nodes.set(key, made);
    return made;
  };
  const find = (key: NameKey): HeldName | undefined => {
    for (const { names } of layers.shown) {
      const name = names.get(key);
      if (name) return name;
    }
    return nodes.get(key);
  };
  const layers = createNameLayers({
    foldedAtOnce,
    look: (key) => find(key) ?? create(key, 0),
    place: (key, layer, name) => {
      const before = nodes.get(key);
      walks.keep(key, layer.names);
      borders += Number(name.isBorder) - Number(before?.isBorder ?? false);
      above = null;
      if (name.recordsWithin > 0 || layers.has(key)) nodes.set(key, name);
      else nodes.delete(key);
      return before;
    },
    giveUp: (key) => void (nodes.get(key)?.recordsWithin === 0 && !layers.has(key) && nodes.delete(key)),
  });

  /** To be called before the records change. */
  const touch = (node: HeldName): void => {
    walks.keep(node.key);
    if (changed.has(node.key)) return;
    const { sets } = node;
    // One that the delta itself brought has records already, and was no border before it.
    changed.set(node.key, { sets, isBorder: sets !== NO_SETS && node.isBorder });
  };
  const counted = (key: NameKey): HeldName => {
    const node = nodes.get(key);
    if (!node) return create(key, 1);
    node.recordsWithin += 1;
    return node;
  };
  const countAbove = (parent: NameKey | undefined): void => {
    if (above?.parent === parent) for (const node of above?.nodes ?? []) node.recordsWithin += 1;
    else above = { parent, nodes: Array.from(namesFrom(parent), counted) };
  };

  return {
    get: (key) => {
      const node = layers.shown.length === 0 ? nodes.get(key) : find(key);
      return node !== undefined && node.recordsWithin > 0 ? node : undefined;
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
      layers.foldPath(key);
      const known = nodes.size;
      const node = counted(key);
      if (nodes.size === known || changed.has(key)) touch(node);
      else fresh.push(node);
      node.add(record);
      countAbove(parentKey(key));
      layers.added(key, record);
    },
    remove: (key, record) => {
      layers.foldPath(key);
      const node = nodes.get(key);
      if (!node) return;
      touch(node);
      if (!node.remove(record)) return;
      above = null;
      for (const name of namesFrom(key)) {
        const within = nodes.get(name) as HeldName;
        within.recordsWithin -= 1;
        if (within.recordsWithin === 0 && !layers.has(name)) nodes.delete(name);
      }
      layers.removed(key, record);
    },
    settle: (onChange) => {
      for (const node of fresh) {
        // Something else happened to it as well.
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
    release: (id, onNames) => {
      layers.settle();
      let names: NameChange[] = [];
      layers.release(id, {
        named: (key, before, after) => void (onNames && names.push({ key, before: before?.sets ?? NO_SETS, after: after.sets })),
        turned: (isLast) => {
          onNames?.(names, isLast);
          names = [];
        },
      });
    },
    forget: layers.forget,
  };
}
