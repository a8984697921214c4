import { randomUUID } from "node:crypto";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { isoMicros } from "#kernel/clock.ts";
import { checkDelayMs, CHECKS_MAX, type HostnameStatus, MOVED_RETENTION_MS, nextStatus } from "#model/hostnames/custom-hostname-states.ts";
import { customHostnameEntry } from "#snapshot/compile/custom-hostname-entry.ts";
import {
  activeHostnames,
  customHostname,
  type CustomHostnameRow,
  dueHostnames,
  hostnamesOfChangedZones,
  updateCustomHostname,
} from "#store/hostnames/custom-hostnames.ts";
import type { Unit } from "#store/database/store.ts";
import { lockZone, type ZoneRow, zoneRowById } from "#store/zones/zones.ts";
import type { CertificateIssuer } from "./certificate-issuer.ts";
import { type ProbeDeps, probeHostname, type ProbeResult } from "./probe-hostname.ts";
import { removeHostname } from "./remove-hostname.ts";

/** Checks custom hostnames and updates their status (SPEC 3.2). */
export interface HostnameChecks {
  /** Checks now; resolves when the result is stored. */
  check(call: Call, id: string): Promise<void>;
  /**
   * Checks hostnames that are due or whose hosted zone has changed, and deletes those that were moved a week ago; returns
   * their number.
   */
  checkDue(call: Call, limit: number): Promise<number>;
}

/** Interval between checks of an active hostname. */
export const ACTIVE_RECHECK_MS = 3_600_000;
/** Delay before the second check, if an active hostname points elsewhere or lookups fail. */
export const CONFIRM_MS = 300_000;
const ANSWERS_AGAINST = 2;
const AT_ONCE = 16;

export interface CheckDeps extends ProbeDeps {
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
      // Edited, deleted or checked by another process meanwhile.
      if (now === undefined || now.modified_on !== row.modified_on || now.checks !== row.checks) return false;
      return settle(unit, call, now, zone, seen);
    });
    if (isNew) await issuer.request([id]);
  };

  /** Stores the result; returns whether the hostname has just become active. */
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
    if (isNew) await issuer.order(unit, { ...row, ...values });
    return isNew;
  };

  /**
   * The most recently validated hostname gets the name (custom-hostnames.md §1, "priority"). The loser gets a new token,
   * so that an old TXT record does not return the name to it.
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
      const ids = await dueHostnames(store.scan, clock.nowMs(), limit);
      const changed = await hostnamesOfChangedZones(store.read, limit);
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

/** The hostname's next status and the time of its next check. */
function outcomeOf(row: CustomHostnameRow, { judgement, home }: ProbeResult, nowMs: number): Outcome {
  const { verdict } = judgement;
  const status = row.status as HostnameStatus;
  const moved: Outcome = { status: "moved", checks: 0, next_check_ms: nowMs + MOVED_RETENTION_MS };
  // A zone that is not active, or no longer, does not end the validation of its hostnames.
  if (verdict === "waiting") return { status, checks: row.checks, next_check_ms: nowMs + ACTIVE_RECHECK_MS };
  if (verdict === "valid") return { status: nextStatus(status, "valid"), checks: 0, next_check_ms: nowMs + ACTIVE_RECHECK_MS };
  if (status === "pending") {
    if (verdict === "held") return { status: nextStatus(status, "held"), checks: 0, next_check_ms: null };
    // A check outside the schedule, such as after a change of its zone, does not count.
    const isDue = row.next_check_ms === null || row.next_check_ms <= nowMs;
    if (!isDue) return { status, checks: row.checks, next_check_ms: row.next_check_ms };
    const checks = row.checks + 1;
    if (checks >= CHECKS_MAX) return { ...moved, status: nextStatus(status, "checks_over") };
    return { status, checks, next_check_ms: nowMs + checkDelayMs(checks) };
  }
  // A result from a hosted zone needs no confirmation.
  const checks = verdict === "unknown" ? row.checks : row.checks + (home === null ? 1 : ANSWERS_AGAINST);
  return checks >= ANSWERS_AGAINST
    ? { ...moved, status: nextStatus(status, "invalid") }
    : { status, checks, next_check_ms: nowMs + CONFIRM_MS };
}

/** Only hostnames that are checked regularly depend on changes of the zone. */
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
