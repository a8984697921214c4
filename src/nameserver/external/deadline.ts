/**
 * Runs the work under a signal that fires when its time is over, or with the signal above it. Both are let go of when the
 * work ends: with AbortSignal.any, one that lives as long as the process would remember each that hung on it.
 */
export async function underDeadline<T>(timeoutMs: number, above: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  above.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(above.reason);
  above.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(() => controller.abort(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    above.removeEventListener("abort", abort);
  }
}
