import { inSlices } from "#kernel/in-slices.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { type NameKey, parentKey } from "#wire/dns/name.ts";
import type { IndexedName } from "./indexed-name.ts";
import type { StoredRecord } from "./rrset.ts";

/** A large change of a zone: the new state of the names that it changes. */
export interface NameLayer {
  readonly names: LargeMap<IndexedName>;
  /** Names with NS or DNAME records. */
  readonly borders: number;
}

/** Callbacks while a released layer is merged. */
export interface Folding {
  /** A name has taken the state that the layer has. */
  named(key: NameKey, before: IndexedName | undefined, after: IndexedName): void;
  /** One tick's share is merged; `isLast` with the last one. */
  turned(isLast: boolean): void;
}

/**
 * The large changes of one zone, in layers above its names. A change arrives in chunks that queries do not see; its
 * release shows all of it at once; then it is merged into the zone's names over several ticks. Changes of a name
 * meanwhile apply to the layer's copy too; a visible layer no longer changes.
 */
export interface NameLayers {
  /** Visible and not merged yet, newest first. */
  readonly shown: readonly NameLayer[];
  readonly isEmpty: boolean;
  /** Whether a layer has the name, so that its slot in the zone's map must stay. */
  has(key: NameKey): boolean;
  /**
   * Returns the number of names that it had to change, plus that of a name's other records that it had to copy. `isNext`:
   * nothing is released or changed before this layer, so other layers see its changes already.
   */
  stage(id: string, key: NameKey, before: StoredRecord | undefined, after: StoredRecord | undefined, isNext?: boolean): number;
  /**
   * Applies a change of the visible names to the layers: of a record, which made so many names come or go, itself and
   * those right above it.
   */
  added(key: NameKey, record: StoredRecord, appeared: number): void;
  removed(key: NameKey, record: StoredRecord, vanished: number): void;
  /** Counts the effect of changes since the last call. */
  settle(): void;
  /** Returns the number of names it shows; undefined if nothing is staged under the id. */
  release(id: string, folding: Folding): number | undefined;
  forget(id: string): void;
  /** Merges the name from visible layers. */
  foldName(key: NameKey): void;
}

export interface NameLayersDeps {
  /** The visible name, or the empty slot that a layer reserved for it. */
  look(key: NameKey): IndexedName;
  /** Puts a name into its slot of the zone's map, or removes the slot if the name is gone; returns the previous name. */
  place(key: NameKey, layer: NameLayer, name: IndexedName): IndexedName | undefined;
  /** Removes the slot unless it has a name. */
  giveUp(key: NameKey): void;
  readonly foldedAtOnce: number;
}

interface Layer extends NameLayer {
  borders: number;
  /** Names changed since the last `settle`, and whether they were borders before. */
  readonly unsettled: Map<IndexedName, boolean>;
}

interface ShownLayer extends NameLayer {
  readonly rest: IterableIterator<[NameKey, IndexedName]>;
  readonly folding: Folding;
}

