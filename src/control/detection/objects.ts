import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { accountSensitiveData, type SensitiveDataRow, zoneSensitiveData } from "#store/detection/sensitive-data.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { detectionEntry } from "./entry.ts";

/** A zone as its routes resolve it. */
export interface OwnedZone {
  readonly id: string;
  readonly account_id: string;
}

/** A zone or a whole account. */
export type Owner = { readonly zone: OwnedZone } | { readonly account_id: string };

/** The owner's objects of one kind. A change reaches the detector before it is acknowledged. */
export interface OwnedObjects<Value extends object> {
  list(owner: Owner): Promise<(Value & Kept)[]>;
  /** Throws `not_found`. */
  get(owner: Owner, id: string): Promise<Value & Kept>;
  /** Throws `invalid_input` if the owner has too many. */
  create(call: Call, owner: Owner, value: Value): Promise<Value & Kept>;
  /** Removes members that are null. Throws `not_found`. */
  update(call: Call, owner: Owner, id: string, change: Change<Value>, check: (value: Value) => void): Promise<Value & Kept>;
  /** Throws `not_found`. */
  delete(call: Call, owner: Owner, id: string): Promise<{ id: string }>;
}

type Change<Value> = { readonly [Name in keyof Value]?: Value[Name] | null };

interface Kept {
  readonly id: string;
  readonly created_on: string;
  readonly modified_on: string;
}

export interface OwnedObjectsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly kind: "allowed" | "pattern";
  readonly max: number;
  /** The stored members of a body; clients also send back ids and unknown members. */
  readonly members: readonly string[];
}

export function createOwnedObjects<Value extends object>({ store, clock, kind, max, members }: OwnedObjectsDeps): OwnedObjects<Value> {
  const known = <Given extends object>(value: Given): Given =>
    Object.fromEntries(Object.entries(value).filter(([name, member]) => members.includes(name) && member !== null)) as Given;
  const view = (row: SensitiveDataRow): Value & Kept => ({
    id: row.id,
    ...known(JSON.parse(row.value) as Value),
    created_on: row.created_on,
    modified_on: row.modified_on,
  });
  const own = async (db: Unit["db"], owner: Owner): Promise<SensitiveDataRow[]> =>
    (await rowsOf(owner).of(db, idOf(owner))).filter((row) => row.kind === kind);
  const find = async (db: Unit["db"], owner: Owner, id: string): Promise<SensitiveDataRow> => {
    const row = (await own(db, owner)).find((candidate) => candidate.id === id);
    if (row === undefined) throw new PlatformError("not_found");
    return row;
  };
  const tell = async (unit: Unit, owner: Owner): Promise<void> =>
    unit.change({ kind: "detection", id: idOf(owner), value: detectionEntry(await rowsOf(owner).of(unit.db, idOf(owner))) });
  const audit = (call: Call, owner: Owner, id: string, verb: string) => ({
    action: `sensitive_data_${kind}.${verb}`,
    actor: auditActor(call),
    ...("zone" in owner ? { account_id: owner.zone.account_id, zone_id: owner.zone.id } : { account_id: owner.account_id, zone_id: null }),
    resource: { type: `sensitive_data_${kind}`, id },
  });
  const write = <T>(call: Call, owner: Owner, work: (unit: Unit) => Promise<T>): Promise<T> =>
    commit({ store }, call, async (unit) => {
      await rowsOf(owner).lock(unit.db, idOf(owner));
      const result = await work(unit);
      await tell(unit, owner);
      return result;
    });

  return {
    list: (owner) => own(store.read, owner).then((rows) => rows.map(view)),
    get: (owner, id) => find(store.read, owner, id).then(view),
    create: (call, owner, value) =>
      write(call, owner, async (unit) => {
        if ((await own(unit.db, owner)).length >= max)
          throw new PlatformError("invalid_input", { message: `${"zone" in owner ? "a zone" : "an account"} has at most ${max} of these` });
        const now = isoMicros(clock.nowMicros());
        const row = { id: newId(), kind, value: JSON.stringify(known(value)), created_on: now, modified_on: now };
        await rowsOf(owner).insert(unit.db, idOf(owner), row);
        unit.audit({ ...audit(call, owner, row.id, "create"), after: view(row) });
        return view(row);
      }),
    update: (call, owner, id, change, check) =>
      write(call, owner, async (unit) => {
        const before = await find(unit.db, owner, id);
        const value = known({ ...(JSON.parse(before.value) as Value), ...change }) as Value;
        check(value);
        const row = { ...before, value: JSON.stringify(value), modified_on: isoMicros(clock.nowMicros()) };
        await rowsOf(owner).update(unit.db, row);
        unit.audit({ ...audit(call, owner, id, "update"), before: view(before), after: view(row) });
        return view(row);
      }),
    delete: (call, owner, id) =>
      write(call, owner, async (unit) => {
        const row = await find(unit.db, owner, id);
        await rowsOf(owner).delete(unit.db, id);
        unit.audit({ ...audit(call, owner, id, "delete"), before: view(row) });
        return { id };
      }),
  };
}

const rowsOf = (owner: Owner) => ("zone" in owner ? zoneSensitiveData : accountSensitiveData);
const idOf = (owner: Owner): string => ("zone" in owner ? owner.zone.id : owner.account_id);
