import { opsWeight } from "#snapshot/entries.ts";
import type { Position } from "#snapshot/feed.ts";
import type { SentDelta } from "./bus-message.ts";

/** The newest deltas that arrived, each beginning at the revision where the one before it ends. */
export interface DeltaWindow {
  last(): SentDelta | undefined;
  add(delta: SentDelta): void;
  clear(): void;
  /** The delta that ends at the position. */
  endingAt(at: Position): SentDelta | undefined;
  /** At most `count` deltas from the position on; null if the one that begins there is not kept. */
  from(at: Position, count: number): readonly SentDelta[] | null;
}

/** Deltas and ops that are kept. */
const DELTAS_MAX = 5_000;
const OPS_MAX = 50_000;

export function createDeltaWindow(): DeltaWindow {
  let deltas: SentDelta[] = [];
  let weight = 0;
  /** Each begins where the one before it ends, so revisions of both ends are in order. */
  const find = (at: Position, end: "from" | "rev"): number => {
    let [low, high] = [0, deltas.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (deltas[middle]![end] < at.rev) low = middle + 1;
      else high = middle;
    }
    const found = deltas[low];
    return found?.[end] === at.rev && found.history === at.history ? low : -1;
  };
  const weigh = ({ ops }: SentDelta): number => (ops === null ? 0 : opsWeight(ops));
  return {
    last: () => deltas.at(-1),
    add: (delta) => {
      deltas.push(delta);
      weight += weigh(delta);
      let gone = 0;
      while (weight > OPS_MAX && gone < deltas.length - 1) weight -= weigh(deltas[gone++]!);
      // Old ones are cut off many at a time, since each cut copies the rest.
      if (gone === 0 && deltas.length <= 2 * DELTAS_MAX) return;
      const cut = Math.max(gone, deltas.length - DELTAS_MAX);
      for (const old of deltas.slice(gone, cut)) weight -= weigh(old);
      deltas = deltas.slice(cut);
    },
    clear: () => {
      deltas = [];
      weight = 0;
    },
    endingAt: (at) => deltas[find(at, "rev")],
    from: (at, count) => {
      const first = find(at, "from");
      return first === -1 ? null : deltas.slice(first, first + count);
    },
  };
}
