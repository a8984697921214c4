import { setTimeout as pause } from "node:timers/promises";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { createRowMasker, type RowMasker } from "./mask-rows.ts";

export interface LazyMaskerDeps {
  load(): Promise<RowMasker>;
  pause(ms: number): Promise<void>;
  /** Loading failed and will be tried again. */
  failed(error: unknown): void;
}

/**
 * The masker of rows. Its detectors are loaded for the first text that could contain a finding, because an idle server
 * never needs them.
 */
export interface LazyMasker {
  /** Null until it is loaded. */
  current(): RowMasker | null;
  /** Loads it, with any number of attempts: rows that were not scanned are never kept. */
  loaded(): Promise<void>;
}

const AGAIN_FIRST_MS = 500;
const AGAIN_LAST_MS = 30_000;

export function createLazyMasker({ load, pause, failed }: LazyMaskerDeps): LazyMasker {
  let masker: RowMasker | null = null;
  let loading: Promise<void> | undefined;

  const tryUntilLoaded = async (): Promise<void> => {
    for (let pauseMs = AGAIN_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, AGAIN_LAST_MS)) {
      try {
        masker = await load();
        return;
      } catch (error) {
        // Such as too many open files, which is temporary.
        failed(error);
      }
      await pause(pauseMs);
    }
  };
  return {
    current: () => masker,
    loaded: () => (loading ??= tryUntilLoaded()),
  };
}

/** The masker of event rows, for a thread that keeps them. */
export function loadRowMasker(metrics: MetricRegistry, failed: (error: unknown) => void): LazyMasker {
  const failures = metrics.counter("selvedge_events_masker_failures_total", "Times that the code that masks event rows failed to load");
  return createLazyMasker({
    load: async () => {
      const { createTextMasker, createUndoubtedMasker } = await import("#rules/detectors/masking/text-masker.ts");
      return createRowMasker(createUndoubtedMasker(), createTextMasker);
    },
    pause: (ms) => pause(ms, undefined, { ref: false }),
    failed: (error) => {
      failures.value++;
      failed(error);
    },
  });
}
