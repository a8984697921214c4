import { setTimeout as delay } from "node:timers/promises";
import { PlatformError } from "#kernel/errors/errors.ts";
import { markUnit } from "#store/dns/dns-imports.ts";
import type { Store, Unit, Written } from "#store/database/store.ts";
import type { LargeChange } from "./large-change.ts";

/** Milliseconds before each further attempt; together less than a minute, after which others take an idle change back. */
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 16_000] as const;

/**
 * Runs a unit of a large change, and again if the database is not available for a while: a change of a million records must
 * not end because one of its thousands of units waited too long. A unit that was committed although that was not reported does not run
 * again. `work` gets a draft of the change, which replaces the change once the unit is written.
 */
export async function largeStep<T>(
  store: Store,
  change: LargeChange,
  work: (unit: Unit, draft: LargeChange) => Promise<T>,
): Promise<Written<T>> {
  const number = change.units + 1;
  // A run that took too long may still go on; its draft counts only if the database says that this run was committed.
  const runs: { readonly draft: LargeChange; readonly result: T }[] = [];
  let begun = 0;
  for (let attempt = 0; ; attempt++) {
    try {
      const once = async (unit: Unit): Promise<number> => {
        const own = ++begun;
        const done = (await markUnit(unit.db, change.row, number, own)) ?? own;
        if (done !== own) return done;
        const draft: LargeChange = { ...change, units: number, counts: { ...change.counts }, waiting: [...change.waiting] };
        const result = await work(unit, draft);
        runs[own] = { draft, result };
        return own;
      };
      const { result: run, rev } = await store.write(once, { bulkOf: change.zone.account_id });
      const { draft, result } = runs[run]!;
      const { units, pieces, parts, firstPart, waiting } = draft;
      Object.assign(change, { units, pieces, parts, firstPart, waiting });
      Object.assign(change.counts, draft.counts);
      return { result, rev };
    } catch (error) {
      const waitMs = WAITS_MS[attempt];
      const isAway = error instanceof PlatformError && error.errorName === "database_unavailable";
      if (!isAway || waitMs === undefined) throw error;
      await delay(waitMs);
    }
  }
}
