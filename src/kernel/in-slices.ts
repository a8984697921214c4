/**
 * Calls `step` once per event loop tick until it reports that no work is left, so that other work of the thread waits for
 * one step at most. Limit a step by its number of items, not by a clock.
 */
export function inSlices(step: () => boolean): void {
  const run = (): void => {
    if (step()) setImmediate(run);
  };
  setImmediate(run);
}
