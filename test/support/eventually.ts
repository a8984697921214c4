import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";

/** Bounds what never comes. On a machine where everything else runs too, what does come may take most of it. */
export const PATIENCE_MS = 120_000;
const EVERY_MS = 10;

/** Waits until something is true, looking again and again. */
export async function eventually(what: () => boolean | Promise<boolean>, everyMs = EVERY_MS): Promise<void> {
  for (const started = performance.now(); !(await what()); await delay(everyMs)) {
    if (performance.now() - started > PATIENCE_MS) throw new Error(`it never became true: ${what}`);
  }
}

/** Reads until what is read is as it should be, and gives it. */
export async function readUntil<T>(read: () => T | Promise<T>, holds: (value: T) => boolean, everyMs = EVERY_MS): Promise<T> {
  for (const started = performance.now(); ; await delay(everyMs)) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() - started > PATIENCE_MS) throw new Error(`it never held: ${holds}; at last ${JSON.stringify(value)}`);
  }
}

/**
 * Waits until what is under way in this process has come as far as it comes by itself. The time is for threads and the
 * kernel; the turns are for a process that stood still meanwhile, whose timers are over before it has read anything.
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
