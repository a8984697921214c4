import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Fault } from "#store/queries/session.ts";

/** The reason of each fault for clients and probes; paths and details belong in the log. */
export const FAULT_REASONS: Readonly<Record<Fault, string>> = {
  database_unavailable: "it does not answer",
  database_damaged: "it is damaged; the operator restores it from a backup, or rebuilds it with selvedge doctor --rebuild",
  database_replaced: "its file was replaced or removed while the server was running; the operator restarts the server",
  storage_full: "its disk is full",
};

/** Whether the database accepts writes. */
export interface StoreHealth {
  /** The reason if it does not, or null. The result is cached for a moment. */
  reason(): Promise<string | null>;
  /** Reports a failed write, because on a full disk the small write of the check may still succeed. */
  failed(error: unknown): void;
}

/** After a write failed on a full disk, the store counts as full for this long. */
const FULL_FOR_MS = 10_000;

/** Minimum interval between two checks, so that requests cannot cause more writes. */
const LOOK_EVERY_MS = 1_000;
const LOOK_LIMIT_MS = 3_000;

/** `write` rewrites a row with the same values, so that it reaches the disk like any other write. */
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
