/** Opened parts, closed in reverse order; each step is tried even if another one fails. */
export interface Closing {
  add(step: () => void | Promise<void>): void;
  /** A step that lets work in progress finish, with the time for it. */
  addDraining(step: (drainMs: number, idleMs: number) => void | Promise<void>): void;
  /** Releases the resources except the planes, which continue after `release`. */
  addPlanes(step: (drainMs: number) => void | Promise<void>): void;
  /** Closes everything but the planes. `idleMs`: see DrainTimes. */
  release(drainMs: number, idleMs: number): Promise<void>;
  /** Rejects with the first failure once every step has been tried. */
  close(drainMs: number): Promise<void>;
}

interface Step {
  close(drainMs: number, idleMs: number): void | Promise<void>;
  readonly isOfPlanes: boolean;
}

export function createClosing(): Closing {
  let steps: Step[] = [];
  const closeAll = async (closed: Step[], drainMs: number, idleMs: number): Promise<void> => {
    const failures: unknown[] = [];
    for (let step = closed.pop(); step !== undefined; step = closed.pop()) {
      try {
        await step.close(drainMs, idleMs);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  return {
    add: (step) => void steps.push({ close: () => step(), isOfPlanes: false }),
    addDraining: (close) => void steps.push({ close, isOfPlanes: false }),
    addPlanes: (close) => void steps.push({ close, isOfPlanes: true }),
    release: (drainMs, idleMs) => {
      const closed = steps.filter(({ isOfPlanes }) => !isOfPlanes);
      steps = steps.filter(({ isOfPlanes }) => isOfPlanes);
      return closeAll(closed, drainMs, idleMs);
    },
    close: (drainMs) => closeAll(steps, drainMs, 0),
  };
}
