/** Runs a limited number of tasks at a time; the others wait in order. */
export interface Semaphore {
  /** Rejects immediately if too many tasks wait, otherwise as the task does. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

export function createSemaphore(tasksMax: number, waitingMax: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;

  const turn = async (): Promise<void> => {
    if (running < tasksMax) {
      running += 1;
      return;
    }
    if (waiting.length >= waitingMax) throw new Error("too many tasks wait for their turn");
    // A finished task passes its slot to the next one, so that the number of running tasks stays the same.
    await new Promise<void>((resolve) => waiting.push(resolve));
  };

  return {
    run: async (task) => {
      await turn();
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
