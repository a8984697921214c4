import { randomUUID } from "node:crypto";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { isoMicros } from "#kernel/clock.ts";
import { checkDelayMs, CHECKS_MAX, type HostnameStatus, MOVED_RETENTION_MS, nextStatus } from "#model/hostnames/custom-hostname-states.ts";
import { customHostnameEntry } from "#snapshot/compile.ts";
import {
  activeHostnames,
  customHostname,
  type CustomHostnameRow,
  dueHostnames,
  hostnamesOfChangedHomes,
  updateCustomHostname,
} from "#store/hostnames/custom-hostnames.ts";
import type { Unit } from "#store/database/store.ts";
import { lockZone, type ZoneRow, zoneRowById } from "#store/zones/zones.ts";
import type { CertificateIssuer } from "./certificate-issuer.ts";
import { type LookDeps, probeHostname, type ProbeResult } from "./probe-hostname.ts";
import { removeHostname } from "./remove-hostname.ts";

/** Looks at custom hostnames and moves them along (SPEC 3.2). */
export interface HostnameChecks {
  /** Looks now; what comes of it is stored when it resolves. */
  check(call: Call, id: string): Promise<void>;
  /** Looks at those whose time has come or whose zone here has changed, deletes those that were moved for a week; gives their number. */
  checkDue(call: Call, limit: number): Promise<number>;
}

/** So long an active hostname is not looked at again. */
export const ACTIVE_RECHECK_MS = 3_600_000;
/** Where it no longer points here, or nobody answers, it is looked at again before anything is concluded. */
export const CONFIRM_MS = 300_000;
const ANSWERS_AGAINST = 2;
const AT_ONCE = 16;

export interface CheckDeps extends LookDeps {
  readonly issuer: CertificateIssuer;
}

export function createHostnameChecks(deps: CheckDeps): HostnameChecks {
  const { store, clock, issuer } = deps;

  const check = async (call: Call, id: string): Promise<void> => {
    const row = await customHostname(store.read, id);
    if (row === undefined || (row.status !== "pending" && row.status !== "active")) return;
    const zone = await zoneRowById(store.read, row.zone_id);
    if (zone === undefined) return;
    const seen = await probeHostname(deps, row, zone);
    const isNew = await commit(deps, call, async (unit) => {
      await lockZone(unit.db, zone.id);
      const now = await customHostname(unit.db, id);
      // Edited, deleted or looked at by somebody else meanwhile.
      if (now === undefined || now.modified_on !== row.modified_on || now.checks !== row.checks) return false;
      return settle(unit, call, now, zone, seen);
    });
    if (isNew) await issuer.request([id]);
  };

  /** Stores what was seen; says whether the hostname has just become active. */
  const settle = async (unit: Unit, call: Call, row: CustomHostnameRow, zone: ZoneRow, seen: ProbeResult): Promise<boolean> => {
    const nowMs = clock.nowMs();
    const outcome = outcomeOf(row, seen, nowMs);
    const isMoving = outcome.status !== row.status;
    const values = {
      ...outcome,
      verification_errors: JSON.stringify(seen.judgement.errors),
      ...homeColumns(outcome.status, seen),
      ...(isMoving ? { status_since_ms: nowMs, modified_on: isoMicros(clock.nowMicros()) } : {}),
    };
    await updateCustomHostname(unit.db, row.id, values);
    if (!isMoving) return false;
    const isNew = outcome.status === "active";
    if (isNew)
      for (const other of await activeHostnames(unit.db, row.hostname)) if (other.id !== row.id) await lose(unit, call, other, nowMs);
    announce(unit, call, zone, row, { ...row, ...values }, seen.judgement.errors);
    return isNew;
  };

  /**
   * The one that was validated last has the name (custom-hostnames.md §1, "priority"). A token that may still stand in the DNS gives
   * it back to nobody.
   */
  const lose = async (unit: Unit, call: Call, row: CustomHostnameRow, nowMs: number): Promise<void> => {
    const values = {
      status: nextStatus("active", "lost"),
      ownership_token: randomUUID(),
      status_since_ms: nowMs,
      next_check_ms: nowMs + MOVED_RETENTION_MS,
      home_zone_id: null,
      home_serial: null,
      modified_on: isoMicros(clock.nowMicros()),
    };
    await updateCustomHostname(unit.db, row.id, values);
    const zone = await zoneRowById(unit.db, row.zone_id);
    if (zone) announce(unit, call, zone, row, { ...row, ...values }, []);
  };

  const due = async (call: Call, id: string): Promise<void> => {
    const row = await customHostname(store.read, id);
    if (row?.status !== "moved") return check(call, id);
    await commit(deps, call, async (unit) => {
      const now = await customHostname(unit.db, id);
      if (now?.status === "moved" && now.status_since_ms + MOVED_RETENTION_MS <= clock.nowMs()) await removeHostname(unit, call, now);
    });
  };

  return {
    check,
    checkDue: async (call, limit) => {
      const ids = await dueHostnames(store.read, clock.nowMs(), limit);
      const changed = await hostnamesOfChangedHomes(store.read, limit);
      const all = [...new Set([...ids, ...changed])];
      for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map((id) => due(call, id)));
      return all.length;
    },
  };
}

