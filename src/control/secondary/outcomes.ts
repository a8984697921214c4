import { isoMicros, type Clock } from "#kernel/clock.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { primariesFailingAlert, transferredAlert } from "#control/notifications/alerts/alert.ts";
import { enqueueAlert } from "#control/notifications/policies/enqueue-alert.ts";
import { AT_ONCE_MAX } from "#control/dns/changes/large-change.ts";
import { changeUnit, type RecordChanger } from "#control/dns/changes/change-records.ts";
import { primaryCopy, withPrimaryCopy } from "#model/dns/transferred-apex.ts";
import type { PrimaryCopy } from "#model/dns/primary-copy.ts";
import { serialEntry, zoneEntry } from "#snapshot/compile/zone-entry.ts";
import { updateIncomingState } from "#store/dns/incoming-transfers.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { lockZone, updateZone, zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import type { TransferPlan } from "./plan-transfer.ts";
import { transferPieces } from "./transfer-pieces.ts";
import { expiresAtMs, nextRefreshMs, nextRetryMs } from "./timers.ts";
import type { SourcePeer, ZoneSource } from "./zone-source.ts";

/** Effects of a zone's check, each in one unit. */
export interface Outcomes {
  /**
   * Makes the zone equal to the primary's: records, apex, serial, history and the planes' data, all at once. False if the
   * zone was changed since it was read, so that the plan must be made again.
   */
  applied(source: ZoneSource, peer: SourcePeer, method: TransferMethod, plan: TransferPlan): Promise<boolean>;
  /** A peer has no newer version. An expired zone is answered again. */
  confirmed(source: ZoneSource, peer: SourcePeer): Promise<void>;
  /** No peer answered, for these reasons. A zone that was not confirmed for too long expires. */
  failed(source: ZoneSource, reasons: readonly string[]): Promise<void>;
}

export type TransferMethod = "AXFR" | "IXFR";

/** The result of a zone's check, for monitoring. */
export type CheckReport = { readonly zone: string } & (
  | {
      readonly result: "transferred";
      readonly peer: string;
      readonly method: TransferMethod;
      readonly serial: number;
      readonly changes: number;
    }
  | { readonly result: "confirmed"; readonly peer: string }
  | { readonly result: "failed" | "expired"; readonly reasons: readonly string[] }
);

export interface OutcomesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly changer: RecordChanger;
  /** Between 0 and 1, for jitter. */
  random(): number;
  call(): Call;
  report(report: CheckReport): void;
}

const REASON_LENGTH_MAX = 1000;
/** Consecutive failures before a notification, because a single one may be temporary. */
const ALERT_FAILURES = 2;

