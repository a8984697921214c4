import { type Delta, opsWeight } from "./entries.ts";

/** The newest deltas, so that a replica that resumes soon needs nothing from the source. Bounded by ops held. */
export interface RecentDeltas {
  push(delta: Delta): void;
  /** The deltas after `rev`, or null when they do not reach back to it. */
  after(rev: number): readonly Delta[] | null;
  clear(): void;
}

export function createRecentDeltas(opsMax: number): RecentDeltas {
  let deltas: Delta[] = [];
  let ops = 0;
  return {
    push: (delta) => {
      deltas.push(delta);
      ops += opsWeight(delta.ops);
      let dropped = 0;
      while (ops > opsMax && dropped < deltas.length) ops -= opsWeight(deltas[dropped++]!.ops);
      if (dropped > 0) deltas = deltas.slice(dropped);
    },
    after: (rev) => {
      const first = deltas.findIndex((delta) => delta.from === rev);
      return first === -1 ? null : deltas.slice(first);
    },
    clear: () => {
      deltas = [];
      ops = 0;
    },
  };
}
