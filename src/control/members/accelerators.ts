import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Accelerator, AcceleratorCreate, AcceleratorEdit, AcceleratorZone } from "#model/access/accelerator.ts";
import {
  type AcceleratorRow,
  acceleratorsOfAccount,
  deleteAccelerator,
  insertAccelerator,
  updateAccelerator,
} from "#store/access/accelerators.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import { zonesOfAccount } from "#store/zones/zones.ts";
import type { Kysely } from "kysely";

/** Accelerators of organizations. While one is enabled, it has the account's zones. Throws `not_found` for an unknown one. */
export interface Accelerators {
  list(accountId: string): Promise<readonly Accelerator[]>;
  get(accountId: string, id: string): Promise<Accelerator>;
  zones(accountId: string, id: string): Promise<readonly AcceleratorZone[]>;
  create(call: Call, accountId: string, body: AcceleratorCreate): Promise<Accelerator>;
  edit(call: Call, accountId: string, id: string, body: AcceleratorEdit): Promise<Accelerator>;
  remove(call: Call, accountId: string, id: string): Promise<{ id: string }>;
}

const PER_ACCOUNT_MAX = 100;

export function createAccelerators({ store, clock }: { readonly store: Store; readonly clock: Clock }): Accelerators {
  const view = (row: AcceleratorRow, zones: number): Accelerator => ({
    ...{ id: row.id, name: row.name, enabled: row.enabled === 1, zones_connected: row.enabled === 1 ? zones : 0 },
    ...{ created_on: row.created_on, modified_on: row.modified_on },
  });
  const zonesOf = async (db: Kysely<Tables>, accountId: string): Promise<readonly AcceleratorZone[]> =>
    (await zonesOfAccount(db, accountId)).map(({ id, name }) => ({ id, name }));
  const shown = async (row: AcceleratorRow): Promise<Accelerator> => view(row, (await zonesOf(store.read, row.account_id)).length);
  const audit = (unit: Unit, call: Call, verb: string, row: AcceleratorRow, before: object | null, after: object | null): void =>
    unit.audit({
      ...{ action: `accelerator.${verb}`, actor: auditActor(call), account_id: row.account_id, zone_id: null },
      ...{ resource: { type: "accelerator", id: row.id }, before, after },
    });

  return {
    list: async (accountId) => {
      const zones = (await zonesOf(store.read, accountId)).length;
      return (await acceleratorsOfAccount(store.read, accountId)).map((row) => view(row, zones));
    },
    get: async (accountId, id) => shown(await found(store.read, accountId, id)),
    zones: async (accountId, id) => {
      const { enabled } = await found(store.read, accountId, id);
      return enabled === 1 ? zonesOf(store.read, accountId) : [];
    },
    create: async (call, accountId, { name }) => {
      const row = await commit({ store }, call, async (unit) => {
        if ((await acceleratorsOfAccount(unit.db, accountId)).length >= PER_ACCOUNT_MAX)
          throw new PlatformError("invalid_input", { message: `An organization can have ${PER_ACCOUNT_MAX} accelerators.` });
        const now = isoMicros(clock.nowMicros());
        const made: AcceleratorRow = { id: newId(), account_id: accountId, name, enabled: 0, created_on: now, modified_on: now };
        await insertAccelerator(unit.db, made);
        audit(unit, call, "create", made, null, made);
        return made;
      });
      return shown(row);
    },
    edit: async (call, accountId, id, { name, enabled }) => {
      const row = await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, accountId, id);
        const change = {
          name: name ?? before.name,
          enabled: enabled === undefined ? before.enabled : Number(enabled),
          modified_on: isoMicros(clock.nowMicros()),
        };
        await updateAccelerator(unit.db, id, change);
        audit(unit, call, "edit", before, before, { ...before, ...change });
        return { ...before, ...change };
      });
      return shown(row);
    },
    remove: async (call, accountId, id) => {
      await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, accountId, id);
        await deleteAccelerator(unit.db, id);
        audit(unit, call, "delete", before, before, null);
      });
      return { id };
    },
  };
}

async function found(db: Kysely<Tables>, accountId: string, id: string): Promise<AcceleratorRow> {
  const row = (await acceleratorsOfAccount(db, accountId)).find((one) => one.id === id);
  if (row === undefined) throw new PlatformError("not_found", { message: "The organization has no accelerator with this identifier." });
  return row;
}
