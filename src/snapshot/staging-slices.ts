/** A plane's work on staged, invisible changes, in slices: one per tick. */
export interface StagingSlices {
  /** `work` yields the number of names that each step has changed. */
  add(work: Iterator<number>): void;
  /** Does some of the added work, and returns whether more remains. */
  step(): boolean;
  clear(): void;
}

/**
 * Names of one slice: about a millisecond of CPU time. On a busy machine the thread also waits for a CPU, three or four times as long,
 * before it answers. A record with a deep name may add more than a hundred.
 */
export const NAMES_STAGED_AT_ONCE = 32;

/** `onSlice` gets the number of names that each slice has changed. */
export function createStagingSlices(onSlice?: (names: number) => void): StagingSlices {
  const waiting: Iterator<number>[] = [];
  return {
    add: (work) => void waiting.push(work),
    step: () => {
      let names = 0;
      for (let [next] = waiting; next && names < NAMES_STAGED_AT_ONCE; [next] = waiting) {
        const { value, done } = next.next();
        if (done === true) waiting.shift();
        else names += value;
      }
      onSlice?.(names);
      return waiting.length > 0;
    },
    clear: () => void waiting.splice(0),
  };
}
