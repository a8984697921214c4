import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { DsSet, QueryParentDs } from "./parent-ds.ts";
import { type DnssecLife, afterParentCheck, mayRoll, type ParentDs, rolled, signingKey, type ZoneTimes } from "#model/dns/dnssec-life.ts";
import type { ZoneSettings } from "#model/dns/dns-settings.ts";
import { primaryCopy } from "#model/dns/transferred-apex.ts";
import { SOA_DEFAULTS } from "#model/dns/soa.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { type DnssecKeyRow, dnssecChecksDue } from "#store/dns/zone-dnssec.ts";
import { lockZone, zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import { DNSKEY_TTL_SECONDS, dnskeyRdata, dsNamesKey } from "#wire/dns/dnssec-key.ts";
import { dnssecView, rolloverView } from "./dnssec-view.ts";
import { isRefetchDue, raiseServedSerial } from "./signature-serial.ts";
import { iso, lifeOf, loadDnssec, newDnssecKey, saveDnssec, type StoredDnssec, withLife } from "./stored-dnssec.ts";

export interface DnssecWatch {
  /**
   * Checks the parents of due zones, for a few seconds at most, and applies the consequences of the results and of
   * elapsed time.
   */
  lookDue(call: Call): Promise<DnssecChecks>;
}

export interface DnssecChecks {
  readonly checked: number;
  /** Zones whose status or rollover advanced, as `example.com: pending → active`. */
  readonly changed: readonly string[];
  /** Zones whose parent could not be checked, with the reason. */
  readonly failed: readonly string[];
}

export interface DnssecWatchDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queryParentDs: QueryParentDs;
  /** Days after which a key is replaced; 0: never. */
  readonly rolloverDays: number;
}

const CHECKS_AT_A_TIME = 16;
const ZONES_AT_ONCE = 1000;
/** No check starts after this time, so that a shutdown does not wait for an unreachable resolver. */
const TURN_MS = 2000;
const DAY_MS = 86_400_000;
/**
 * Intervals between checks: short while a user waits for a change, hourly during one, so that two checks notice every
 * state that lasts for hours.
 */
const NEXT_CHECK_MS = { least: 60_000, most: 3_600_000, idle: 12 * 3_600_000 } as const;
/** API and zone files allow a day; a primary's TTL may be larger, but caches limit it to a week (RFC 8767 §4). */
const ZONE_TTL_SECONDS = 86_400;
const SECONDARY_TTL_SECONDS = 7 * 86_400;

export function createDnssecWatch(deps: DnssecWatchDeps): DnssecWatch {
  const { store, clock, queryParentDs } = deps;
  return {
    lookDue: async (call) => {
      const [now, untilMs] = [clock.nowMs(), clock.monotonicMs() + TURN_MS];
      const due = await dnssecChecksDue(store.read, iso(now), iso(now + NEXT_CHECK_MS.idle), ZONES_AT_ONCE);
      const [changed, failed]: [string[], string[]] = [[], []];
      let checked = 0;
      const work = async (): Promise<void> => {
        for (;;) {
          const zone = due[checked];
          if (zone === undefined || clock.monotonicMs() >= untilMs) return;
          checked++;
          const look = await queryParentDs(zone.name);
          if ("reason" in look) failed.push(`${zone.name}: ${look.reason}`);
          const change = await commit(deps, call, (unit) => followUp(deps, unit, call, zone.zone_id, look));
          if (change !== null) changed.push(`${zone.name}: ${change}`);
        }
      };
      await Promise.all(Array.from({ length: CHECKS_AT_A_TIME }, work));
      return { checked, changed, failed };
    },
  };
}

/** The zone's keys to which the DS set refers. */
export const parentDsOf = (zoneName: string, { keys }: StoredDnssec, { records, ttl }: DsSet): ParentDs => ({
  named: keys.filter((key) => records.some((ds) => dsNamesKey(ds, zoneName, rdataOf(key)))).map(({ id }) => id),
  ttl,
});

/** Key tags of DS records that match none of the zone's keys. */
const othersIn = (zoneName: string, { keys }: StoredDnssec, { records }: DsSet): number[] =>
  records.filter((ds) => !keys.some((key) => dsNamesKey(ds, zoneName, rdataOf(key)))).map((ds) => Buffer.from(ds).readUInt16BE(0));

const rdataOf = ({ public_key }: DnssecKeyRow): Buffer => dnskeyRdata(Buffer.from(public_key, "base64"));