export function createOutcomes(deps: OutcomesDeps): Outcomes {
  const { clock, changer, report } = deps;
  const scene = (copy: PrimaryCopy | undefined) => ({ apex: copy?.apex ?? null, nowMs: clock.nowMs(), random: deps.random() });
  const success = (source: ZoneSource, peer: SourcePeer, copy: PrimaryCopy | undefined) => ({
    next_check_ms: nextRefreshMs(scene(copy), source.autoRefreshSeconds),
    // A forced transfer that was requested meanwhile is still pending.
    ...(source.state.forced === 1 ? { forced: 0 } : {}),
    failures: 0,
    checked_ms: clock.nowMs(),
    confirmed_ms: clock.nowMs(),
    peer_id: peer.id,
    last_error: null,
  });

  return {
    applied: async (source, peer, method, plan) => {
      const { apex, changes, added } = plan;
      const call = deps.call();
      const { zone } = source;
      const count = changes.deletes.length + changes.rows.length + added.size;
      const options = { kind: "transfer", reason: `serial ${apex.serial} from ${peer.label} by ${method}` } as const;
      /** Everything except the records. False if the zone was changed meanwhile. */
      const conclude = async (unit: Unit): Promise<boolean> => {
        const row = await lockedRow(unit, zone.id);
        if (row?.serial !== zone.serial || row.type !== zone.type) return false;
        const copy: PrimaryCopy = { expired: false, apex };
        await putCopy(unit, clock, row, copy);
        await updateIncomingState(unit.db, zone.id, { ...success(source, peer, copy), transferred_ms: clock.nowMs(), method });
        const before = { serial: source.copy?.apex?.serial ?? null };
        unit.audit({
          ...auditOf(call, zone, "zone.transfer"),
          before,
          after: { serial: apex.serial, method, peer_id: peer.id, changes: count },
        });
        const alert = (row: ZoneRow) => transferredAlert(row, peer.label, apex.serial, count);
        await enqueueAlert(unit, clock.nowMs(), "secondary_dns_zone_successfully_updated", zone.id, alert);
        return true;
      };
      const atOnce = async (unit: Unit): Promise<boolean> => {
        if (!(await conclude(unit))) return false;
        await changer.changeWithin(unit, call, zone, { ...changes, prepared: [...added.prepared()] }, options);
        return true;
      };
      const applied =
        count <= AT_ONCE_MAX
          ? await commit(deps, call, atOnce, changeUnit(zone, count))
          : (await changer.changeInPieces(call, zone, transferPieces(plan), { ...options, finishing: conclude })) !== null;
      if (applied) report({ zone: zone.name, result: "transferred", peer: peer.label, method, serial: apex.serial, changes: count });
      return applied;
    },

    confirmed: async (source, peer) => {
      await commit(deps, deps.call(), async (unit) => {
        if (source.copy?.expired === true) await setExpired(unit, deps, source, false);
        await updateIncomingState(unit.db, source.zone.id, success(source, peer, source.copy));
      });
      report({ zone: source.zone.name, result: "confirmed", peer: peer.label });
    },

    failed: async (source, reasons) => {
      const now = scene(source.copy);
      const failures = source.state.failures + 1;
      const expires = expiresAtMs(now.apex, source.state.confirmed_ms);
      const expired = expires !== null && expires <= now.nowMs && source.copy?.expired === false;
      await commit(deps, deps.call(), async (unit) => {
        if (expired) await setExpired(unit, deps, source, true);
        await updateIncomingState(unit.db, source.zone.id, {
          next_check_ms: nextRetryMs(now, failures, expires),
          failures,
          checked_ms: now.nowMs,
          last_error: reasons.join("; ").slice(0, REASON_LENGTH_MAX),
        });
        if (failures !== ALERT_FAILURES && !expired) return;
        const alert = (row: ZoneRow) => primariesFailingAlert(row, reasons, expired);
        await enqueueAlert(unit, clock.nowMs(), "secondary_dns_all_primaries_failing", source.zone.id, alert);
      });
      report({ zone: source.zone.name, result: expired ? "expired" : "failed", reasons });
    },
  };
}

async function setExpired(unit: Unit, deps: OutcomesDeps, { zone }: ZoneSource, expired: boolean): Promise<void> {
  const row = await lockedRow(unit, zone.id);
  const copy = row && primaryCopy(row);
  // Another node may have done it already.
  if (!row || !copy || copy.expired === expired) return;
  await putCopy(unit, deps.clock, row, { ...copy, expired });
  unit.audit({ ...auditOf(deps.call(), row, expired ? "zone.expire" : "zone.unexpire"), after: { serial: copy.apex?.serial ?? null } });
}

async function putCopy(unit: Unit, clock: Clock, row: ZoneRow, copy: PrimaryCopy): Promise<void> {
  const changed = { settings: withPrimaryCopy(row.settings, copy), modified_on: isoMicros(clock.nowMicros()) };
  await updateZone(unit.db, row.id, changed);
  unit.change({ kind: "zone", id: row.id, value: zoneEntry({ ...row, ...changed }) });
  unit.change({ kind: "serial", id: row.id, value: serialEntry({ ...row, ...changed }) });
}

/** Locks the zone, then reads it, like every writer of a zone. */
const lockedRow = async (unit: Unit, id: string): Promise<ZoneRow | undefined> =>
  (await lockZone(unit.db, id)) ? zoneRowById(unit.db, id) : undefined;

const auditOf = (call: Call, zone: ZoneRow, action: string) => ({
  action,
  actor: auditActor(call),
  account_id: zone.account_id,
  zone_id: zone.id,
  resource: { type: "zone", id: zone.id },
});
