import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { systemCall } from "#control/call.ts";
import type { RecordChanger } from "#control/dns/changes/change-records.ts";
import { claimIncoming, dueIncoming, updateIncomingState } from "#store/dns/incoming-transfers.ts";
import type { Store } from "#store/database/store.ts";
import { createCheckZone } from "./check-zone.ts";
import { type CheckReport, createOutcomes } from "./outcomes.ts";
import type { PrimaryLimits } from "./primary-client.ts";
import { CHECK_MS_MAX } from "./timers.ts";

/** Keeps zones of type secondary what their primaries say they are. */
export interface Secondaries {
  /**
   * Starts the checks that are due, as many as may be under way at once, and resolves to how many those are. Rejects where a
   * check since the last call failed for another reason than the peers: that is the program's fault.
   */
  startDue(): Promise<number>;
  /**
   * The zone is to be checked at once, or again when the check under way is done: a peer says that it has changed (RFC 1996).
   * The one at the address is asked first, since others may not know of it yet.
   */
  notified(zoneId: string, from?: string): Promise<void>;
  /** Starts what is due, without waiting for it. */
  wake(): void;
  /** Resolves when no check is under way or about to be. */
  idle(): Promise<void>;
  /** Ends the checks under way, which leaves their zones as they are. */
  close(): Promise<void>;
}

export interface SecondariesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly changer: RecordChanger;
  /** Whether a primary may be at this address. */
  readonly primaryAllowed: AddressPolicy;
  /** Records that one zone of the plan may have. */
  recordsPerZoneMax(plan: string): number;
  /** Told how each check ended. */
  readonly report?: ((report: CheckReport) => void) | undefined;
  /** Between 0 and 1; Math.random unless given. */
  readonly random?: () => number;
  readonly limits?: Partial<SecondaryLimits>;
}

export interface SecondaryLimits extends Omit<PrimaryLimits, "recordsMax"> {
  /** Zones that are checked at once. */
  readonly zonesAtOnce: number;
  /** Records that transfers under way hold together. One takes some 400 bytes of memory. */
  readonly recordsAtOnceMax: number;
  /** Records of a zone that nothing proves. */
  readonly unprovedRecordsMax: number;
}

const LIMITS: SecondaryLimits = {
  idleTimeoutMs: 15_000,
  totalTimeoutMs: 300_000,
  bytesMax: 512 * 1024 * 1024,
  zonesAtOnce: 8,
  recordsAtOnceMax: 4_000_000,
  unprovedRecordsMax: 10_000,
};

/** Between two checks that a peer asks for. */
const NOTIFIED_AGAIN_MS = 1_000;
/** A node that has not said for so long that it is still checking a zone leaves it to the others, and to its next start. */
const CLAIM_MS = 60_000;

export function createSecondaries(deps: SecondariesDeps): Secondaries {
  const { store, clock, random = Math.random, report = () => {} } = deps;
  const limits: SecondaryLimits = { ...LIMITS, ...deps.limits };
  const outcomes = createOutcomes({ ...deps, random, report, call: () => systemCall("secondary-zones") });
  const checkZone = createCheckZone({
    ...deps,
    outcomes,
    limits,
    recordsAtOnceMax: limits.recordsAtOnceMax,
    unprovedRecordsMax: limits.unprovedRecordsMax,
  });
  /** By zone; true where it has to be looked at again afterwards. */
  const underWay = new Map<string, boolean>();
  /** Addresses of the peers to ask first, by zone. */
  const announcers = new Map<string, string>();
  const work = new Set<Promise<void>>();
  const stop = new AbortController();
  let failure: unknown;

  const follow = (started: Promise<unknown>): void => {
    const done: Promise<void> = started
      .then(
        () => undefined,
        (error: unknown) => void (failure ??= error),
      )
      .finally(() => work.delete(done));
    work.add(done);
  };
  const dueIn = async (zoneId: string, ms: number): Promise<void> => {
    await store.write(({ db }) => updateIncomingState(db, zoneId, { next_check_ms: clock.nowMs() + ms }));
  };

  const check = async (zoneId: string, claimedMs: number): Promise<void> => {
    const claim = keepClaim(deps, zoneId, claimedMs);
    const announcer = announcers.get(zoneId);
    announcers.delete(zoneId);
    try {
      // What was not finished is due when the server starts again.
      if ((await checkZone(zoneId, stop.signal, announcer)) === "stopped") await dueIn(zoneId, 0);
    } finally {
      await claim.end();
      const again = underWay.get(zoneId);
      underWay.delete(zoneId);
      if (again === true) await dueIn(zoneId, NOTIFIED_AGAIN_MS);
    }
  };

  const startWhatIsDue = async (): Promise<number> => {
    const now = clock.nowMs();
    // Those under way are not due, unless somebody has said so meanwhile: they take no other zone's place.
    const zones = stop.signal.aborted ? [] : await dueIncoming(store.read, now, now + CHECK_MS_MAX, limits.zonesAtOnce + underWay.size);
    let started = 0;
    for (const { zone_id, next_check_ms } of zones) {
      if (underWay.size >= limits.zonesAtOnce) break;
      if (underWay.has(zone_id)) continue;
      underWay.set(zone_id, false);
      const claimed = await store.write(({ db }) => claimIncoming(db, zone_id, next_check_ms, now + CLAIM_MS));
      if (!claimed.result) underWay.delete(zone_id);
      else {
        follow(check(zone_id, now + CLAIM_MS));
        started += 1;
      }
    }
    return started;
  };
  const wake = (): void => follow(startWhatIsDue());

  return {
    startDue: async () => {
      if (failure !== undefined) {
        const thrown = failure;
        failure = undefined;
        throw thrown;
      }
      return startWhatIsDue();
    },
    wake,
    notified: async (zoneId, from) => {
      if (from !== undefined) announcers.set(zoneId, from);
      if (underWay.has(zoneId)) underWay.set(zoneId, true);
      else {
        await dueIn(zoneId, 0);
        wake();
      }
    },
    idle: async () => {
      while (work.size > 0) await Promise.all(work);
    },
    close: async () => {
      stop.abort();
      await Promise.all(work);
    },
  };
}

/** Says again and again that the check is still under way, unless somebody wants another one meanwhile. */
function keepClaim(
  { store, clock }: Pick<SecondariesDeps, "store" | "clock">,
  zoneId: string,
  claimedMs: number,
): { end(): Promise<void> } {
  let seenMs = claimedMs;
  let renewal: Promise<unknown> = Promise.resolve();
  const renew = async (): Promise<void> => {
    const untilMs = clock.nowMs() + CLAIM_MS;
    const { result } = await store.write(({ db }) => claimIncoming(db, zoneId, seenMs, untilMs));
    if (result) seenMs = untilMs;
  };
  // A renewal that fails is as good as none: the zone is then checked by two at once, which the last of them notices.
  const timer = setInterval(() => (renewal = renew().catch(() => undefined)), CLAIM_MS / 3).unref();
  return {
    end: async () => {
      clearInterval(timer);
      await renewal;
    },
  };
}
