import { inSlices } from "#kernel/in-slices.ts";
import { LargeMap } from "#kernel/large-map.ts";
import type { RecordEntry } from "./entries.ts";

/** The effect of a large change on records, by id; null for deleted ones. */
export type LayerChanges = Pick<LargeMap<RecordEntry | null>, "has" | "entries" | typeof Symbol.iterator>;

/** A large change that is present and not yet released. */
export interface StagedLayer {
  readonly id: string;
  readonly zone_id: string;
  readonly changes: LayerChanges;
}

/**
 * Records by id. A large change arrives in chunks as an invisible layer; its release puts the layer above everything
 * else, at once and regardless of its size, and then it is merged into the rest, some entries per tick.
 */
export interface RecordLayers {
  get(id: string): RecordEntry | undefined;
  entries(): IterableIterator<readonly [string, RecordEntry]>;
  /** Null deletes. Returns the previous record. */
  put(id: string, value: RecordEntry | null): RecordEntry | undefined;
  /** Returns the visible record until the release. */
  stage(layerId: string, zoneId: string, id: string, value: RecordEntry | null): RecordEntry | undefined;
  staged(): Iterable<StagedLayer>;
  /** Whether a released change still moves to the other entries; going through these must then not take several ticks. */
  isFolding(): boolean;
  stagedSize(layerId: string): number;
  release(layerId: string): void;
  forget(layerId: string): void;
}

/** Entries that one tick merges: less than a millisecond. Planes merge their names in the same tick. */
export const FOLDED_AT_ONCE = 128;

interface Layer {
  readonly id: string;
  readonly zone_id: string;
  readonly changes: LargeMap<RecordEntry | null>;
}

interface ShownLayer extends Layer {
  /** Continues from the last tick: a new iterator would pass over all deleted entries. */
  readonly rest: IterableIterator<[string, RecordEntry | null]>;
}

export function createRecordLayers(foldedAtOnce = FOLDED_AT_ONCE): RecordLayers {
  const base = new LargeMap<RecordEntry>();
  const staged = new Map<string, Layer>();
  /** Released and not yet merged, oldest first. */
  const shown: ShownLayer[] = [];

  const fold = (): boolean => {
    const [layer] = shown;
    if (!layer) return false;
    for (let i = 0; i < foldedAtOnce; i++) {
      const next = layer.rest.next();
      if (next.done === true) {
        shown.shift();
        return shown.length > 0;
      }
      const [id, value] = next.value;
      layer.changes.delete(id);
      if (value === null) base.delete(id);
      else base.set(id, value);
    }
    return true;
  };
  const get = (id: string): RecordEntry | undefined => {
    for (let i = shown.length - 1; i >= 0; i--) {
      const value = shown[i]!.changes.get(id);
      if (value !== undefined) return value ?? undefined;
    }
    return base.get(id);
  };

  return {
    get,
    entries: () => (shown.length === 0 ? base.entries() : layeredEntries(base, shown)),
    put: (id, value) => {
      const before = get(id);
      for (const { changes } of shown) changes.delete(id);
      if (value === null) base.delete(id);
      else base.set(id, value);
      return before;
    },
    stage: (layerId, zone_id, id, value) => {
      let layer = staged.get(layerId);
      if (!layer) staged.set(layerId, (layer = { id: layerId, zone_id, changes: new LargeMap() }));
      layer.changes.set(id, value);
      return get(id);
    },
    staged: () => staged.values(),
    isFolding: () => shown.length > 0,
    stagedSize: (layerId) => staged.get(layerId)?.changes.size ?? 0,
    release: (layerId) => {
      const layer = staged.get(layerId);
      if (!layer) return;
      staged.delete(layerId);
      shown.push({ ...layer, rest: layer.changes.entries() });
      if (shown.length === 1) inSlices(fold);
    },
    forget: (layerId) => void staged.delete(layerId),
  };
}

function* layeredEntries(base: LargeMap<RecordEntry>, shown: readonly Layer[]): Generator<readonly [string, RecordEntry]> {
  for (const entry of base) if (!shown.some(({ changes }) => changes.has(entry[0]))) yield entry;
  for (const [i, { changes }] of shown.entries())
    for (const [id, value] of changes) if (value !== null && !shown.slice(i + 1).some((newer) => newer.changes.has(id))) yield [id, value];
}