export function createNameLayers({ look, place, giveUp, foldedAtOnce }: NameLayersDeps): NameLayers {
  const hidden = new Map<string, Layer>();
  const shown: ShownLayer[] = [];

  const changing = (layer: Layer, name: IndexedName): void => {
    if (!layer.unsettled.has(name)) layer.unsettled.set(name, name.isBorder);
  };
  /** The layer's own copy of the name, as it is in the layer below if there is one. */
  const own = (layer: Layer, key: NameKey, below?: Layer): IndexedName => {
    let name = layer.names.get(key);
    if (!name) layer.names.set(key, (name = (below?.names.get(key) ?? look(key)).copy()));
    return name;
  };
  const foldInto = (layer: ShownLayer, key: NameKey, name: IndexedName): void => {
    layer.names.delete(key);
    layer.folding.named(key, place(key, layer, name), name);
  };
  /**
   * Applies a change of the visible names, or of the layer below, to the layer. `seen` names have come or gone there. A
   * name of which the layer has its own copy may come or go in the layer independently; then the layer copies those of
   * its ancestors whose counts now differ.
   */
  const carry = (layer: Layer, key: NameKey, by: number, ofRecord: boolean, seen: number, below?: Layer): void => {
    let above = ofRecord ? by : 0;
    let level = 0;
    for (const at of namesFrom(key)) {
      const visibly = level <= seen ? by : 0;
      if (above === 0 && visibly === 0) return;
      let name = layer.names.get(at);
      if (!name && above === visibly) above = level < seen ? by : 0;
      else if (name) above = name.hold(above);
      else {
        name = own(layer, at, below);
        // The copy has the visible change already.
        name.holds -= visibly;
        above = name.hold(above);
      }
      level += 1;
    }
  };
  const carryAdded = (layer: Layer, key: NameKey, record: StoredRecord, appeared: number, below?: Layer): void => {
    const name = layer.names.get(key);
    if (name) changing(layer, name);
    name?.add(record);
    carry(layer, key, 1, true, appeared, below);
  };
  const carryRemoved = (layer: Layer, key: NameKey, record: StoredRecord, vanished: number, below?: Layer): void => {
    const name = layer.names.get(key);
    if (name) changing(layer, name);
    // The layer may no longer have the record.
    carry(layer, key, -1, name?.remove(record) ?? true, vanished, below);
  };
  /** As `hold` of ZoneNodes, but in the layer. */
  const hold = (layer: Layer, key: NameKey, by: number): number => {
    let count = 0;
    for (const at of namesFrom(key)) {
      if (own(layer, at).hold(by) === 0) break;
      count += 1;
    }
    return count;
  };
  const fold = (): boolean => {
    const layer = shown.at(-1);
    if (!layer) return false;
    for (let i = 0; i < foldedAtOnce; i++) {
      const next = layer.rest.next();
      if (next.done === true) {
        shown.pop();
        layer.folding.turned(true);
        return shown.length > 0;
      }
      foldInto(layer, ...next.value);
    }
    layer.folding.turned(false);
    return true;
  };
  /** Removes reserved slots of names that were never visible. */
  const drop = (names: IterableIterator<NameKey>): void =>
    inSlices(() => {
      for (let i = 0; i < foldedAtOnce; i++) {
        const next = names.next();
        if (next.done === true) return false;
        giveUp(next.value);
      }
      return true;
    });

  return {
    shown,
    get isEmpty() {
      return shown.length === 0 && hidden.size === 0;
    },
    has: (key) => shown.some(({ names }) => names.has(key)) || hidden.values().some(({ names }) => names.has(key)),
    stage: (id, key, before, after, isNext = false) => {
      let layer = hidden.get(id);
      if (!layer) hidden.set(id, (layer = { names: new LargeMap(), borders: 0, unsettled: new Map() }));
      const others = isNext && hidden.size > 1 ? [...hidden.values()].filter((other) => other !== layer) : [];
      const name = own(layer, key);
      changing(layer, name);
      // Of a name with many records, a change copies those near it.
      let names = 1 - name.copied;
      if (after) {
        name.add(after);
        const appeared = hold(layer, key, 1);
        for (const other of others) carryAdded(other, key, after, appeared, layer);
        names += appeared;
      }
      if (before && name.remove(before)) {
        const vanished = hold(layer, key, -1);
        for (const other of others) carryRemoved(other, key, before, vanished, layer);
        names += vanished;
      }
      return names + name.copied;
    },
    added: (key, record, appeared) => {
      for (const layer of hidden.values()) carryAdded(layer, key, record, appeared);
    },
    removed: (key, record, vanished) => {
      for (const layer of hidden.values()) carryRemoved(layer, key, record, vanished);
    },
    settle: () => {
      for (const layer of hidden.values()) {
        for (const [name, wasBorder] of layer.unsettled) {
          name.settle();
          layer.borders += Number(name.isBorder) - Number(wasBorder);
        }
        layer.unsettled.clear();
      }
    },
    release: (id, folding) => {
      const layer = hidden.get(id);
      if (!layer) return undefined;
      const { size } = layer.names;
      hidden.delete(id);
      shown.unshift({ ...layer, rest: layer.names.entries(), folding });
      if (shown.length === 1 && fold()) inSlices(fold);
      return size;
    },
    forget: (id) => {
      const layer = hidden.get(id);
      hidden.delete(id);
      if (layer) drop(layer.names.keys());
    },
    foldName: (key) => {
      for (const layer of shown.toReversed()) {
        const name = layer.names.get(key);
        if (name) foldInto(layer, key, name);
      }
    },
  };
}

/** The name and its ancestors, up to the root. */
export function* namesFrom(key: NameKey | undefined): Generator<NameKey> {
  for (let name = key; name !== undefined; name = parentKey(name)) yield name;
}
