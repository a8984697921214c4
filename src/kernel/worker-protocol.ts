import type { MetricSample } from "#kernel/metrics.ts";

/** What a plane's worker thread says to the main thread. */
export type FromWorker =
  | { readonly type: "listening"; readonly addresses: Readonly<Record<string, number>> }
  | { readonly type: "metrics"; readonly request: number; readonly samples: readonly MetricSample[] }
  | { readonly type: "drained" }
  | { readonly type: "log"; readonly level: "debug" | "info" | "warn" | "error"; readonly message: string; readonly fields?: Readonly<Record<string, unknown>> };

/** What the main thread says to a plane's worker thread. */
export type ToWorker =
  | { readonly type: "metrics"; readonly request: number }
  /** Stop accepting, finish what is under way within the time, then answer `drained`. */
  | { readonly type: "drain"; readonly timeoutMs: number };
