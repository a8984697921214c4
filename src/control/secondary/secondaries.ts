import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/seal.ts";
import { systemCall } from "#control/call.ts";
import type { RecordChanger } from "#control/dns/change-records.ts";
import { claimIncoming, dueIncoming, updateIncomingState } from "#store/incoming-transfers.ts";
import type { Store } from "#store/store.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import { fetchZone, type FetchDeps } from "./fetch-zone.ts";
import { type CheckReport, createOutcomes } from "./outcomes.ts";
import type { PrimaryLimits } from "./primary-client.ts";
import { type ZoneSource, zoneSource } from "./zone-source.ts";

/** Keeps zones of type secondary what their primaries say they are. */
export interface Secondaries {
  /**
   * Starts the checks that are due, as many as may be under way at once, and resolves to how many those are. Rejects where a
   * check since the last call failed for another reason than the peers: that is the program's fault.
   */
  startDue(): Promise<number>;
  /** The zone is to be checked at once, or again when the check under way is done: a peer says that it has changed (RFC 1996). */
  notified(zoneId: string): Promise<void>;
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
}

const LIMITS: SecondaryLimits = { idleTimeoutMs: 15_000, totalTimeoutMs: 300_000, bytesMax: 512 * 1024 * 1024, zonesAtOnce: 8 };

/** Between two checks that a peer asks for. */
const NOTIFIED_AGAIN_MS = 1_000;
/** Tries to plan a transfer while somebody else keeps changing the zone. */
const PLANS_MAX = 3;
/** SOA records, signatures and what signing adds are not records here, but are transferred. */
const RECORDS_FACTOR = 4;

export function createSecondaries(deps: SecondariesDeps): Secondaries {
  const { store, clock, sealer, random = Math.random } = deps;
  const limits: SecondaryLimits = { ...LIMITS, ...deps.limits };
  const outcomes = createOutcomes({ ...deps, random, call: () => systemCall("secondary-zones"), report: deps.report ?? (() => {}) });
  /** By zone; true where it has to be looked at again afterwards. */
  const underWay = new Map<string, boolean>();
  const runs = new Set<Promise<void>>();
  const stop = new AbortController();
  let failure: unknown;

  const fetchDeps = ({ zone }: ZoneSource): FetchDeps => ({
    store,
    outcomes,
    limits: { ...limits, recordsMax: deps.recordsPerZoneMax(zone.plan) * RECORDS_FACTOR },
    nowSeconds: () => Math.floor(clock.nowMs() / 1000),
  });

  /** Asks the peers one after another until one has an answer. */
  const check = async (zoneId: string): Promise<void> => {
    const reasons: string[] = [];
    let source = await zoneSource(store.read, sealer, zoneId);
    for (let at = 0, plans = 1; source && at < source.peers.length;) {
      const peer = source.peers[at];
      if (!peer) break;
      try {
        if ((await fetchZone(fetchDeps(source), source, peer, stop.signal)) !== "moved") return;
        if (plans++ >= PLANS_MAX) throw new TransferError("the zone was changed here while it was transferred");
        source = await zoneSource(store.read, sealer, zoneId);
      } catch (error) {
        if (!(error instanceof TransferError)) throw error;
        // What was not finished is due when the server starts again.
        if (stop.signal.aborted) return await due(zoneId, 0);
        reasons.push(`${peer.label}: ${error.message}`);
        at += 1;
      }
    }
    if (source) await outcomes.failed(source, reasons.length > 0 ? reasons : ["none of the zone's peers has an address"]);
  };

  const run = async (zoneId: string): Promise<void> => {
    underWay.set(zoneId, false);
    try {
      await check(zoneId);
    } catch (error) {
      failure ??= error;
      const source = await zoneSource(store.read, sealer, zoneId);
      if (source) await outcomes.failed(source, ["this server failed, as its log says"]);
    } finally {
      const again = underWay.get(zoneId);
      underWay.delete(zoneId);
      if (again === true) await due(zoneId, NOTIFIED_AGAIN_MS);
    }
  };

  const due = async (zoneId: string, inMs: number): Promise<void> => {
    await store.write(({ db }) => updateIncomingState(db, zoneId, { next_check_ms: clock.nowMs() + inMs }));
  };

  const follow = (work: Promise<unknown>): void => {
    const done: Promise<void> = work
      .then(
        () => undefined,
        (error: unknown) => void (failure ??= error),
      )
      .finally(() => runs.delete(done));
    runs.add(done);
  };

  const startWhatIsDue = async (): Promise<number> => {
    const now = clock.nowMs();
    // Those under way are not due, unless somebody has said so meanwhile: they take no other zone's place.
    const zones = stop.signal.aborted ? [] : await dueIncoming(store.read, now, limits.zonesAtOnce + underWay.size);
    let started = 0;
    for (const { zone_id, next_check_ms } of zones) {
      if (underWay.size >= limits.zonesAtOnce) break;
      if (underWay.has(zone_id)) continue;
      underWay.set(zone_id, false);
      const claimed = await store.write(({ db }) => claimIncoming(db, zone_id, next_check_ms, now + claimMs(limits)));
      if (!claimed.result) underWay.delete(zone_id);
      else {
        follow(run(zone_id));
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
    notified: async (zoneId) => {
      if (underWay.has(zoneId)) underWay.set(zoneId, true);
      else {
        await due(zoneId, 0);
        wake();
      }
    },
    idle: async () => {
      while (runs.size > 0) await Promise.all(runs);
    },
    close: async () => {
      stop.abort();
      await Promise.all(runs);
    },
  };
}

/** As long as a check may take: a node that dies in it leaves the zone to the others after that. */
const claimMs = ({ totalTimeoutMs }: SecondaryLimits): number => 2 * totalTimeoutMs;
