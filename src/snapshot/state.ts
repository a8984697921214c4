import { LargeMap } from "#kernel/large-map.ts";
import type { EntryKind, EntryTypes, Op, RecordEntry, ReleaseEntry, StagedEntry } from "./entries.ts";
import type { AppliedOp, Snapshot, StagedChange } from "./feed.ts";
import { createRecordLayers, type RecordLayers } from "./record-layers.ts";

/** A snapshot that its owner moves from revision to revision. Values are frozen; readers may keep them. */
export interface SnapshotState extends Snapshot {
  /**
   * Applies the ops of one unit in order and returns them with the previous values; staged ops are returned with the
   * changes of their release. Throws if a release finds something missing: then only `replace` helps.
   */
  apply(rev: number, ops: readonly Op[]): readonly AppliedOp[];
  /** Discards everything and starts again from these entries. Throws as `apply` does. */
  replace(rev: number, ops: readonly Op[]): void;
  /** The same with entries that arrive over time; until `take` the current state stays. */
  replacement(): { add(op: Op): void; take(rev: number): void };
  /** The kinds that have entries, but for what is staged. */
  kinds(): readonly EntryKind[];
  /** As of `RecordLayers`. */
  isFolding(): boolean;
}

interface Content {
  readonly records: RecordLayers;
  /** Entries of all other kinds. */
  readonly kinds: Map<EntryKind, LargeMap<unknown>>;
}

const noContent = (): Content => ({ records: createRecordLayers(), kinds: new Map() });

/** `trim` is given each record before readers see it, and may change it. */
export function createSnapshotState(trim?: (record: RecordEntry) => void): SnapshotState {
  let rev = 0;
  let content = noContent();

  const replacement = (): { add(op: Op): void; take(rev: number): void } => {
    const fresh = noContent();
    return {
      add: (op) => void applyOp(fresh, op, trim),
      take: (next) => {
        content = fresh;
        rev = next;
      },
    };
  };
  return {
    get rev() {
      return rev;
    },
    get: <K extends EntryKind>(kind: K, id: string) =>
      (kind === "record" ? content.records.get(id) : content.kinds.get(kind)?.get(id)) as EntryTypes[K] | undefined,
    entries: <K extends EntryKind>(kind: K) =>
      (kind === "record" ? content.records.entries() : (content.kinds.get(kind)?.entries() ?? [].values())) as IterableIterator<
        readonly [string, EntryTypes[K]]
      >,
    staged: () => content.records.staged(),
    kinds: () => ["record", ...content.kinds.keys()],
    isFolding: () => content.records.isFolding(),
    apply: (next, ops) => {
      const applied = ops.map((op) => applyOp(content, op, trim));
      rev = next;
      return applied;
    },
    replace: (next, ops) => {
      const fresh = replacement();
      ops.forEach(fresh.add);
      fresh.take(next);
    },
    replacement,
  };
}

type Trim = ((record: RecordEntry) => void) | undefined;

function applyOp({ records, kinds }: Content, op: Op, trim: Trim): AppliedOp {
  if (op.kind === "record") {
    const value = op.value && frozenRecord(op.value, trim);
    return { kind: "record", id: op.id, value, before: records.put(op.id, value) };
  }
  if (op.kind === "staged") return { ...op, before: undefined, changes: op.value === null ? [] : stage(records, op.value, trim) };
  if (op.kind === "release") {
    release(records, op.id, op.value);
    return { ...op, before: undefined };
  }
  let entries = kinds.get(op.kind);
  if (!entries) kinds.set(op.kind, (entries = new LargeMap()));
  const before = entries.get(op.id);
  if (op.value === null) entries.delete(op.id);
  else entries.set(op.id, deepFreeze(op.value));
  return { kind: op.kind, id: op.id, value: op.value, before } as AppliedOp;
}

function stage(layers: RecordLayers, { import_id, zone_id, records, removed = [] }: StagedEntry, trim: Trim): readonly StagedChange[] {
  const change = (id: string, value: RecordEntry | null): StagedChange => ({
    id,
    value,
    before: layers.stage(import_id, zone_id, id, value),
  });
  return [
    ...records.map(({ id, ...record }) => change(id, frozenRecord({ zone_id, ...record }, trim))),
    ...removed.map((id) => change(id, null)),
  ];
}

function release(layers: RecordLayers, id: string, value: ReleaseEntry | null): void {
  if (value === null) return layers.forget(id);
  const found = layers.stagedSize(id);
  if (found !== value.records) throw new Error(`a change of ${value.records} records was released, but only ${found} arrived`);
  layers.release(id);
}

/** Records, the most numerous entries, are flat. */
function frozenRecord(record: RecordEntry, trim: Trim): RecordEntry {
  if (Object.isFrozen(record)) return record;
  trim?.(record);
  return Object.freeze(record);
}

/** Entries are plain JSON, hence trees: the walk ends. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const key in value) deepFreeze(value[key]);
  return Object.freeze(value);
}
