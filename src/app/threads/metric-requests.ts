import type { MetricSample } from "#kernel/process/metrics.ts";

/** Requests for a thread's metrics in progress; undefined if the thread takes too long or has ended. */
export function createMetricRequests() {
  const waiting = new Map<number, (samples: readonly MetricSample[] | undefined) => void>();
  let last = 0;
  const answer = (request: number, samples: readonly MetricSample[] | undefined): void => {
    waiting.get(request)?.(samples);
    waiting.delete(request);
  };
  return {
    answer,
    answerAll: () => {
      for (const request of [...waiting.keys()]) answer(request, undefined);
    },
    ask: (limitMs: number, post: (request: number) => void): Promise<readonly MetricSample[] | undefined> => {
      const request = ++last;
      const limit = setTimeout(() => answer(request, undefined), limitMs);
      const { promise, resolve } = Promise.withResolvers<readonly MetricSample[] | undefined>();
      waiting.set(request, resolve);
      post(request);
      return promise.finally(() => clearTimeout(limit));
    },
  };
}
