/** Runs a bounded number of tasks at a time; the others wait for their turn, in the order in which they came. */
export interface Turns {
  /** Rejects at once where too many wait already, else as the task does. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

export function createTurns(tasksMax: number, waitingMax: number): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;

  const turn = async (): Promise<void> => {
    if (running < tasksMax) {
      running += 1;
      return;
    }
    if (waiting.length >= waitingMax) throw new Error("too many tasks wait for their turn");
    // Whoever ends hands its place over, so that the number of those who run stays the same.
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
