/**
 * Calls `step` once a turn of the event loop until it says that nothing is left, so that what else the thread has to do
 * waits for one step at most. A step is bounded by the number of its items, never by a clock.
 */
export function inSlices(step: () => boolean): void {
  const run = (): void => {
    if (step()) setImmediate(run);
  };
  setImmediate(run);
}
