import { isDeepStrictEqual } from "node:util";
import { LargeMap } from "#kernel/large-map.ts";
import type { EntryKind, Op, RecordEntry, StagedRecord } from "./entries.ts";
import { NAMES_AT_ONCE, namesOf } from "./large-delta.ts";
import type { AppliedOp } from "./feed.ts";
import type { SnapshotState } from "./state.ts";

/** A full copy that arrives page by page. Each value that it yields ends a tick. */
export interface ArrivingCopy {
  add(ops: readonly Op[]): Generator<void>;
  /** Call after the last page: the state becomes the copy. */
  take(rev: number): Generator<void>;
}

type Tell = (ops: readonly AppliedOp[] | null) => Generator<void>;

/** Ops that one tick adds or compares: a few milliseconds. */
export const OPS_AT_ONCE = 1_000;

/** Replaces the state, after which everything is indexed in one go: for planes that serve nothing yet, or whose state is wrong. */
export function replacingCopy(state: SnapshotState, tell: Tell): ArrivingCopy {
  const replacement = state.replacement();
  return {
    *add(ops) {
      for (const [index, op] of ops.entries()) {
        replacement.add(op);
        if (index % OPS_AT_ONCE === OPS_AT_ONCE - 1) yield;
      }
    },
    *take(rev) {
      replacement.take(rev);
      yield* tell(null);
    },
  };
}

/**
 * Applies what differs from the state, so that a plane that serves does not index everything again. Differing records are staged as they
 * come, and all differences become visible in one step. Records of zones that are new come before their zone, and those of zones that
 * are gone leave after it: nobody sees them. `trim` as of the state.
 */
export function comparedCopy(state: SnapshotState, tell: Tell, trim: (record: RecordEntry) => void = () => {}): ArrivingCopy {
  const here = new Map<EntryKind, LargeMap<true>>();
  const changed: Op[] = [];
  const imports: Op[] = [];
  const layers = createLayers();
  let isBegun = false;

  const isHere = (kind: EntryKind, id: string): boolean => here.get(kind)?.has(id) === true;
  const note = ({ kind, id }: Op): void => {
    const ids = here.get(kind) ?? new LargeMap<true>();
    here.set(kind, ids);
    ids.set(id, true);
  };
  /** Changes that nobody sees. */
  function* quietly(ops: readonly Op[]): Generator<void> {
    if (ops.length > 0) yield* tell(state.apply(state.rev, ops));
  }
  function* addPage(page: readonly Op[]): Generator<void> {
    const early: Op[] = [];
    const staged: RecordOp[] = [];
    for (const op of page) {
      note(op);
      if (op.kind === "staged") imports.push(op);
      else if (op.kind !== "record") {
        if (!isDeepStrictEqual(state.get(op.kind, op.id), op.value)) changed.push(op);
      } else if (op.value !== null) {
        trim(op.value);
        const before = state.get("record", op.id);
        if (isDeepStrictEqual(before, op.value)) continue;
        if (before !== undefined && before.zone_id !== op.value.zone_id) changed.push(op);
        else (state.get("zone", op.value.zone_id) === undefined ? early : staged).push(op);
      }
    }
    for (const piece of pieces(early, state)) {
      yield* quietly(piece);
      yield;
    }
    yield* quietly(layers.put(staged));
  }
  return {
    *add(ops) {
      if (!isBegun) {
        isBegun = true;
        yield* quietly(Array.from(state.staged(), ({ id }): Op => ({ kind: "release", id, value: null })));
      }
      for (let at = 0; at < ops.length; at += OPS_AT_ONCE) {
        yield* addPage(ops.slice(at, at + OPS_AT_ONCE));
        yield;
      }
    },
    *take(rev) {
      // Entries that move from a released change to the others could be passed over.
      while (state.isFolding()) yield;
      const late: Op[] = [];
      const removed: Op[] = [];
      let looked = 0;
      for (const kind of state.kinds())
        for (const [id, entry] of state.entries(kind)) {
          if (++looked % OPS_AT_ONCE === 0) yield;
          if (isHere(kind, id)) continue;
          if (kind !== "record") changed.push({ kind, id, value: null } as Op);
          else (isHere("zone", (entry as RecordEntry).zone_id) ? removed : late).push({ kind, id, value: null });
        }
      for (const some of batches(removed)) {
        yield* quietly(layers.remove(some, state));
        yield;
      }
      yield* tell(state.apply(rev, [...changed, ...layers.releases()]));
      for (const some of [...batches(imports), ...pieces(late, state)]) {
        yield;
        yield* tell(state.apply(rev, some));
      }
    },
  };
}

type RecordOp = Op & { readonly kind: "record" };

/** Differing records of each zone, as a large change of it. */
function createLayers() {
  const sizes = new Map<string, number>();
  let pieces = 0;
  const idOf = (zoneId: string): string => `full-copy/${zoneId}`;
  const stage = (zone_id: string, records: readonly StagedRecord[], removed: readonly string[]): Op => {
    sizes.set(zone_id, (sizes.get(zone_id) ?? 0) + records.length + removed.length);
    return {
      kind: "staged",
      id: `${idOf(zone_id)}/${pieces++}`,
      value: { import_id: idOf(zone_id), zone_id, records, removed, is_next: true },
    };
  };
  return {
    put: (ops: readonly RecordOp[]): Op[] =>
      Array.from(
        Map.groupBy(ops, ({ value }) => value?.zone_id ?? ""),
        ([zoneId, some]) =>
          stage(
            zoneId,
            some.map(({ id, value }) => ({ ...(value as RecordEntry), id })),
            [],
          ),
      ),
    remove: (ops: readonly Op[], snapshot: Pick<SnapshotState, "get">): Op[] =>
      Array.from(
        Map.groupBy(ops, ({ id }) => snapshot.get("record", id)?.zone_id ?? ""),
        ([zoneId, some]) =>
          stage(
            zoneId,
            [],
            some.map(({ id }) => id),
          ),
      ),
    releases: (): Op[] => Array.from(sizes, ([zone_id, records]) => ({ kind: "release", id: idOf(zone_id), value: { zone_id, records } })),
  };
}

function* batches(ops: readonly Op[]): Generator<readonly Op[]> {
  for (let at = 0; at < ops.length; at += OPS_AT_ONCE) yield ops.slice(at, at + OPS_AT_ONCE);
}

/** By the names that planes may have to change for them. */
function* pieces(ops: readonly Op[], snapshot: Pick<SnapshotState, "get">): Generator<readonly Op[]> {
  let piece: Op[] = [];
  let names = 0;
  for (const op of ops) {
    piece.push(op);
    names += namesOf([op], snapshot);
    if (names < NAMES_AT_ONCE) continue;
    yield piece;
    piece = [];
    names = 0;
  }
  if (piece.length > 0) yield piece;
}
