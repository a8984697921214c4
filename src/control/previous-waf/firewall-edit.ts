import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { deleteFirewallObject, putFirewallObject } from "#store/rulesets/firewall-objects.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { lockZone, zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import { slotEntries, slotOps } from "./entries.ts";
import { type FirewallKind, loadFirewall, type PreviousFirewall } from "./state.ts";

export interface FirewallDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Whether the edge knows the places of visitors; default true. */
  readonly hasPlaces?: boolean;
}

/** A zone as its routes resolve it. */
export interface FirewallOwner {
  readonly id: string;
  readonly account_id: string;
}

/** A change of a zone's firewall objects in a unit that has locked the zone. */
export interface FirewallEdit {
  readonly db: Unit["db"];
  readonly zone: ZoneRow;
  readonly now: string;
  /** The current state, including changes of this unit. */
  firewall(): Promise<PreviousFirewall>;
  /** `value` excludes id and times, or is a mode; an existing object keeps its `created_on`. */
  put(kind: FirewallKind, id: string, value: object | string, verb: "create" | "update"): Promise<void>;
  remove(kind: FirewallKind, id: string): Promise<void>;
}

/** Runs one change of a zone's firewall, and publishes the slots that differ afterwards. */
export const changeFirewall = <T>(
  deps: FirewallDeps,
  call: Call,
  owner: FirewallOwner,
  work: (edit: FirewallEdit) => Promise<T>,
): Promise<T> =>
  commit(deps, call, async (unit) => {
    const zone = await lockedZone(unit, owner.id);
    const firewall = (): Promise<PreviousFirewall> => loadFirewall(unit.db, owner.id);
    const before = slotEntries(zone, await firewall());
    const now = isoMicros(deps.clock.nowMicros());
    const result = await work({ db: unit.db, zone, now, firewall, ...writes(unit, call, owner, now) });
    for (const op of slotOps(zone, before, slotEntries(zone, await firewall()))) unit.change(op);
    return result;
  });

/** Throws `zone_not_found`. */
export async function lockedZone(unit: Unit, id: string): Promise<ZoneRow> {
  await lockZone(unit.db, id);
  const zone = await zoneRowById(unit.db, id);
  if (zone === undefined) throw new PlatformError("zone_not_found");
  return zone;
}

function writes(unit: Unit, call: Call, owner: FirewallOwner, now: string): Pick<FirewallEdit, "put" | "remove"> {
  const audited = (kind: FirewallKind, verb: string, id: string) => ({
    action: `${kind}.${verb}`,
    actor: auditActor(call),
    account_id: owner.account_id,
    zone_id: owner.id,
    resource: { type: kind, id },
  });
  return {
    put: async (kind, id, value, verb) => {
      await putFirewallObject(unit.db, {
        zone_id: owner.id,
        kind,
        id,
        value: JSON.stringify(value),
        created_on: now,
        modified_on: now,
      });
      unit.audit({ ...audited(kind, verb, id), after: typeof value === "string" ? { mode: value } : value });
    },
    remove: async (kind, id) => {
      await deleteFirewallObject(unit.db, owner.id, kind, id);
      unit.audit(audited(kind, "delete", id));
    },
  };
}
