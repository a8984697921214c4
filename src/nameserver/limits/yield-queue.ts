/** Runs `work` in a later turn of the event loop, after what has been given before. */
export type YieldTurn = (work: () => void) => void;

/** One piece of work a turn, however many wait, so that what comes from the network waits for one piece at most. */
export function createYieldQueue(): YieldTurn {
  const waiting: (() => void)[] = [];
  const run = (): void => {
    const work = waiting.shift();
    if (waiting.length > 0) setImmediate(run);
    work?.();
  };
  return (work) => {
    waiting.push(work);
    if (waiting.length === 1) setImmediate(run);
  };
}
