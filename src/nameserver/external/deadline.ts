/**
 * Runs the work under a signal that fires at the timeout or with the signal `above`. Removes its listener and timer when
 * the work ends: with AbortSignal.any, a signal that lives as long as the process would collect them.
 */
export async function underDeadline<T>(timeoutMs: number, above: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  above.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(above.reason);
  above.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(() => controller.abort(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    above.removeEventListener("abort", abort);
  }
}
