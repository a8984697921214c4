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
import { createShares } from "#kernel/shares.ts";
import { CHECK_MS_MAX } from "./timers.ts";

/** Keeps secondary zones in sync with their primaries. */
export interface Secondaries {
  /**
   * Starts due checks, up to the limit of concurrent ones, and resolves to their number. Rejects if a check since the
   * last call failed for a reason other than its peers, which is a defect.
   */
  startDue(): Promise<number>;
  /**
   * Checks the zone at once, or again after a running check, because a peer announced a change (RFC 1996). Queries the
   * peer at the address first, because others may not have the change yet.
   */
  notified(zoneId: string, from?: string): Promise<void>;
  /** Starts due checks without waiting for them. */
  wake(): void;
  /** Resolves when no check is running or about to start. */
  idle(): Promise<void>;
  /** Aborts running checks, which leaves their zones unchanged. */
  close(): Promise<void>;
}

export interface SecondariesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly changer: RecordChanger;
  /** Whether a primary may have this address. */
  readonly primaryAllowed: AddressPolicy;
  /** Limit of records per zone of the plan. */
  recordsPerZoneMax(plan: string): number;
  /** Called with the result of each check. */
  readonly report?: ((report: CheckReport) => void) | undefined;
  /** Between 0 and 1; default: Math.random. */
  readonly random?: () => number;
  readonly limits?: Partial<SecondaryLimits>;
}

export interface SecondaryLimits extends Omit<PrimaryLimits, "recordsMax"> {
  /** Concurrent checks; those of one account are at most half of them. */
  readonly zonesAtOnce: number;
  /**
   * Bytes of records that running transfers hold together, three quarters of them those of one account. A short record takes 300; the process
   * grows by more, since its garbage stays for a while.
   */
  readonly memoryBytesMax: number;
  /** Limit of records of an unproved zone. */
  readonly unprovedRecordsMax: number;
}

const LIMITS: SecondaryLimits = {
  idleTimeoutMs: 15_000,
  totalTimeoutMs: 300_000,
  bytesMax: 512 * 1024 * 1024,
  zonesAtOnce: 16,
  memoryBytesMax: 1024 * 1024 * 1024,
  unprovedRecordsMax: 10_000,
};

/** Part of the free places that the checks of one account can hold: primaries that never finish leave the rest to others. */
const ACCOUNT_SHARE = 0.5;
/** Minimum interval between two checks that peers announce. */
const NOTIFIED_AGAIN_MS = 1_000;
/** A node that does not renew its claim for this long loses the zone's check to other nodes, or to its next start. */
const CLAIM_MS = 60_000;

export function createSecondaries(deps: SecondariesDeps): Secondaries {
  const { store, clock, random = Math.random, report = () => {} } = deps;
  const limits: SecondaryLimits = { ...LIMITS, ...deps.limits };
  const outcomes = createOutcomes({ ...deps, random, report, call: () => systemCall("secondary-zones") });
  const checkZone = createCheckZone({
    ...deps,
    outcomes,
    limits,
    memoryBytesMax: limits.memoryBytesMax,
    unprovedRecordsMax: limits.unprovedRecordsMax,
  });
  const places = createShares({ total: limits.zonesAtOnce, share: ACCOUNT_SHARE });
  /** Running checks by zone; true: check again afterwards. */
  const underWay = new Map<string, boolean>();
  /** Addresses of the peers to query first, by zone. */
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

  const check = async (zoneId: string, accountId: string, claimedMs: number): Promise<void> => {
    const claim = keepClaim(deps, zoneId, claimedMs);
    const announcer = announcers.get(zoneId);
    announcers.delete(zoneId);
    try {
      // An aborted check becomes due at the next start.
      if ((await checkZone(zoneId, stop.signal, announcer)) === "stopped") await dueIn(zoneId, 0);
    } finally {
      await claim.end();
      const again = underWay.get(zoneId);
      underWay.delete(zoneId);
      places.release(accountId, 1);
      if (again === true) await dueIn(zoneId, NOTIFIED_AGAIN_MS);
    }
  };

  const startWhatIsDue = async (): Promise<number> => {
    const now = clock.nowMs();
    // Zones with a running check are usually not due; the limit is increased by their number so that they do not displace
    // others.
    const most = limits.zonesAtOnce + underWay.size;
    let started = 0;
    // Zones of an account that has its share of the places do not displace those of others either.
    for (let isMore = !stop.signal.aborted; isMore;) {
      const full = places.full();
      const zones = await dueIncoming(store.read, now, now + CHECK_MS_MAX, most, full);
      for (const { zone_id, account_id, next_check_ms } of zones) {
        if (underWay.has(zone_id) || !places.take(account_id, 1)) continue;
        underWay.set(zone_id, false);
        const claimed = await store.write(({ db }) => claimIncoming(db, zone_id, next_check_ms, now + CLAIM_MS));
        if (claimed.result) {
          follow(check(zone_id, account_id, now + CLAIM_MS));
          started += 1;
        } else {
          underWay.delete(zone_id);
          places.release(account_id, 1);
        }
      }
      isMore = zones.length === most && places.full().length > full.length;
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

/** Renews the claim regularly, unless another check is requested meanwhile. */
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
  // If a renewal fails, two nodes may check the zone at once, which the later one detects.
  const timer = setInterval(() => (renewal = renew().catch(() => undefined)), CLAIM_MS / 3).unref();
  return {
    end: async () => {
      clearInterval(timer);
      await renewal;
    },
  };
}
