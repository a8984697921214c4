import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";

/** Timeout of a wait. On a busy machine a successful wait can take most of it. */
export const PATIENCE_MS = 120_000;
const EVERY_MS = 10;

/** Waits until something is true, looking again and again. */
export async function eventually(what: () => boolean | Promise<boolean>, everyMs = EVERY_MS): Promise<void> {
  for (const started = performance.now(); !(await what()); await delay(everyMs)) {
    if (performance.now() - started > PATIENCE_MS) throw new Error(`it never became true: ${what}`);
  }
}

/** Reads until the value fits, and returns it. */
export async function readUntil<T>(read: () => T | Promise<T>, holds: (value: T) => boolean, everyMs = EVERY_MS): Promise<T> {
  for (const started = performance.now(); ; await delay(everyMs)) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() - started > PATIENCE_MS) throw new Error(`it never held: ${holds}; at last ${JSON.stringify(value)}`);
  }
}

/**
 * Waits until pending work in this process has progressed as far as it can by itself. The time is for threads and the
 * kernel; the ticks are for a process that was suspended, whose timers expire before it has read anything.
 */
export async function settled(forMs = 50): Promise<void> {
  await delay(forMs);
  for (let turns = 0; turns < 100; turns++) await turn();
}

/** Waits until a figure has grown and then not changed for a while, and gives it. */
export async function standstill(figure: () => number): Promise<number> {
  await eventually(() => figure() > 0);
  for (let last = -1; figure() !== last; await settled(300)) last = figure();
  return figure();
}
