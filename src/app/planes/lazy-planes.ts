import { setTimeout as delay } from "node:timers/promises";
import type { Delta, Op } from "#snapshot/entries.ts";
import type { Log } from "#app/log/log.ts";

/** Planes that had nothing to serve at the start: they start with the first change that brings something, or the first visitor. */
export interface LazyPlanes {
  /** Starts them, if they have not been started. */
  wake(): void;
  /** Whether nothing has woken them yet. */
  isIdle(): boolean;
  /** Whether they were started and do not serve yet. */
  isWaking(): boolean;
  /** Resolves when they serve, if they are starting, or after the time; true if they serve. */
  awake(withinMs: number): Promise<boolean>;
  /** Prevents further starts. */
  stop(): void;
}

export interface LazyPlanesDeps {
  /** For the log. */
  readonly name: string;
  readonly log: Log;
  /** Resolves when all of them serve. */
  start(): Promise<void>;
  /** Ends the remains of a failed start; the next start finds the ports free. */
  undo(): Promise<void>;
  readonly retryMs?: number;
}

/** Time between a failed start and the next one. */
const RETRY_MS = 5_000;

export function createLazyPlanes({ name, log, start, undo, retryMs = RETRY_MS }: LazyPlanesDeps): LazyPlanes {
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
        log.error({ err: error }, `starting the ${name} failed; trying again`);
        await undo();
        await delay(retryMs, undefined, { ref: false });
      }
    }
  };
  return {
    wake: () => {
      if (!isStopped) waking ??= begin();
    },
    isIdle: () => waking === null,
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

/** Whether a change may have added something of the kind; null: some changes are missing. */
export const mayContain = (added: Op["kind"], delta: Delta | null): boolean =>
  delta === null || delta.ops.some(({ kind, value }) => kind === added && value !== null);
