import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { importOfZone } from "#store/dns/dns-imports.ts";
import { updateIncomingState } from "#store/dns/incoming-transfers.ts";
import type { Store } from "#store/database/store.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import { fetchZone, type FetchDeps } from "./fetch-zone.ts";
import type { Outcomes } from "./outcomes.ts";
import type { PrimaryLimits } from "./primary-client.ts";
import { createRecordBudget } from "./record-budget.ts";
import { type ZoneSource, zoneSource } from "./zone-source.ts";

/**
 * Queries the zone's peers in sequence, the one at the address `first` before the others, until one answers, and applies
 * the answer. Rejects if the failure is not caused by the peers; the zone's status also reports it.
 */
export type CheckZone = (zoneId: string, signal: AbortSignal, first?: string) => Promise<"done" | "stopped">;

export interface CheckZoneDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly outcomes: Outcomes;
  readonly limits: Omit<PrimaryLimits, "recordsMax">;
  readonly primaryAllowed: AddressPolicy;
  /** Limit of records of all running transfers together. */
  readonly memoryBytesMax: number;
  /** Limit of records per zone of the plan. */
  recordsPerZoneMax(plan: string): number;
  /** Records that are transferred of an unproved zone, including SOA and signatures. */
  readonly unprovedRecordsMax: number;
}

/**
 * An unproved zone only answers for its apex, so it queries its primaries, which may belong to others, at most this
 * often. Records beyond `unprovedRecordsMax` are transferred after the proof.
 */
const UNPROVED_EVERY_MS = 3_600_000;
const waitsForProof = ({ zone }: ZoneSource): boolean => zone.status === "pending" || zone.status === "initializing";

/** Interval of checks while another large change of the zone is written, or taken back after its process has ended. */
const OTHER_CHANGE_EVERY_MS = 2_000;

/** Attempts to plan a transfer while others change the zone. */
const PLANS_MAX = 3;
/** Factor for transferred records that are not stored: SOA records, signatures and other records of signing. */
const RECORDS_FACTOR = 4;

export function createCheckZone(deps: CheckZoneDeps): CheckZone {
  const { store, sealer, outcomes, clock } = deps;
  const read = async (zoneId: string, first?: string): Promise<ZoneSource | undefined> => {
    const source = await zoneSource(store.read, sealer, zoneId);
    return source && { ...source, peers: source.peers.toSorted((a, b) => Number(b.address === first) - Number(a.address === first)) };
  };
  const budget = createRecordBudget(deps.memoryBytesMax);
  const recordsMax = (source: ZoneSource): number => {
    const ofPlan = deps.recordsPerZoneMax(source.zone.plan) * RECORDS_FACTOR;
    return waitsForProof(source) ? Math.min(ofPlan, deps.unprovedRecordsMax) : ofPlan;
  };
  const fetchDeps = (source: ZoneSource): FetchDeps => ({
    store,
    outcomes,
    budget,
    accountId: source.zone.account_id,
    primaryAllowed: deps.primaryAllowed,
    limits: { ...deps.limits, recordsMax: recordsMax(source) },
    nowSeconds: () => Math.floor(clock.nowMs() / 1000),
  });

  const later = async (zoneId: string, next_check_ms: number): Promise<"done"> => {
    await store.write(({ db }) => updateIncomingState(db, zoneId, { next_check_ms }));
    return "done";
  };
  const askPeers = async (zoneId: string, signal: AbortSignal, first: string | undefined): Promise<"done" | "stopped"> => {
    const reasons: string[] = [];
    let source = await read(zoneId, first);
    // Also applies to a NOTIFY, a request of its owner and a shorter interval in its SOA.
    const soonestMs = source !== undefined && waitsForProof(source) ? (source.state.checked_ms ?? 0) + UNPROVED_EVERY_MS : 0;
    if (soonestMs > clock.nowMs()) return later(zoneId, soonestMs);
    // Its primaries are not to blame for it.
    if (source && (await importOfZone(store.read, zoneId))) return later(zoneId, clock.nowMs() + OTHER_CHANGE_EVERY_MS);
    let plans = 1;
    for (let at = 0; ;) {
      const peer = source?.peers[at];
      if (!source || !peer) break;
      try {
        if ((await fetchZone(fetchDeps(source), source, peer, signal)) !== "moved") return "done";
        if (plans++ >= PLANS_MAX) throw new TransferError("the zone was changed locally during the transfer");
        source = await read(zoneId, first);
      } catch (error) {
        if (!(error instanceof TransferError)) throw error;
        if (signal.aborted) return "stopped";
        reasons.push(`${peer.label}: ${error.message}`);
        at += 1;
      }
    }
    if (source) await outcomes.failed(source, reasons.length > 0 ? reasons : ["none of the zone's peers has an address"]);
    return "done";
  };

  return async (zoneId, signal, first) => {
    try {
      return await askPeers(zoneId, signal, first);
    } catch (error) {
      const source = await read(zoneId);
      if (source) await outcomes.failed(source, ["an internal error occurred; see the server's log"]);
      throw error;
    }
  };
}
