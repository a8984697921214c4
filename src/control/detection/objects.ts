import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import { newId } from "#kernel/ids.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import {
  deleteSensitiveData,
  insertSensitiveData,
  type SensitiveDataRow,
  sensitiveDataOfZone,
  updateSensitiveData,
} from "#store/sensitive-data.ts";
import type { Store, Unit } from "#store/store.ts";
import { lockZone } from "#store/zones.ts";
import { detectionEntry } from "./entry.ts";

/** A zone as its routes resolve it. */
export interface OwnedZone {
  readonly id: string;
  readonly account_id: string;
}

/** The zone's objects of one kind. Every change reaches the detector before it is answered. */
export interface ZoneObjects<Value extends object> {
  list(zoneId: string): Promise<(Value & Kept)[]>;
  /** Throws `not_found`. */
  get(zoneId: string, id: string): Promise<Value & Kept>;
  /** Throws `invalid_input` where there are too many. */
  create(call: Call, zone: OwnedZone, value: Value): Promise<Value & Kept>;
  /** Throws `not_found`. */
  update(call: Call, zone: OwnedZone, id: string, change: Partial<Value>, check: (value: Value) => void): Promise<Value & Kept>;
  /** Throws `not_found`. */
  delete(call: Call, zone: OwnedZone, id: string): Promise<{ id: string }>;
}

interface Kept {
  readonly id: string;
  readonly created_on: string;
  readonly modified_on: string;
}

export interface ZoneObjectsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly kind: "allowed" | "pattern";
  readonly max: number;
}

export function createZoneObjects<Value extends object>({ store, clock, kind, max }: ZoneObjectsDeps): ZoneObjects<Value> {
  const view = (row: SensitiveDataRow): Value & Kept => ({
    id: row.id,
    ...(JSON.parse(row.value) as Value),
    created_on: row.created_on,
    modified_on: row.modified_on,
  });
  const own = async (db: Unit["db"], zoneId: string): Promise<SensitiveDataRow[]> =>
    (await sensitiveDataOfZone(db, zoneId)).filter((row) => row.kind === kind);
  const find = async (db: Unit["db"], zoneId: string, id: string): Promise<SensitiveDataRow> => {
    const row = (await own(db, zoneId)).find((candidate) => candidate.id === id);
    if (row === undefined) throw new PlatformError("not_found");
    return row;
  };
  const tell = async (unit: Unit, zoneId: string): Promise<void> =>
    unit.change({ kind: "detection", id: zoneId, value: detectionEntry(await sensitiveDataOfZone(unit.db, zoneId)) });
  const audit = (call: Call, zone: OwnedZone, id: string, verb: string) => ({
    action: `sensitive_data_${kind}.${verb}`,
    actor: auditActor(call),
    account_id: zone.account_id,
    zone_id: zone.id,
    resource: { type: `sensitive_data_${kind}`, id },
  });
  const write = <T>(call: Call, zone: OwnedZone, work: (unit: Unit) => Promise<T>): Promise<T> =>
    commit({ store }, call, async (unit) => {
      await lockZone(unit.db, zone.id);
      const result = await work(unit);
      await tell(unit, zone.id);
      return result;
    });

  return {
    list: (zoneId) => own(store.read, zoneId).then((rows) => rows.map(view)),
    get: (zoneId, id) => find(store.read, zoneId, id).then(view),
    create: (call, zone, value) =>
      write(call, zone, async (unit) => {
        if ((await own(unit.db, zone.id)).length >= max)
          throw new PlatformError("invalid_input", { message: `a zone has at most ${max} of these` });
        const now = isoMicros(clock.nowMs());
        const row = { id: newId(), zone_id: zone.id, kind, value: JSON.stringify(value), created_on: now, modified_on: now };
        await insertSensitiveData(unit.db, row);
        unit.audit({ ...audit(call, zone, row.id, "create"), after: view(row) });
        return view(row);
      }),
    update: (call, zone, id, change, check) =>
      write(call, zone, async (unit) => {
        const before = await find(unit.db, zone.id, id);
        const value = { ...(JSON.parse(before.value) as Value), ...change };
        check(value);
        const row = { ...before, value: JSON.stringify(value), modified_on: isoMicros(clock.nowMs()) };
        await updateSensitiveData(unit.db, row);
        unit.audit({ ...audit(call, zone, id, "update"), before: view(before), after: view(row) });
        return view(row);
      }),
    delete: (call, zone, id) =>
      write(call, zone, async (unit) => {
        const row = await find(unit.db, zone.id, id);
        await deleteSensitiveData(unit.db, id);
        unit.audit({ ...audit(call, zone, id, "delete"), before: view(row) });
        return { id };
      }),
  };
}
