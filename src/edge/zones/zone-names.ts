import { inSlices } from "#kernel/in-slices.ts";
import { LargeMap } from "#kernel/large-map.ts";
import type { RecordEntry } from "#snapshot/entries.ts";
import { FOLDED_AT_ONCE } from "#snapshot/record-layers.ts";
import { addedTo, copiedOf, copyOf, type NameValue, recordsOf, removedFrom, withCount } from "#edge/http/name-value.ts";

/** The names of a zone, and their address records. */
export interface ZoneNames {
  add(record: RecordEntry): void;
  remove(record: RecordEntry): void;
  /** A, AAAA and CNAME records for a name, its own or a wildcard's (RFC 4592); empty if it has none. */
  addressRecords(name: string): readonly RecordEntry[];
  /**
   * Stages a part of a large change, invisibly: `before` must be the very object that goes. Returns how many names it
   * changed, and other records of the name it copied. `isNext`: nothing else is released or changed before this change, so other staged changes may take it into
   * account already.
   */
  stage(id: string, before: RecordEntry | undefined, after: RecordEntry | null, isNext?: boolean): number;
  /** Shows everything staged, at once, and then merges it into the zone's names over several ticks. */
  release(id: string): void;
  /** Drops everything staged. */
  forget(id: string): void;
  /** Tells names that were created without an origin the name of their zone. */
  belongTo(origin: string): void;
}

/** Changed names that hide those below once they are shown; null for a name that vanishes. */
type Layer = LargeMap<NameValue | null>;

const NONE: readonly RecordEntry[] = [];

/** Records may come before their zone: until then its name is "". A tick merges as many names as records. */
export function createZoneNames(name = "", foldedAtOnce = FOLDED_AT_ONCE): ZoneNames {
  let origin = name;
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
  const foldName = (names: Layer, name: string, value: NameValue | null): void => {
    names.delete(name);
    if (value === null) nodes.delete(name);
    else nodes.set(name, value);
  };
  /** Merges the shown layers' values of the name, and returns the result. */
  const current = (name: string): NameValue | undefined => {
    if (shown.length > 0)
      for (const { names } of shown.toReversed()) {
        const value = names.get(name);
        if (value !== undefined) foldName(names, name, value);
      }
    return nodes.get(name);
  };
  const put = (name: string, value: NameValue | undefined): void => {
    if (value === undefined) nodes.delete(name);
    else nodes.set(name, value);
  };
  /** The layer's value of the name, or a copy of the value below it that the layer may change. */
  const own = (layer: Layer, name: string, below?: Layer): NameValue | undefined => {
    const known = layer.get(name);
    if (known !== undefined) return known ?? undefined;
    const lower = below?.get(name);
    return copyOf(lower === undefined ? find(name) : (lower ?? undefined));
  };
  const putIn = (layer: Layer, name: string, value: NameValue | undefined): void => layer.set(name, value ?? null);

  /**
   * Adds or removes the record, and updates the names above it while they appear or vanish. Returns how many of these it
   * updated.
   */
  const hold = (
    record: RecordEntry,
    by: 1 | -1,
    get: (name: string) => NameValue | undefined,
    set: (name: string, value: NameValue | undefined) => void,
  ): number => {
    const existed = get(record.name);
    const exists = changed(existed, record, by);
    set(record.name, exists);
    let count = 0;
    let flipped = isFlipped(existed, exists);
    if (flipped)
      for (const at of namesAbove(record.name, origin)) {
        count += 1;
        const before = get(at);
        const after = withCount(before, by);
        set(at, after);
        flipped = isFlipped(before, after);
        if (!flipped) break;
      }
    return count;
  };
  const holdIn = (layer: Layer, record: RecordEntry, by: 1 | -1): number =>
    hold(
      record,
      by,
      (name) => own(layer, name),
      (name, value) => putIn(layer, name, value),
    );
  /**
   * Applies a change of the visible names, or of the layer below, to a layer: `seen` names above the record were changed
   * there. If the layer has its own value of a name, other names may appear or vanish in it, and the layer takes over the
   * names above that now differ.
   */
  const carry = (layer: Layer, record: RecordEntry, by: 1 | -1, seen: number, below?: Layer): void => {
    const known = layer.get(record.name);
    let above = seen > 0 ? by : 0;
    if (known !== undefined) {
      const value = changed(known ?? undefined, record, by);
      putIn(layer, record.name, value);
      above = isFlipped(known ?? undefined, value) ? by : 0;
    }
    let level = 1;
    for (const at of namesAbove(record.name, origin)) {
      const visibly = level <= seen ? by : 0;
      if (above === 0 && visibly === 0) return;
      const has = layer.has(at);
      if (!has && above === visibly) above = level < seen ? by : 0;
      else {
        // A fresh copy already includes the visible change.
        const before = has ? own(layer, at) : withCount(own(layer, at, below), -visibly);
        const after = above === 0 ? before : withCount(before, above);
        putIn(layer, at, after);
        above = isFlipped(before, after) ? by : 0;
      }
      level += 1;
    }
  };
  const changeVisibly = (record: RecordEntry, by: 1 | -1): void => {
    if (by === -1 && current(record.name) === undefined) return;
    const seen = hold(record, by, current, put);
    for (const layer of hidden.values()) carry(layer, record, by, seen);
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

  return {
    add: (record) => changeVisibly(record, 1),
    remove: (record) => changeVisibly(record, -1),
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
    stage: (id, before, after, isNext = false) => {
      let layer = hidden.get(id);
      if (!layer) hidden.set(id, (layer = new LargeMap()));
      const others = isNext && hidden.size > 1 ? [...hidden.values()].filter((other) => other !== layer) : [];
      let names = 0;
      const one = (record: RecordEntry, by: 1 | -1): void => {
        const copied = (): number => copiedOf(layer.get(record.name) ?? undefined);
        const before = copied();
        const seen = holdIn(layer, record, by);
        for (const other of others) carry(other, record, by, seen, layer);
        names += 1 + seen + Math.max(0, copied() - before);
      };
      // Adds before it removes, so that a name that keeps a record keeps the names above it.
      if (after) one(after, 1);
      if (before) one(before, -1);
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
    // Names above it that were counted remain, and nobody looks there.
    belongTo: (zone) => void (origin = zone),
  };
}

const changed = (value: NameValue | undefined, record: RecordEntry, by: 1 | -1): NameValue | undefined =>
  by === 1 ? addedTo(value, record) : removedFrom(value, record);

/** True if the name appears or vanishes. */
const isFlipped = (before: NameValue | undefined, after: NameValue | undefined): boolean =>
  (before === undefined) !== (after === undefined);

/** The names above it, up to the zone's name. */
function* namesAbove(name: string, origin: string): Generator<string> {
  for (let at = name; at.length > origin.length;) {
    const dot = at.indexOf(".");
    if (dot < 0) return;
    at = at.slice(dot + 1);
    yield at;
  }
}
