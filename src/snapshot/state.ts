import type { EntryKind, EntryTypes, Op, RecordEntry, ReleaseEntry, StagedEntry } from "./entries.ts";
import type { AppliedOp, Snapshot } from "./feed.ts";

/** A snapshot that its owner moves from revision to revision. Values are frozen; readers may keep them. */
export interface SnapshotState extends Snapshot {
  /**
   * Applies the ops of one unit in order and returns them with what stood there before; a release is returned as
   * the entries that come and go by it. Throws where staged records are missing: then only `replace` helps.
   */
  apply(rev: number, ops: readonly Op[]): readonly AppliedOp[];
  /** Forgets everything and starts again from these entries. Throws as `apply` does. */
  replace(rev: number, ops: readonly Op[]): void;
  /** The same with entries that come over time; until `take` everything stays as it is. */
  replacement(): { add(op: Op): void; take(rev: number): void };
}

type Kinds = Map<EntryKind, Map<string, unknown>>;

/** `trim` is given each record before anybody sees it, and may change it. */
export function createSnapshotState(trim?: (record: RecordEntry) => void): SnapshotState {
  let rev = 0;
  let kinds: Kinds = new Map();

  const replacement = (): { add(op: Op): void; take(rev: number): void } => {
    const fresh: Kinds = new Map();
    return {
      add: (op) => {
        if (op.kind === "release") release(fresh, op.id, op.value, () => {}, trim);
        else put(fresh, op, trim);
      },
      take: (next) => {
        kinds = fresh;
        rev = next;
      },
    };
  };
  return {
    get rev() {
      return rev;
    },
    get: <K extends EntryKind>(kind: K, id: string) => kinds.get(kind)?.get(id) as EntryTypes[K] | undefined,
    entries: <K extends EntryKind>(kind: K) =>
      (kinds.get(kind) ?? new Map<string, unknown>()).entries() as IterableIterator<readonly [string, EntryTypes[K]]>,
    apply: (next, ops) => {
      const applied: AppliedOp[] = [];
      const note: Note = (op, before) => void applied.push({ kind: op.kind, id: op.id, value: op.value, before } as AppliedOp);
      for (const op of ops) {
        if (op.kind === "release") release(kinds, op.id, op.value, note, trim);
        else note(op, put(kinds, op, trim));
      }
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

/** Hears of an op that was applied, and what stood there before. */
type Note = (op: Op, before: unknown) => void;

/** Gives what stood there before. */
function put(kinds: Kinds, op: Op, trim: Trim): unknown {
  let entries = kinds.get(op.kind);
  if (!entries) kinds.set(op.kind, (entries = new Map()));
  const before = entries.get(op.id);
  if (op.kind === "record" && op.value !== null && !Object.isFrozen(op.value)) trim?.(op.value);
  if (op.value === null) entries.delete(op.id);
  // Records, of which there are most, are flat. What is staged is copied when it is released.
  else entries.set(op.id, op.kind === "record" || op.kind === "staged" ? Object.freeze(op.value) : deepFreeze(op.value));
  return before;
}

function release(kinds: Kinds, importId: string, value: ReleaseEntry | null, note: Note, trim: Trim): void {
  const apply = (op: Op): void => note(op, put(kinds, op, trim));
  let count = 0;
  for (const [stagedId, { import_id, zone_id, records }] of (kinds.get("staged") ?? new Map()) as Map<string, StagedEntry>) {
    if (import_id !== importId) continue;
    for (const { id, ...record } of value === null ? [] : records) apply({ kind: "record", id, value: { zone_id, ...record } });
    apply({ kind: "staged", id: stagedId, value: null });
    count += records.length;
  }
  if (value !== null && count !== value.records)
    throw new Error(`an import of ${value.records} records is released, of which ${count} are here`);
}

/** Entries are plain JSON, hence trees: the walk ends. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const key in value) deepFreeze(value[key]);
  return Object.freeze(value);
}
