/** Work in steps. After each step it yields its cost, in units of about a microsecond, and other work may get a turn. */
export type Work<T> = Generator<number, T, undefined>;

/** Does all of it at once, when no other work waits. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const piece = work.next();
    if (piece.done === true) return piece.value;
  }
}

/**
 * A thread's long tasks: a slice of one of them in each tick, in rotation, so that no task waits for
 * all of another.
 */
export interface Slices {
  /** `done` is called in the same tick if the rest of its slice is enough. */
  start<T>(work: Work<T>, done: (result: T) => void, failed: (error: unknown) => void): void;
  run<T>(work: Work<T>): Promise<T>;
}

/** Counted, not measured: a task has the same slices on every machine. A step may exceed the remaining units by its own size. */
const SLICE_UNITS = 5_000;

export function createSlices(nextTurn: (turn: () => void) => void = (turn) => void setImmediate(turn)): Slices {
  const waiting: (() => boolean)[] = [];
  let left = SLICE_UNITS;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    nextTurn(() => {
      isScheduled = false;
      left = SLICE_UNITS;
      for (let works = waiting.length; works > 0 && left > 0; works--) advance(waiting.shift()!);
    });
  };
  const advance = (step: () => boolean): void => {
    if (!step()) waiting.push(step);
    if (waiting.length > 0 || left < SLICE_UNITS) schedule();
  };
  const start: Slices["start"] = (work, done, failed) =>
    advance(() => {
      try {
        while (left > 0) {
          const piece = work.next();
          if (piece.done !== true) left -= piece.value;
          else {
            done(piece.value);
            return true;
          }
        }
        return false;
      } catch (error) {
        failed(error);
        return true;
      }
    });
  return { start, run: (work) => new Promise((resolve, reject) => start(work, resolve, reject)) };
}
