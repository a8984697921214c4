import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { DsSet, LookAtParent } from "./parent-ds.ts";
import { type DnssecLife, looked, mayRoll, type ParentSeen, rolled, signingKey, type ZoneTimes } from "#model/dns/dnssec-life.ts";
import type { ZoneSettings } from "#model/dns/dns-settings.ts";
import { primaryCopy } from "#model/dns/transferred-apex.ts";
import { SOA_DEFAULTS } from "#model/dns/soa.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { type DnssecKeyRow, dnssecLooksDue } from "#store/dns/zone-dnssec.ts";
import { lockZone, zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import { DNSKEY_TTL_SECONDS, dnskeyRdata, dsNamesKey } from "#wire/dns/dnssec-key.ts";
import { dnssecView, rolloverView } from "./dnssec-view.ts";
import { isRefetchDue, raiseServedSerial } from "./signature-serial.ts";
import { iso, lifeOf, loadDnssec, newDnssecKey, saveDnssec, type StoredDnssec, withLife } from "./stored-dnssec.ts";

export interface DnssecWatch {
  /** Looks at the parents of zones that are due, for some seconds at most, and does what follows from it and from the time. */
  lookDue(call: Call): Promise<DnssecLooks>;
}

export interface DnssecLooks {
  readonly looked: number;
  /** Zones whose status or rollover went on, as `example.com: pending → active`. */
  readonly changed: readonly string[];
  /** Zones whose parent could not be seen, and why. */
  readonly failed: readonly string[];
}

export interface DnssecWatchDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly lookAtParent: LookAtParent;
  /** After so many days a key is replaced; 0 for never. */
  readonly rolloverDays: number;
}

const LOOKS_AT_A_TIME = 16;
const ZONES_AT_ONCE = 1000;
/** No look begins later in a turn, so that a server that stops does not wait for those of a resolver that is away. */
const TURN_MS = 2000;
const DAY_MS = 86_400_000;
/** Soon where somebody waits for a change, hourly while one is under way: two looks see all that lasts for hours. */
const NEXT_LOOK_MS = { least: 60_000, most: 3_600_000, idle: 12 * 3_600_000 } as const;
/** API and zone files allow a day; what comes from a primary may have any TTL, of which caches keep a week (RFC 8767 §4). */
const ZONE_TTL_SECONDS = 86_400;
const SECONDARY_TTL_SECONDS = 7 * 86_400;

export function createDnssecWatch(deps: DnssecWatchDeps): DnssecWatch {
  const { store, clock, lookAtParent } = deps;
  return {
    lookDue: async (call) => {
      const [now, untilMs] = [clock.nowMs(), clock.monotonicMs() + TURN_MS];
      const due = await dnssecLooksDue(store.read, iso(now), iso(now + NEXT_LOOK_MS.idle), ZONES_AT_ONCE);
      const [changed, failed]: [string[], string[]] = [[], []];
      let looked = 0;
      const work = async (): Promise<void> => {
        for (;;) {
          const zone = due[looked];
          if (zone === undefined || clock.monotonicMs() >= untilMs) return;
          looked++;
          const look = await lookAtParent(zone.name);
          if ("reason" in look) failed.push(`${zone.name}: ${look.reason}`);
          const change = await commit(deps, call, (unit) => followUp(deps, unit, call, zone.zone_id, look));
          if (change !== null) changed.push(`${zone.name}: ${change}`);
        }
      };
      await Promise.all(Array.from({ length: LOOKS_AT_A_TIME }, work));
      return { looked, changed, failed };
    },
  };
}

/** Which of the zone's keys the DS set names. */
export const seenBy = (zoneName: string, { keys }: StoredDnssec, { records, ttl }: DsSet): ParentSeen => ({
  named: keys.filter((key) => records.some((ds) => dsNamesKey(ds, zoneName, rdataOf(key)))).map(({ id }) => id),
  ttl,
});

/** Tags of the records that name none of the zone's keys. */
const othersIn = (zoneName: string, { keys }: StoredDnssec, { records }: DsSet): number[] =>
  records.filter((ds) => !keys.some((key) => dsNamesKey(ds, zoneName, rdataOf(key)))).map((ds) => Buffer.from(ds).readUInt16BE(0));

const rdataOf = ({ public_key }: DnssecKeyRow): Buffer => dnskeyRdata(Buffer.from(public_key, "base64"));

/** What the look changes, in words; null where nothing but the look itself is to be noted. */
async function followUp(
  deps: DnssecWatchDeps,
  unit: Unit,
  call: Call,
  zoneId: string,
  look: Awaited<ReturnType<LookAtParent>>,
): Promise<string | null> {
  const zone = (await lockZone(unit.db, zoneId)) ? await zoneRowById(unit.db, zoneId) : undefined;
  const before = zone && (await loadDnssec(unit.db, zoneId));
  // The zone, or its DNSSEC, went while the parent was asked.
  if (!zone || !before || before.row.status === "disabled") return null;
  const now = deps.clock.nowMs();
  const life = lifeOf(before);
  const set = "records" in look ? look : null;
  const seen = set && seenBy(zone.name, before, set);
  const failure = "reason" in look ? look.reason : "";
  const followed = withLife(before, looked(life, seen, zoneTimes(zone), now));
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

/** With when to look next: the longer nothing has happened, or the oftener it failed, the later. */
function noted(stored: StoredDnssec, failure: string, now: number): StoredDnssec {
  const life = lifeOf(stored);
  const failures = failure === "" ? 0 : Math.min(stored.row.look_failures + 1, 30);
  const waits = life.status.startsWith("pending") || life.rollover === "submit";
  const settled = life.status === "active" && life.rollover === "none" && life.ds_named.length > 0;
  const since = now - Math.max(life.status_since, life.rollover_since);
  const inMs = failures > 0 ? NEXT_LOOK_MS.least * 2 ** (failures - 1) : waits ? since / 10 : NEXT_LOOK_MS.most;
  const next = now + (failures === 0 && settled ? NEXT_LOOK_MS.idle : Math.min(Math.max(inMs, NEXT_LOOK_MS.least), NEXT_LOOK_MS.most));
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
