import assert from "node:assert/strict";

/** Below it collections and compilations are most of the measured time. */
const NOTICEABLE_MS = 50;
const TRIES_MAX = 6;
/** A slower measurement is not repeated. */
const TRIES_MS_MAX = 3000;
/** Between linear, which is 4, and quadratic, which is 16. */
const RATIO_MAX = 9;

/**
 * Fails if four times the input costs far more than four times the time. `make` returns the work for an input of the
 * given length. Only the ratio of two measurements counts, each the best of several, and only the thread's own CPU
 * time, so that a busy machine does not matter.
 */
export function assertGrowsLinearly(what: string, make: (length: number) => () => unknown, length = 32 * 1024): void {
  const [small, large] = [make(length), make(4 * length)];
  let [smallMs, largeMs] = [Infinity, Infinity];
  const from = performance.now();
  for (let tries = 0; tries < TRIES_MAX && (tries < 2 || performance.now() - from < TRIES_MS_MAX); tries++) {
    largeMs = Math.min(largeMs, timed(large));
    if (largeMs < NOTICEABLE_MS) return;
    smallMs = Math.min(smallMs, timed(small));
    if (largeMs < smallMs * RATIO_MAX) return;
  }
  assert.fail(`${what}: ${length} characters take ${smallMs.toFixed(1)} ms, four times as many ${largeMs.toFixed(1)} ms`);
}

/** CPU time of this thread only; other work of the machine is not counted. */
function timed(work: () => unknown): number {
  const from = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(from);
  return (user + system) / 1000;
}