/** Applies a check and describes the change; null if only the check itself is stored. */
async function followUp(
  deps: DnssecWatchDeps,
  unit: Unit,
  call: Call,
  zoneId: string,
  look: Awaited<ReturnType<QueryParentDs>>,
): Promise<string | null> {
  const zone = (await lockZone(unit.db, zoneId)) ? await zoneRowById(unit.db, zoneId) : undefined;
  const before = zone && (await loadDnssec(unit.db, zoneId));
  // The zone or its DNSSEC was removed during the check.
  if (!zone || !before || before.row.status === "disabled") return null;
  const now = deps.clock.nowMs();
  const life = lifeOf(before);
  const set = "records" in look ? look : null;
  const seen = set && parentDsOf(zone.name, before, set);
  const failure = "reason" in look ? look.reason : "";
  const followed = withLife(before, afterParentCheck(life, seen, zoneTimes(zone), now));
  const next = noted(await withScheduledRollover(deps, followed, now), failure, now);
  const refetch = isRefetchDue(next.row, now);
  const raised = refetch && (await raiseServedSerial(unit, zoneId));
  const change = changeOf(life, lifeOf(next));
  const others = set === null ? {} : { ds_others: JSON.stringify(othersIn(zone.name, next, set)) };
  const row = {
    ...next.row,
    ...others,
    ...(change === null ? {} : { modified_on: iso(now) }),
    ...(refetch ? { refetch_on: iso(now) } : {}),
  };
  const after = { ...next, row };
  await saveDnssec(unit, before, after);
  const told = { actor: auditActor(call), account_id: zone.account_id, zone_id: zoneId, resource: { type: "dnssec", id: zoneId } };
  if (raised) unit.audit({ ...told, action: "dnssec.refetch" });
  if (change !== null) {
    const shown = (stored: StoredDnssec) => ({ ...dnssecView(zone.name, stored), rollover: rolloverView(zone.name, stored) });
    unit.audit({ ...told, action: "dnssec.progress", before: shown(before), after: shown(after) });
  }
  return change;
}

function changeOf(before: DnssecLife, after: DnssecLife): string | null {
  const steps = [
    before.status === after.status ? null : `${before.status} → ${after.status}`,
    before.rollover === after.rollover ? null : `rollover ${before.rollover} → ${after.rollover}`,
  ].filter((step) => step !== null);
  return steps.length === 0 ? null : steps.join(", ");
}

async function withScheduledRollover(deps: DnssecWatchDeps, stored: StoredDnssec, now: number): Promise<StoredDnssec> {
  const life = lifeOf(stored);
  if (deps.rolloverDays === 0 || !mayRoll(life)) return stored;
  const current = stored.keys.find(({ id }) => id === signingKey(life));
  if (current === undefined || now < Date.parse(current.created_on) + deps.rolloverDays * DAY_MS) return stored;
  const key = await newDnssecKey(deps, stored.row.zone_id);
  const begun = rolled(life, key.id, now);
  return begun ? withLife(stored, begun, [key]) : stored;
}

/** Adds the time of the next check: later the longer nothing has happened, or the more often checks failed. */
function noted(stored: StoredDnssec, failure: string, now: number): StoredDnssec {
  const life = lifeOf(stored);
  const failures = failure === "" ? 0 : Math.min(stored.row.look_failures + 1, 30);
  const waits = life.status.startsWith("pending") || life.rollover === "submit";
  const settled = life.status === "active" && life.rollover === "none" && life.ds_named.length > 0;
  const since = now - Math.max(life.status_since, life.rollover_since);
  const inMs = failures > 0 ? NEXT_CHECK_MS.least * 2 ** (failures - 1) : waits ? since / 10 : NEXT_CHECK_MS.most;
  const next = now + (failures === 0 && settled ? NEXT_CHECK_MS.idle : Math.min(Math.max(inMs, NEXT_CHECK_MS.least), NEXT_CHECK_MS.most));
  return { ...stored, row: { ...stored.row, look_failure: failure, look_failures: failures, next_look_on: iso(next) } };
}

function zoneTimes(zone: ZoneRow): ZoneTimes {
  const { refresh, retry } = primaryCopy(zone)?.apex?.soa ?? { ...SOA_DEFAULTS, ...(JSON.parse(zone.settings) as ZoneSettings).soa };
  return {
    dnskey_ttl: DNSKEY_TTL_SECONDS,
    zone_ttl: zone.type === "secondary" ? SECONDARY_TTL_SECONDS : ZONE_TTL_SECONDS,
    propagation: refresh + retry,
  };
}
