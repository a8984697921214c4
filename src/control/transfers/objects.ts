import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { lockAccount } from "#store/access/accounts.ts";
import type { Store, Unit } from "#store/database/store.ts";
import {
  deleteTransferObject,
  putTransferObject,
  type TransferKind,
  transferObject,
  type TransferObjectRow,
  transferObjects,
} from "#store/dns/transfers.ts";
import { publishingTransfers } from "./entries.ts";

/** An account's objects of one kind for its zones' transfers. */
export interface TransferObjects<T, W> {
  list(call: Call, accountId: string): Promise<readonly T[]>;
  get(call: Call, accountId: string, id: string): Promise<T>;
  create(call: Call, accountId: string, body: W): Promise<T>;
  /** Replaces the object. */
  update(call: Call, accountId: string, id: string, body: W): Promise<T>;
  /** Throws `still_in_use` if others refer to it. */
  remove(call: Call, accountId: string, id: string): Promise<{ id: string }>;
}

/** The properties of one kind. `V` is the stored value. */
export interface TransferKindRow<T, W, V> {
  readonly kind: TransferKind;
  /** Validates the body and returns the stored value; throws `invalid_input`. */
  value(body: W, within: { readonly db: Unit["db"]; readonly accountId: string; readonly id: string }): Promise<V>;
  view(value: V, id: string, within: { readonly call: Call; readonly accountId: string }): T;
  /** The object for the audit log. */
  audited(value: V): object;
  /** Describes what refers to the object, or null. */
  user(db: Unit["db"], accountId: string, id: string): Promise<string | null>;
}

/** Of each kind; the nameserver compares requests with all ACLs of an account. */
const OBJECTS_MAX = 500;

export function createTransferObjects<T, W, V extends object>(
  deps: { readonly store: Store; readonly clock: Clock },
  row: TransferKindRow<T, W, V>,
): TransferObjects<T, W> {
  const { store, clock } = deps;
  const { kind } = row;
  const shown = (call: Call, stored: TransferObjectRow): T =>
    row.view(JSON.parse(stored.value) as V, stored.id, { call, accountId: stored.account_id });

  const load = async (db: Unit["db"], accountId: string, id: string): Promise<TransferObjectRow> => {
    const stored = await transferObject(db, accountId, kind, id);
    if (!stored) throw new PlatformError("not_found");
    return stored;
  };

  const audit = (unit: Unit, call: Call, action: string, before: TransferObjectRow | null, after: TransferObjectRow | null): void => {
    const { id, account_id } = (after ?? before) as TransferObjectRow;
    const audited = (stored: TransferObjectRow | null): object | null => stored && row.audited(JSON.parse(stored.value) as V);
    const resource = { type: `transfer_${kind}`, id };
    unit.audit({
      action: `transfer_${kind}.${action}`,
      actor: auditActor(call),
      account_id,
      zone_id: null,
      resource,
      before: audited(before),
      after: audited(after),
    });
  };

  return {
    list: async (call, accountId) => (await transferObjects(store.read, accountId, kind)).map((stored) => shown(call, stored)),
    get: async (call, accountId, id) => shown(call, await load(store.read, accountId, id)),
    create: (call, accountId, body) =>
      commit(deps, call, async (unit) => {
        // Objects that it refers to must not be deleted meanwhile.
        await lockAccount(unit.db, accountId);
        if ((await transferObjects(unit.db, accountId, kind)).length >= OBJECTS_MAX)
          throw new PlatformError("invalid_input", { message: `An account can have at most ${OBJECTS_MAX} of these.` });
        const id = newId();
        const value = await row.value(body, { db: unit.db, accountId, id });
        const stored = { id, account_id: accountId, kind, value: JSON.stringify(value), created_on: isoMicros(clock.nowMicros()) };
        await publishingTransfers(unit, accountId, () => putTransferObject(unit.db, stored));
        audit(unit, call, "create", null, stored);
        return shown(call, stored);
      }),
    update: (call, accountId, id, body) =>
      commit(deps, call, async (unit) => {
        await lockAccount(unit.db, accountId);
        const before = await load(unit.db, accountId, id);
        const after = { ...before, value: JSON.stringify(await row.value(body, { db: unit.db, accountId, id })) };
        await publishingTransfers(unit, accountId, () => putTransferObject(unit.db, after));
        audit(unit, call, "update", before, after);
        return shown(call, after);
      }),
    remove: (call, accountId, id) =>
      commit(deps, call, async (unit) => {
        await lockAccount(unit.db, accountId);
        const before = await load(unit.db, accountId, id);
        const user = await row.user(unit.db, accountId, id);
        if (user !== null) throw new PlatformError("still_in_use", { message: `${user} uses it.` });
        await publishingTransfers(unit, accountId, () => deleteTransferObject(unit.db, id));
        audit(unit, call, "delete", before, null);
        return { id };
      }),
  };
}
