/** Ordered work, of which each tick does a part, so that network input waits only briefly. */
export interface SlicedQueue {
  /** Does it at once if the queue is empty and the tick has room for it. Each value that the work yields ends a tick. */
  add(size: () => number, work: () => Iterator<void> | undefined): void;
}

interface Piece {
  readonly size: () => number;
  readonly work: () => Iterator<void> | undefined;
}

/** A tick takes items up to this total size, and at least one. */
export function createSlicedQueue(sizeMax: number): SlicedQueue {
  const waiting: Piece[] = [];
  let current: Iterator<void> | undefined;
  let done = 0;
  let isNextTurnSet = false;
  let isRunning = false;

  /** False if the tick is over. */
  const step = (): boolean => {
    if (current) {
      if (current.next().done !== true) return false;
      current = undefined;
    }
    const [next] = waiting;
    if (!next) return false;
    const size = next.size();
    if (done > 0 && done + size > sizeMax) return false;
    waiting.shift();
    done += size;
    current = next.work();
    return true;
  };
  const run = (): void => {
    isRunning = true;
    while (step());
    isRunning = false;
    if (isNextTurnSet || (!current && done === 0)) return;
    isNextTurnSet = true;
    // Of immediates that network input sets, the first runs before the next input.
    setImmediate(() => setImmediate(nextTurn));
  };
  const nextTurn = (): void => {
    isNextTurnSet = false;
    done = 0;
    run();
  };
  return {
    add: (size, work) => {
      const isFirst = !current && waiting.length === 0 && !isRunning;
      waiting.push({ size, work });
      if (isFirst) run();
    },
  };
}
