import { inSlices } from "#kernel/in-slices.ts";
import { LargeMap } from "#kernel/large-map.ts";
import type { RecordEntry } from "#snapshot/entries.ts";
import { addedTo, copyOf, type NameValue, recordsOf, removedFrom, withCount } from "#edge/http/name-value.ts";

/** Which names a zone has, and the address records there. */
export interface ZoneNames {
  add(record: RecordEntry): void;
  remove(record: RecordEntry): void;
  /** A, AAAA and CNAME records for a name, its own or a wildcard's (RFC 4592); empty where it has none. */
  addressRecords(name: string): readonly RecordEntry[];
  /** Part of a large change, which nobody sees: the very object that goes, and what comes. Returns how many names it had to change. */
  stage(id: string, before: RecordEntry | undefined, after: RecordEntry | null): number;
  /** Shows all that was staged, at once; then it is folded into the zone's names, some a turn. */
  release(id: string): void;
  /** Forgets what was staged. */
  forget(id: string): void;
}

/** What names will be, or are above all else once it is shown; null where nothing is left. */
type Layer = LargeMap<NameValue | null>;

const NONE: readonly RecordEntry[] = [];
/** Names that one turn folds: less than a millisecond. */
const FOLDED_AT_ONCE = 1_000;

export function createZoneNames(origin: string, foldedAtOnce = FOLDED_AT_ONCE): ZoneNames {
  const nodes = new LargeMap<NameValue>();
  const hidden = new Map<string, Layer>();
  /** Newest first. */
  const shown: { readonly names: Layer; readonly rest: IterableIterator<[string, NameValue | null]> }[] = [];

  const find = (name: string): NameValue | undefined => {
    for (const { names } of shown) {
      const value = names.get(name);
      if (value !== undefined) return value ?? undefined;
    }
    return nodes.get(name);
  };
  /** Of a layer that is not shown a name is its own copy, and null is what has gone. */
  const change = (layer: Layer | null, name: string, to: (value: NameValue | undefined) => NameValue | undefined): void => {
    if (layer) {
      const own = layer.get(name);
      layer.set(name, to(own === undefined ? copyOf(find(name)) : (own ?? undefined)) ?? null);
      return;
    }
    const before = nodes.get(name);
    const after = to(before);
    if (after === undefined) nodes.delete(name);
    else if (after !== before) nodes.set(name, after);
  };
  /** Returns how many names there are. */
  const changeAbove = (layer: Layer | null, name: string, by: number, only: (at: string) => boolean): number => {
    let names = 0;
    for (const at of namesAbove(name, origin)) {
      names += 1;
      if (only(at)) change(layer, at, (value) => withCount(value, by));
    }
    return names;
  };

  const foldName = (names: Layer, name: string, value: NameValue | null): void => {
    names.delete(name);
    if (value === null) nodes.delete(name);
    else nodes.set(name, value);
  };
  const fold = (): boolean => {
    const layer = shown.at(-1);
    if (!layer) return false;
    for (let i = 0; i < foldedAtOnce; i++) {
      const next = layer.rest.next();
      if (next.done === true) {
        shown.pop();
        return shown.length > 0;
      }
      foldName(layer.names, ...next.value);
    }
    return true;
  };
  /** What shown layers have of the name and those above it; then these are the zone's own to change. */
  const foldPath = (name: string): void => {
    for (const { names } of shown.toReversed())
      for (const at of [name, ...namesAbove(name, origin)]) {
        const value = names.get(at);
        if (value !== undefined) foldName(names, at, value);
      }
  };

  return {
    add: (record) => {
      const { name } = record;
      if (shown.length > 0) foldPath(name);
      change(null, name, (value) => addedTo(value, record));
      changeAbove(null, name, 1, () => true);
      for (const layer of hidden.values()) {
        if (layer.has(name)) change(layer, name, (value) => addedTo(value, record));
        changeAbove(layer, name, 1, (at) => layer.has(at));
      }
    },
    remove: (record) => {
      const { name } = record;
      if (shown.length > 0) foldPath(name);
      if (!nodes.has(name)) return;
      change(null, name, (value) => removedFrom(value, record));
      changeAbove(null, name, -1, () => true);
      for (const layer of hidden.values()) {
        if (layer.has(name)) change(layer, name, (value) => removedFrom(value, record));
        changeAbove(layer, name, -1, (at) => layer.has(at));
      }
    },
    addressRecords: (name) => {
      const exact = find(name);
      if (exact !== undefined) return recordsOf(exact);
      for (const at of namesAbove(name, origin)) {
        if (find(at) === undefined && at.length > origin.length) continue;
        const wildcard = find(`*.${at}`);
        return wildcard === undefined ? NONE : recordsOf(wildcard);
      }
      return NONE;
    },
    stage: (id, before, after) => {
      let layer = hidden.get(id);
      if (!layer) hidden.set(id, (layer = new LargeMap()));
      let names = 0;
      for (const [record, by] of [
        [before, -1],
        [after, 1],
      ] as const) {
        if (!record) continue;
        change(layer, record.name, (value) => (by === 1 ? addedTo(value, record) : removedFrom(value, record)));
        names += 1 + changeAbove(layer, record.name, by, () => true);
      }
      return names;
    },
    release: (id) => {
      const names = hidden.get(id);
      hidden.delete(id);
      if (!names) return;
      shown.unshift({ names, rest: names.entries() });
      if (shown.length === 1) inSlices(fold);
    },
    forget: (id) => void hidden.delete(id),
  };
}

/** Those above it up to the zone's own name. */
function* namesAbove(name: string, origin: string): Generator<string> {
  for (let at = name; at.length > origin.length;) {
    at = at.slice(at.indexOf(".") + 1);
    yield at;
  }
}
