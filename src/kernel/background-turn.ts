const waiting: (() => void)[] = [];
let isPlanned = false;

/**
 * Resolves in a later tick, in order, and for one caller in each tick: however many long tasks run at the same time, other work of
 * the thread waits for a slice of one of them.
 */
export function backgroundTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    plan();
  });
}

function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  setImmediate(() => {
    isPlanned = false;
    waiting.shift()?.();
    if (waiting.length > 0) plan();
  });
}
