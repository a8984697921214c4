import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { judgeCheck, type CheckState } from "#model/zones/zone-check.ts";
import type { ZoneProof } from "#model/zones/zone-proof.ts";
import type { ZoneStatus } from "#model/zones/zone.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { certificatesOfZone } from "#store/certificates/certificates.ts";
import { claimOf, claimsDue, deleteClaim, putClaim, type ZoneClaimRow } from "#store/zones/zone-claims.ts";
import { lockZone, zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import { type Admission, admit } from "./admission.ts";
import { checkZoneOwnership, type CheckZoneOwnershipDeps, type ZoneEvidence } from "./check-zone-ownership.ts";
import { newClaim } from "./new-claim.ts";
import type { Pair } from "./pairs.ts";
import type { ParentView } from "./parent-view.ts";
import { pendingReason } from "./pending-reason.ts";
import { rebase } from "./rebase.ts";
import { begin, carryOut, certify, type TransitionDeps } from "./transitions.ts";

type Db = Unit["db"];

/** Ownership of zones: the initial state of new ones, and later checks. */
export interface Ownership {
  /** The state that a zone would start with now, and its parent's view if that matters. */
  foresee(name: string, accountId: string): Promise<{ readonly admission: Admission; readonly parent: ParentView | null }>;
  /** The zone's initial state. Throws as `admit` does. */
  admit(db: Db, name: string, accountId: string, parent: ParentView | null): Promise<Admission>;
  /** Schedules checks of a new zone, if its ownership is open. */
  begin(unit: Unit, zone: ZoneRow): Promise<void>;
  /** The proofs that a zone which is not active waits for, as text for its owner. */
  reasonOf(zone: ZoneRow): string;
  /** Checks the zone and applies the result. Throws `activation_check_too_soon`. */
  lookNow(call: Call, zoneId: string): Promise<void>;
  /** Checks due zones, for a few seconds at most. */
  lookDue(call: Call): Promise<OwnershipChecks>;
}

export interface OwnershipChecks {
  readonly checked: number;
  /** Zones whose state changed, as `example.com: pending → active (delegation)`. */
  readonly changed: readonly string[];
  /** Zones whose parent could not be checked, with the reason. */
  readonly failed: readonly string[];
}

export interface OwnershipDeps extends CheckZoneOwnershipDeps, TransitionDeps {
  readonly store: Store;
  /** The installation's pairs of name servers. */
  readonly pool: readonly Pair[];
}

/** Creating a zone waits for this check. */
const FIRST_LOOK_BUDGET_MS = 3_000;
const CHECKS_AT_A_TIME = 16;
const ZONES_AT_ONCE = 500;
/** No check starts after this time, so that a shutdown does not wait for an unreachable resolver. */
const TURN_MS = 2_000;
const ASK_AGAIN_MS = 60_000;

export function createOwnership(deps: OwnershipDeps): Ownership {
  const { store, clock } = deps;
  const admitted = (db: Db, name: string, accountId: string, parentNames: readonly string[]): Promise<Admission> =>
    admit(deps, db, { name, accountId, parentNames, nowMs: clock.nowMs() });

  const look = async (call: Call, zoneId: string): Promise<{ readonly change: string | null; readonly failed: string | null }> => {
    const [zone, claim] = [await zoneRowById(store.read, zoneId), await claimOf(store.read, zoneId)];
    if (zone === undefined || claim === undefined) return { change: null, failed: null };
    const isSettled = zone.status === "active" && (zone.proof === "operator" || zone.proof === "txt");
    const seen = isSettled ? NOTHING_SEEN : await checkZoneOwnership(deps, zone, claim.since_ms, clock.nowMs());
    const change = await commit(deps, call, (unit) => follow(deps, unit, call, zoneId, seen));
    return { change, failed: seen.failed === null ? null : `${zone.name}: ${seen.failed}` };
  };

  return {
    foresee: async (name, accountId) => {
      const admission = await admitted(store.read, name, accountId, []);
      if (admission.status === "active" || !admission.asksParent) return { admission, parent: null };
      const view = await deps.parentServers(name, FIRST_LOOK_BUDGET_MS);
      return { admission, parent: "reason" in view ? null : view };
    },
    admit: (db, name, accountId, parent) => admitted(db, name, accountId, parent?.nameServers ?? []),
    begin: (unit, zone) => begin(unit, zone, clock.nowMs()),
    reasonOf: (zone) => pendingReason(zone, deps.vendorPrefix),
    lookNow: async (call, zoneId) => {
      await commit(deps, call, async ({ db }) => {
        const zone = (await lockZone(db, zoneId)) ? await zoneRowById(db, zoneId) : undefined;
        if (zone === undefined) throw new PlatformError("zone_not_found");
        const claim = (await claimOf(db, zoneId)) ?? newClaim(zone, clock.nowMs());
        const waitMs = (claim.asked_ms ?? -ASK_AGAIN_MS) + ASK_AGAIN_MS - clock.nowMs();
        if (waitMs > 0)
          throw new PlatformError("activation_check_too_soon", { headers: { "retry-after": String(Math.ceil(waitMs / 1000)) } });
        await putClaim(db, { ...claim, asked_ms: clock.nowMs() });
      });
      await look(call, zoneId);
    },
    lookDue: async (call) => {
      const untilMs = clock.monotonicMs() + TURN_MS;
      const due = await claimsDue(store.read, clock.nowMs(), ZONES_AT_ONCE);
      const [changed, failed]: [string[], string[]] = [[], []];
      let checked = 0;
      const work = async (): Promise<void> => {
        for (;;) {
          const zoneId = due[checked];
          if (zoneId === undefined || clock.monotonicMs() >= untilMs) return;
          checked++;
          const { change, failed: failure } = await look(call, zoneId);
          if (failure !== null) failed.push(failure);
          if (change !== null) changed.push(change);
        }
      };
      await Promise.all(Array.from({ length: CHECKS_AT_A_TIME }, work));
      return { checked, changed, failed };
    },
  };
}

const NOTHING_SEEN: ZoneEvidence = {
  facts: { parentNames: null, pair: [], isPairShared: false, proof: null, isRefusedAbove: false, isFree: false },
  parent: null,
  failed: null,
};

/** Applies a check and describes the change; null if only the check itself is stored. */
async function follow(deps: OwnershipDeps, unit: Unit, call: Call, zoneId: string, seen: ZoneEvidence): Promise<string | null> {
  const locked = (await lockZone(unit.db, zoneId)) ? await zoneRowById(unit.db, zoneId) : undefined;
  const claim = await claimOf(unit.db, zoneId);
  // The zone was deleted or settled during the check.
  if (locked === undefined || claim === undefined) return null;
  const nowMs = deps.clock.nowMs();
  const zone = await rebase(deps, unit, call, locked, seen.parent);
  // The pair has changed, so the delegation that was seen proves nothing.
  const facts = zone.pair === locked.pair ? seen.facts : { ...seen.facts, parentNames: null };
  const { state, event, nextMs } = judgeCheck(stateOf(zone, claim), facts, nowMs);
  if (event !== null) return carryOut(deps, unit, call, zone, event);
  if (zone.status === "active" && deps.issuing !== null && (await certificatesOfZone(unit.db, zoneId)).length === 0) {
    await certify(deps.issuing, unit, zone);
    auditCertified(unit, call, zone);
  }
  if (nextMs === null) await deleteClaim(unit.db, zoneId);
  else
    await putClaim(unit.db, {
      ...claim,
      ...columnsOf(state),
      looks: claim.looks + 1,
      next_look_ms: nowMs + Math.ceil(nextMs),
      reason: seen.failed ?? "",
    });
  return null;
}

function auditCertified(unit: Unit, call: Call, zone: ZoneRow): void {
  unit.audit({
    action: "certificate.issue",
    actor: auditActor(call),
    account_id: zone.account_id,
    zone_id: zone.id,
    resource: { type: "zone", id: zone.id },
  });
}

const stateOf = (zone: ZoneRow, claim: ZoneClaimRow): CheckState => ({
  status: zone.status as ZoneStatus,
  proof: zone.proof as ZoneProof,
  sinceMs: claim.since_ms,
  seenLooks: claim.seen_looks,
  seenMs: claim.seen_ms,
  elsewhereLooks: claim.elsewhere_looks,
  elsewhereSinceMs: claim.elsewhere_since_ms,
});

const columnsOf = (state: CheckState): Partial<ZoneClaimRow> => ({
  seen_looks: state.seenLooks,
  seen_ms: state.seenMs,
  elsewhere_looks: state.elsewhereLooks,
  elsewhere_since_ms: state.elsewhereSinceMs,
});
