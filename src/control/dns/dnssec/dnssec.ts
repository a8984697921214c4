import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { QueryParentDs } from "./parent-ds.ts";
import type { ZoneRef } from "#control/open-zone/zone-ref.ts";
import { disabled, type DnssecLife, enabled, rolled } from "#model/dns/dnssec-life.ts";
import type { Dnssec, DnssecEdit, DnssecRollover, ZoneSigningKey } from "#model/dns/dnssec.ts";
import { recordsNamed } from "#store/dns/dns-record-rows.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { deleteDnssecOfZone } from "#store/dns/zone-dnssec.ts";
import { lockZone } from "#store/zones/zones.ts";
import { dnssecNotes, dnssecView, rolloverView, zoneSigningKeys } from "./dnssec-view.ts";
import { parentDsOf } from "./dnssec-watch.ts";
import { iso, lifeOf, loadDnssec, newDnssec, newDnssecKey, saveDnssec, type StoredDnssec, withLife } from "./stored-dnssec.ts";

export interface DnssecControl {
  /** Adds notes to the call about what the zone waits for. */
  get(call: Call, zone: ZoneRef): Promise<Dnssec>;
  /** `active` creates a key if needed, signs at once and waits for the DS at the parent; `disabled` is explained in the model. */
  edit(call: Call, zone: ZoneRef, body: DnssecEdit): Promise<Dnssec>;
  /** Deletes the key. Throws `dnssec_transition` unless the status is `disabled`. */
  remove(call: Call, zone: ZoneRef): Promise<string>;
  /** Keys that sign both keys and records, oldest first. */
  signingKeys(zone: ZoneRef): Promise<readonly ZoneSigningKey[]>;
  rollover(zone: ZoneRef): Promise<DnssecRollover>;
  /** Throws `dnssec_transition` unless the zone is active without a rollover. */
  startRollover(call: Call, zone: ZoneRef): Promise<DnssecRollover>;
}

export interface DnssecDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queryParentDs: QueryParentDs;
}

export function createDnssec(deps: DnssecDeps): DnssecControl {
  const { store } = deps;
  return {
    get: async (call, zone) => {
      const stored = await loadDnssec(store.read, zone.id);
      if (stored) (call.notes ??= []).push(...dnssecNotes(stored));
      return dnssecView(zone.name, stored);
    },
    edit: (call, zone, body) => edit(deps, call, zone, body),
    remove: (call, zone) =>
      commit(deps, call, async (unit) => {
        await lockZone(unit.db, zone.id);
        const before = await loadDnssec(unit.db, zone.id);
        if (before === undefined) return "";
        if (before.row.status !== "disabled")
          throw new PlatformError("dnssec_transition", {
            message: `DNSSEC is ${before.row.status}; its key can be deleted only while it is disabled.`,
          });
        await deleteDnssecOfZone(unit.db, zone.id);
        unit.audit({ ...auditOf("dnssec.delete", call, zone), before: dnssecView(zone.name, before) });
        return "";
      }),
    signingKeys: async (zone) => {
      const stored = await loadDnssec(store.read, zone.id);
      return stored ? zoneSigningKeys(zone.name, stored) : [];
    },
    rollover: async (zone) => rolloverView(zone.name, await loadDnssec(store.read, zone.id)),
    startRollover: async (call, zone) => {
      const key = await newDnssecKey(deps, zone.id);
      return commit(deps, call, async (unit) => {
        const before = await openDnssec(unit, zone);
        const now = deps.clock.nowMs();
        const life = before && rolled(lifeOf(before), key.id, now);
        if (!life)
          throw new PlatformError("dnssec_transition", {
            message: `DNSSEC is ${before?.row.status ?? "disabled"}${before && before.row.rollover !== "none" ? " and a key rollover is already in progress" : ""}; a rollover can start only while it is active.`,
          });
        const after = modified(withLife(before, life, [key]), now);
        await saveDnssec(unit, before, after);
        unit.audit({
          ...auditOf("dnssec.rollover", call, zone),
          before: rolloverView(zone.name, before),
          after: rolloverView(zone.name, after),
        });
        return rolloverView(zone.name, after);
      });
    },
  };
}

