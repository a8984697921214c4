import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Fault } from "#store/queries/session.ts";

/** What clients and probes are told of each fault; where and why is for the log. */
export const FAULT_REASONS: Readonly<Record<Fault, string>> = {
  database_unavailable: "it does not answer",
  database_damaged: "it is damaged; the operator restores it from a backup, or looks with selvedge doctor",
  storage_full: "its disk is full",
};

/** Whether the database takes writes. */
export interface StoreHealth {
  /** Why not, or null. Asked often, it answers from what it found a moment ago. */
  reason(): Promise<string | null>;
  /** A write has failed: where there is no room for it there may still be some for the look's small one. */
  failed(error: unknown): void;
}

/** So long after a write that had no room the next one is expected to fail as well. */
const FULL_FOR_MS = 10_000;

/** Whoever asks over the network makes no more writes than these. */
const LOOK_EVERY_MS = 1_000;
const LOOK_LIMIT_MS = 3_000;

/** `write` changes a row to what it is, so that it reaches the disk as any other write does. */
export function createStoreHealth({ clock, write }: { readonly clock: Clock; write(): Promise<void> }): StoreHealth {
  let looking: Promise<string | null> | null = null;
  let lookedMs = Number.NEGATIVE_INFINITY;
  let fullMs: number | null = null;
  const look = async (): Promise<string | null> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(FAULT_REASONS.database_unavailable), LOOK_LIMIT_MS);
    });
    const written = write().then(
      () => null,
      (error: unknown) =>
        error instanceof PlatformError && error.errorName in FAULT_REASONS
          ? FAULT_REASONS[error.errorName as Fault]
          : `it refuses writes: ${error instanceof Error ? error.message : String(error)}`,
    );
    try {
      return await Promise.race([written, late]);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    reason: () => {
      const nowMs = clock.monotonicMs();
      if (fullMs !== null && nowMs - fullMs < FULL_FOR_MS) return Promise.resolve(FAULT_REASONS.storage_full);
      if (looking === null || nowMs - lookedMs >= LOOK_EVERY_MS) {
        lookedMs = nowMs;
        looking = look();
      }
      return looking;
    },
    failed: (error) => {
      if (error instanceof PlatformError && error.errorName === "storage_full") fullMs = clock.monotonicMs();
    },
  };
}
