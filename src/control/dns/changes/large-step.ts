import { setTimeout as delay } from "node:timers/promises";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Store, Unit, Written } from "#store/database/store.ts";
import type { LargeChange } from "./large-change.ts";

/** Milliseconds before each further attempt; together less than a minute, after which others take an idle change back. */
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 16_000] as const;

/**
 * Runs a unit of a large change, and again if the database is not available for a while: a change of a million records must
 * not end because one of its thousands of units waited too long. `work` gets a draft of the change, which replaces the change
 * once the unit is written.
 */
export async function largeStep<T>(
  store: Store,
  change: LargeChange,
  work: (unit: Unit, draft: LargeChange) => Promise<T>,
): Promise<Written<T>> {
  for (let attempt = 0; ; attempt++) {
    // A unit that took too long may still run; what it does to its draft is without effect.
    const draft: LargeChange = { ...change, counts: { ...change.counts }, waiting: [...change.waiting] };
    try {
      const written = await store.write((unit) => work(unit, draft));
      const { pieces, parts, firstPart, waiting } = draft;
      Object.assign(change, { pieces, parts, firstPart, waiting });
      Object.assign(change.counts, draft.counts);
      return written;
    } catch (error) {
      const waitMs = WAITS_MS[attempt];
      const isAway = error instanceof PlatformError && error.errorName === "database_unavailable";
      if (!isAway || waitMs === undefined) throw error;
      await delay(waitMs);
    }
  }
}
