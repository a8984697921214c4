import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Store } from "#store/database/store.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import { fetchZone, type FetchDeps } from "./fetch-zone.ts";
import type { Outcomes } from "./outcomes.ts";
import type { PrimaryLimits } from "./primary-client.ts";
import { createRecordBudget } from "./record-budget.ts";
import { type ZoneSource, zoneSource } from "./zone-source.ts";

/**
 * Asks the zone's peers one after another, that at the address `first`, until one has an answer, and has what comes of it done. Rejects where something
 * else than the peers is at fault, which the zone's status says too.
 */
export type CheckZone = (zoneId: string, signal: AbortSignal, first?: string) => Promise<"done" | "stopped">;

export interface CheckZoneDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly outcomes: Outcomes;
  readonly limits: Omit<PrimaryLimits, "recordsMax">;
  readonly primaryAllowed: AddressPolicy;
  /** Records of all transfers under way together. */
  readonly recordsAtOnceMax: number;
  /** Records that one zone of the plan may have. */
  recordsPerZoneMax(plan: string): number;
}

/** Tries to plan a transfer while somebody else keeps changing the zone. */
const PLANS_MAX = 3;
/** SOA records, signatures and what signing adds are not records here, but are transferred. */
const RECORDS_FACTOR = 4;

export function createCheckZone(deps: CheckZoneDeps): CheckZone {
  const { store, sealer, outcomes, clock } = deps;
  const read = async (zoneId: string, first?: string): Promise<ZoneSource | undefined> => {
    const source = await zoneSource(store.read, sealer, zoneId);
    return source && { ...source, peers: source.peers.toSorted((a, b) => Number(b.address === first) - Number(a.address === first)) };
  };
  const budget = createRecordBudget(deps.recordsAtOnceMax);
  const fetchDeps = ({ zone }: ZoneSource): FetchDeps => ({
    store,
    outcomes,
    budget,
    primaryAllowed: deps.primaryAllowed,
    limits: { ...deps.limits, recordsMax: deps.recordsPerZoneMax(zone.plan) * RECORDS_FACTOR },
    nowSeconds: () => Math.floor(clock.nowMs() / 1000),
  });

  const askPeers = async (zoneId: string, signal: AbortSignal, first: string | undefined): Promise<"done" | "stopped"> => {
    const reasons: string[] = [];
    let source = await read(zoneId, first);
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
