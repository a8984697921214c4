import type { Op } from "./entries.ts";
import type { AppliedOp, Replica } from "./feed.ts";
import { createSnapshotState } from "./state.ts";

/** A replica without a publisher: its owner decides its content. */
export interface MemoryReplica extends Replica {
  /** Applies the ops as one committed unit, the next revision. */
  apply(ops: readonly Op[]): void;
  /** Replaces everything, as a full copy after a gap does. */
  replace(ops: readonly Op[]): void;
  /** Resolves once listeners have finished work that takes several ticks. */
  settled(): Promise<void>;
}

/** Starts at revision 1 with the given entries; `ops` remain the caller's, the replica freezes copies. */
export function createMemoryReplica(ops: readonly Op[] = []): MemoryReplica {
  const state = createSnapshotState();
  const listeners: Parameters<Replica["onApplied"]>[0][] = [];
  let rest: Promise<unknown> = Promise.resolve();
  const tell = (applied: readonly AppliedOp[] | null): void => {
    const left = listeners.map((listener) => listener(applied));
    for (const more of left) if (typeof more === "function") while (more());
    rest = Promise.all([rest, ...left]);
  };
  state.replace(1, structuredClone(ops));
  return {
    snapshot: state,
    onApplied: (listener) => {
      listeners.push(listener);
    },
    apply: (more) => tell(state.apply(state.rev + 1, structuredClone(more))),
    replace: (all) => {
      state.replace(state.rev + 1, structuredClone(all));
      tell(null);
    },
    settled: async () => void (await rest),
    close: () => {
      listeners.length = 0;
    },
  };
}