async function edit(deps: DnssecDeps, call: Call, zone: ZoneRef, body: DnssecEdit): Promise<Dnssec> {
  checkAvailable(body);
  // Created before the unit, which blocks other writes; unused if the zone already has a key.
  const key = await newDnssecKey(deps, zone.id);
  const known = body.status === "disabled" ? await loadDnssec(deps.store.read, zone.id) : undefined;
  const look = known?.row.status === "pending" ? await deps.queryParentDs(zone.name) : null;
  return commit(deps, call, async (unit) => {
    const before = await openDnssec(unit, zone);
    const now = deps.clock.nowMs();
    const stored = before ?? newDnssec(key, now);
    if (body.dnssec_multi_signer === false && stored.row.multi_signer === 1) await checkAlone(unit, zone);
    const seen = look && "records" in look ? parentDsOf(zone.name, stored, look) : null;
    const after = modified(withOptions(withLife(stored, wanted(lifeOf(stored), body.status, seen, now)), body), now);
    // Disabling DNSSEC of a zone that never had it does not create a key.
    if (before === undefined && after.row.status === "disabled" && after.row.multi_signer === 0) return dnssecView(zone.name, undefined);
    await saveDnssec(unit, before, after);
    const shown = dnssecView(zone.name, after);
    unit.audit({ ...auditOf("dnssec.edit", call, zone), before: dnssecView(zone.name, before), after: shown });
    return shown;
  });
}

const wanted = (life: DnssecLife, status: DnssecEdit["status"], seen: Parameters<typeof disabled>[1], now: number): DnssecLife =>
  status === undefined ? life : status === "active" ? enabled(life, now) : disabled(life, seen, now);

const withOptions = (stored: StoredDnssec, { dnssec_multi_signer: several }: DnssecEdit): StoredDnssec =>
  several === undefined ? stored : { ...stored, row: { ...stored.row, multi_signer: several ? 1 : 0 } };

/** A change by the owner makes the next check due at once. */
const modified = (stored: StoredDnssec, now: number): StoredDnssec => ({
  ...stored,
  row: { ...stored.row, look_failures: 0, next_look_on: iso(now), modified_on: iso(now) },
});

/** Locks the zone, then reads. Throws `zone_not_found`. */
async function openDnssec(unit: Unit, zone: ZoneRef): Promise<StoredDnssec | undefined> {
  if (!(await lockZone(unit.db, zone.id))) throw new PlatformError("zone_not_found");
  return loadDnssec(unit.db, zone.id);
}

/** Throws while another provider's key is published, because CDS would then replace its DS at the parent. */
async function checkAlone(unit: Unit, zone: ZoneRef): Promise<void> {
  const atApex = await recordsNamed(unit.db, zone.id, [zone.name]);
  if (!atApex.some(({ type }) => type === "DNSKEY")) return;
  throw new PlatformError("dnssec_transition", {
    message: "The zone has DNSKEY records of other providers: first delete their DS records at the parent, then the DNSKEY records.",
    source: "/dnssec_multi_signer",
  });
}

/** Settings that are refused because they would have no effect. */
const UNAVAILABLE: readonly { readonly field: "dnssec_presigned" | "dnssec_use_nsec3"; readonly why: string }[] = [
  { field: "dnssec_presigned", why: "Zones that are already signed by their primary are not supported." },
  {
    field: "dnssec_use_nsec3",
    why: "The nameserver uses NSEC with compact denial of existence (RFC 9824), which reveals no more names than NSEC3.",
  },
];

function checkAvailable(body: DnssecEdit): void {
  const row = UNAVAILABLE.find(({ field }) => body[field] === true);
  if (row) throw new PlatformError("setting_unavailable", { message: row.why, source: `/${row.field}` });
}

const auditOf = (action: string, call: Call, zone: ZoneRef) => ({
  action,
  actor: auditActor(call),
  account_id: zone.account_id,
  zone_id: zone.id,
  resource: { type: "dnssec", id: zone.id },
});
