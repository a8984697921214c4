import { type Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { addIssuance, forgetIssuances, hostnameIssuances, lockIssuances } from "#store/hostnames/hostname-issuances.ts";
import type { Store, Unit } from "#store/database/store.ts";

const WINDOW_MS = 60_000;
/** SPEC 8: "Lock-out after exceeding the rate". */
const LOCKED_MS = 30_000;

/** Limits the certificates per account and minute; only successful requests count (SPEC 8). */
export interface IssuanceLimit {
  /**
   * Counts a certificate in the unit that creates the hostname, so that failures are not counted. Throws
   * `hostname_issuance_locked`.
   */
  take(unit: Unit, accountId: string): Promise<void>;
  /** Runs `work`, which takes one; locks the account if the limit was exceeded. */
  watch<T>(accountId: string, work: () => Promise<T>): Promise<T>;
}

class Exceeded extends Error {}

export function createIssuanceLimit(deps: { readonly store: Store; readonly clock: Clock; readonly perMinuteMax: number }): IssuanceLimit {
  const { store, clock, perMinuteMax } = deps;
  return {
    take: async ({ db }, accountId) => {
      const nowMs = clock.nowMs();
      const row = await hostnameIssuances(db, accountId);
      const lockedMs = (row?.locked_until_ms ?? 0) - nowMs;
      // A lock that ends later than any new lock would was set by a clock that was ahead.
      if (lockedMs > 0 && lockedMs <= LOCKED_MS) throw locked(lockedMs);
      const recent = (row?.taken ?? 0) - (await forgetIssuances(db, accountId, { fromMs: nowMs - WINDOW_MS, nowMs }));
      if (recent >= perMinuteMax) throw new Exceeded();
      await addIssuance(db, accountId, nowMs, recent + 1);
    },
    watch: async (accountId, work) => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Exceeded)) throw error;
        await store.write(({ db }) => lockIssuances(db, accountId, clock.nowMs() + LOCKED_MS));
        throw locked(LOCKED_MS);
      }
    },
  };
}

const locked = (ms: number): PlatformError =>
  new PlatformError("hostname_issuance_locked", { headers: { "retry-after": String(Math.ceil(ms / 1000)) } });
