import { type Delta, opsWeight } from "./entries.ts";

/** The newest deltas, so that a replica that resumes soon does not need the source. Limited by the number of ops. */
export interface RecentDeltas {
  push(delta: Delta): void;
  /** The deltas after `rev`, or null if they do not reach back to it. */
  after(rev: number): readonly Delta[] | null;
  clear(): void;
}

export function createRecentDeltas(opsMax: number): RecentDeltas {
  let deltas: Delta[] = [];
  /**
   * Index of the first kept delta; the array is cut once the dropped ones are half of it, so that a push costs the same
   * at any length.
   */
  let first = 0;
  let ops = 0;
  return {
    push: (delta) => {
      deltas.push(delta);
      ops += opsWeight(delta.ops);
      while (ops > opsMax && first < deltas.length) ops -= opsWeight(deltas[first++]!.ops);
      if (2 * first < deltas.length) return;
      deltas = deltas.slice(first);
      first = 0;
    },
    after: (rev) => {
      const next = deltas.findIndex((delta, at) => at >= first && delta.from === rev);
      return next === -1 ? null : deltas.slice(next);
    },
    clear: () => {
      deltas = [];
      first = 0;
      ops = 0;
    },
  };
}
