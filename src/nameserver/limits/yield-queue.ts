/** Runs `work` in a later tick, in order. */
export type Yield = (work: () => void) => void;

/** One piece of work per tick, so that network events wait for one piece at most. */
export function createYieldQueue(): Yield {
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
