import type { EntryKind, EntryTypes, Op, ReleaseEntry, StagedEntry } from "./entries.ts";
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
}

export function createSnapshotState(): SnapshotState {
  let rev = 0;
  let kinds = new Map<EntryKind, Map<string, unknown>>();

  const put = (op: Op): unknown => {
    let entries = kinds.get(op.kind);
    if (!entries) kinds.set(op.kind, (entries = new Map()));
    const before = entries.get(op.id);
    if (op.value === null) entries.delete(op.id);
    // Records, of which there are most, are flat. What is staged is copied when it is released.
    else entries.set(op.id, op.kind === "record" || op.kind === "staged" ? Object.freeze(op.value) : deepFreeze(op.value));
    return before;
  };

  const putInto = (applied: AppliedOp[], op: Op): void => {
    applied.push({ kind: op.kind, id: op.id, value: op.value, before: put(op) } as AppliedOp);
  };

  const release = (applied: AppliedOp[], importId: string, value: ReleaseEntry | null): void => {
    let count = 0;
    for (const [stagedId, { import_id, zone_id, records }] of (kinds.get("staged") ?? new Map()) as Map<string, StagedEntry>) {
      if (import_id !== importId) continue;
      for (const { id, name, type, ttl, content, rdata, proxied } of value === null ? [] : records)
        putInto(applied, { kind: "record", id, value: { zone_id, name, type, ttl, content, rdata, proxied } });
      putInto(applied, { kind: "staged", id: stagedId, value: null });
      count += records.length;
    }
    if (value !== null && count !== value.records)
      throw new Error(`an import of ${value.records} records is released, of which ${count} are here`);
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
      for (const op of ops) {
        if (op.kind === "release") release(applied, op.id, op.value);
        else putInto(applied, op);
      }
      rev = next;
      return applied;
    },
    replace: (next, ops) => {
      kinds = new Map();
      for (const op of ops) {
        if (op.kind === "release") release([], op.id, op.value);
        else put(op);
      }
      rev = next;
    },
  };
}

/** Entries are plain JSON, hence trees: the walk ends. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const key in value) deepFreeze(value[key]);
  return Object.freeze(value);
}
