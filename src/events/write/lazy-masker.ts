import type { RowMasker } from "./mask-rows.ts";

export interface LateMaskerDeps {
  load(): Promise<RowMasker>;
  pause(ms: number): Promise<void>;
  /** It could not be loaded and is tried again. */
  failed(error: unknown): void;
}

/** The masker of rows, whose detectors most of an idle server's life nobody needs: they are loaded for the first text in which something could be. */
export interface LateMasker {
  /** Null until it is loaded. */
  current(): RowMasker | null;
  /** Loads it, however often that takes: rows that nobody has looked through are never kept. */
  loaded(): Promise<void>;
}

const AGAIN_FIRST_MS = 500;
const AGAIN_LAST_MS = 30_000;

export function createLateMasker({ load, pause, failed }: LateMaskerDeps): LateMasker {
  let masker: RowMasker | null = null;
  let loading: Promise<void> | undefined;

  const tryUntilLoaded = async (): Promise<void> => {
    for (let pauseMs = AGAIN_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, AGAIN_LAST_MS)) {
      try {
        masker = await load();
        return;
      } catch (error) {
        // Such as of too many open files, which pass.
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
