import { inSlices } from "#kernel/in-slices.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { type NameKey, parentKey } from "#wire/dns/name.ts";
import type { HeldName } from "./held-name.ts";
import type { StoredRecord } from "./rrset.ts";

/** A large change of a zone: what names will be. Of each name in it, those above are in it too. */
export interface NameLayer {
  readonly names: LargeMap<HeldName>;
  /** Names with NS or DNAME records. */
  readonly borders: number;
}

/** What to call while a released layer is folded. */
export interface Folding {
  /** A name has become what the layer has. */
  named(key: NameKey, before: HeldName | undefined, after: HeldName): void;
  /** A turn's share is done; `isLast` with the last one. */
  turned(isLast: boolean): void;
}

/**
 * The large changes of one zone, beside its names. One comes in pieces that nobody sees; its release shows all of it at
 * once, whatever its size; then it is folded into the zone's names, some a turn. What happens to a name in between
 * happens to what the layer has of it too; a layer that is shown does not change any more.
 */
export interface NameLayers {
  /** Shown and not folded yet, newest first. */
  readonly shown: readonly NameLayer[];
  readonly isEmpty: boolean;
  /** Whether a layer knows the name, so that its place in the zone's map has to stay. */
  has(key: NameKey): boolean;
  stage(id: string, key: NameKey, before: StoredRecord | undefined, after: StoredRecord | undefined): void;
  /** The same happened to the names that are seen. */
  added(key: NameKey, record: StoredRecord): void;
  removed(key: NameKey, record: StoredRecord): void;
  /** Counts what the changes since have made of names. */
  settle(): void;
  /** How many names it shows; undefined where nothing is staged under the id. */
  release(id: string, folding: Folding): number | undefined;
  forget(id: string): void;
  /** Folds what shown layers have of the name and those above it. */
  foldPath(key: NameKey): void;
}

export interface NameLayersDeps {
  /** A name as it is seen, or its place that a layer has taken. */
  look(key: NameKey): HeldName;
  /** Takes a name's place in the zone's map, or gives it up where nothing is there any more; gives what stood there. */
  place(key: NameKey, layer: NameLayer, name: HeldName): HeldName | undefined;
  /** Gives up the name's place, unless something is there. */
  giveUp(key: NameKey): void;
  readonly foldedAtOnce: number;
}

interface Layer extends NameLayer {
  borders: number;
  /** Those changed since the last `settle`, and whether they were borders then. */
  readonly unsettled: Map<HeldName, boolean>;
}

interface ShownLayer extends NameLayer {
  readonly rest: IterableIterator<[NameKey, HeldName]>;
  readonly folding: Folding;
}

export function createNameLayers({ look, place, giveUp, foldedAtOnce }: NameLayersDeps): NameLayers {
  const hidden = new Map<string, Layer>();
  const shown: ShownLayer[] = [];

  const changing = (layer: Layer, name: HeldName): void => {
    if (!layer.unsettled.has(name)) layer.unsettled.set(name, name.isBorder);
  };
  /** The layer's own of the name. */
  const own = (layer: Layer, key: NameKey): HeldName => {
    let name = layer.names.get(key);
    if (!name) layer.names.set(key, (name = look(key).copy()));
    return name;
  };
  const foldName = (layer: ShownLayer, key: NameKey, name: HeldName): void => {
    layer.names.delete(key);
    layer.folding.named(key, place(key, layer, name), name);
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
      foldName(layer, ...next.value);
    }
    layer.folding.turned(false);
    return true;
  };
  /** Names that nobody has seen and nobody will. */
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
    stage: (id, key, before, after) => {
      let layer = hidden.get(id);
      if (!layer) hidden.set(id, (layer = { names: new LargeMap(), borders: 0, unsettled: new Map() }));
      const name = own(layer, key);
      changing(layer, name);
      const by = (after ? 1 : 0) - (before && name.remove(before) ? 1 : 0);
      if (after) name.add(after);
      for (const at of namesFrom(key)) own(layer, at).recordsWithin += by;
    },
    added: (key, record) => {
      for (const layer of hidden.values()) {
        const name = layer.names.get(key);
        if (name) changing(layer, name);
        name?.add(record);
        for (const at of namesFrom(key)) count(layer, at, 1);
      }
    },
    removed: (key, record) => {
      for (const layer of hidden.values()) {
        const name = layer.names.get(key);
        if (name) changing(layer, name);
        // The layer may have it no more.
        if (name?.remove(record) === false) continue;
        for (const at of namesFrom(key)) count(layer, at, -1);
      }
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
    foldPath: (key) => {
      for (const layer of shown.toReversed())
        for (const at of namesFrom(key)) {
          const name = layer.names.get(at);
          if (name) foldName(layer, at, name);
        }
    },
  };
}

const count = (layer: Layer, key: NameKey, by: number): void => {
  const name = layer.names.get(key);
  if (name) name.recordsWithin += by;
};

/** The name and those above it up to the root. */
export function* namesFrom(key: NameKey | undefined): Generator<NameKey> {
  for (let name = key; name !== undefined; name = parentKey(name)) yield name;
}
