import { backgroundTurn } from "./background-turn.ts";

/**
 * Calls `step` for each item, and after `atOnce` of them leaves the rest to a later tick, in turns with other long tasks, so that
 * other work of the thread waits for these at most. Limit a tick by its number of items, not by a clock.
 */
export async function inTicks<T>(items: Iterable<T>, atOnce: number, step: (item: T) => void): Promise<void> {
  let left = atOnce;
  for (const item of items) {
    if (left === 0) {
      await backgroundTurn();
      left = atOnce;
    }
    step(item);
    left -= 1;
  }
}

/** The results of `step` for each item, made in the same way. */
export async function mapInTicks<T, R>(items: readonly T[], atOnce: number, step: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  await inTicks(items, atOnce, (item) => made.push(step(item)));
  return made;
}
