import { setTimeout as delay } from "node:timers/promises";
import type { Delta } from "#snapshot/entries.ts";
import type { Log } from "#app/log/log.ts";

/** The planes that serve zones, where there was no zone at the start: they come with the first one, or the first visitor. */
export interface LateZonePlanes {
  /** Starts them, if that has not been done. */
  wake(): void;
  /** Whether they were started and do not serve yet. */
  isWaking(): boolean;
  /** Resolves when they serve, if they are starting, or after the time; whether they do. */
  awake(withinMs: number): Promise<boolean>;
  /** They are not started any more. */
  stop(): void;
}

export interface LateZonePlanesDeps {
  readonly log: Log;
  /** Resolves when all of them serve. */
  start(): Promise<void>;
  /** What a start that failed has left is ended; the next one finds the ports free. */
  undo(): Promise<void>;
  readonly retryMs?: number;
}

/** Between a start that failed and the next one. */
const RETRY_MS = 5_000;

export function createLateZonePlanes({ log, start, undo, retryMs = RETRY_MS }: LateZonePlanesDeps): LateZonePlanes {
  let waking: Promise<void> | null = null;
  let isAwake = false;
  let isStopped = false;
  const begin = async (): Promise<void> => {
    while (!isStopped && !isAwake) {
      try {
        await start();
        isAwake = true;
      } catch (error) {
        if (isStopped) return;
        log.error({ err: error }, "starting the zone planes failed; retrying");
        await undo();
        await delay(retryMs, undefined, { ref: false });
      }
    }
  };
  return {
    wake: () => {
      if (!isStopped) waking ??= begin();
    },
    isWaking: () => waking !== null && !isAwake,
    awake: async (withinMs) => {
      const limit = new AbortController();
      await Promise.race([waking, delay(withinMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
      limit.abort();
      return isAwake;
    },
    stop: () => {
      isStopped = true;
    },
  };
}

/** Whether a change may have brought a zone; null: some changes are missing. */
export const mayBringZone = (delta: Delta | null): boolean =>
  delta === null || delta.ops.some(({ kind, value }) => kind === "zone" && value !== null);