interface Outcome {
  readonly status: HostnameStatus;
  readonly checks: number;
  readonly next_check_ms: number | null;
}

/** What the hostname is from now on, and when it is looked at again. */
function outcomeOf(row: CustomHostnameRow, { judgement, home }: ProbeResult, nowMs: number): Outcome {
  const { verdict } = judgement;
  const status = row.status as HostnameStatus;
  const moved: Outcome = { status: "moved", checks: 0, next_check_ms: nowMs + MOVED_RETENTION_MS };
  // Neither is it over with a hostname because its zone is not active yet, nor any more.
  if (verdict === "waiting") return { status, checks: row.checks, next_check_ms: nowMs + ACTIVE_RECHECK_MS };
  if (verdict === "valid") return { status: nextStatus(status, "valid"), checks: 0, next_check_ms: nowMs + ACTIVE_RECHECK_MS };
  if (status === "pending") {
    if (verdict === "held") return { status: nextStatus(status, "held"), checks: 0, next_check_ms: null };
    // A look between, as at the beginning or after a change of its zone, leaves the schedule alone.
    const isDue = row.next_check_ms === null || row.next_check_ms <= nowMs;
    if (!isDue) return { status, checks: row.checks, next_check_ms: row.next_check_ms };
    const checks = row.checks + 1;
    if (checks >= CHECKS_MAX) return { ...moved, status: nextStatus(status, "checks_over") };
    return { status, checks, next_check_ms: nowMs + checkDelayMs(checks) };
  }
  // What our own data says needs no second answer.
  const checks = verdict === "unknown" ? row.checks : row.checks + (home === null ? 1 : ANSWERS_AGAINST);
  return checks >= ANSWERS_AGAINST
    ? { ...moved, status: nextStatus(status, "invalid") }
    : { status, checks, next_check_ms: nowMs + CONFIRM_MS };
}

/** Only those that are looked at by themselves wait for their zone's changes. */
const homeColumns = (status: HostnameStatus, { home }: ProbeResult) =>
  home === null || status === "moved" || status === "blocked"
    ? { home_zone_id: null, home_serial: null }
    : { home_zone_id: home.zone_id, home_serial: home.serial };

function announce(
  unit: Unit,
  call: Call,
  zone: ZoneRow,
  before: CustomHostnameRow,
  after: CustomHostnameRow,
  errors: readonly string[],
): void {
  unit.change({ kind: "custom_hostname", id: after.id, value: customHostnameEntry(after) });
  unit.audit({
    action: `custom_hostname.${after.status}`,
    actor: auditActor(call),
    account_id: zone.account_id,
    zone_id: zone.id,
    resource: { type: "custom_hostname", id: after.id },
    before: { hostname: before.hostname, status: before.status },
    after: { hostname: after.hostname, status: after.status, verification_errors: errors },
  });
}
