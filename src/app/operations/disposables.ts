/** Opened parts, closed in reverse order; each step is tried even if another one fails. */
export interface Closing {
  add(step: () => void | Promise<void>): void;
  /** A step that lets work in progress finish, with the time for it. */
  addDraining(step: (drainMs: number) => void | Promise<void>): void;
  /** Rejects with the first failure once every step has been tried. */
  close(drainMs: number): Promise<void>;
}

export function createClosing(): Closing {
  const steps: ((drainMs: number) => void | Promise<void>)[] = [];
  return {
    add: (step) => void steps.push(() => step()),
    addDraining: (step) => void steps.push(step),
    close: async (drainMs) => {
      const failures: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step(drainMs);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
