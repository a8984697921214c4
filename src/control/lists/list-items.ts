import type { Call, CursorPage, CursorRequest } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { readCursor, writeCursor } from "#control/cursor.ts";
import { bucketOf, type ItemForm, readItem, showItem } from "#control/lists/item-forms.ts";
import { listEntryId, listOps, partOf, partsOf } from "#control/lists/list-entries.ts";
import { listAudit, ownList, RULE_LIST_LIMITS, type RuleListLimits } from "#control/lists/lists.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { inTicks } from "#kernel/in-ticks.ts";
import { chunksOf } from "#kernel/chunks.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { RuleListItem, RuleListItemsDelete, RuleListItemWrite, RuleListKind, RuleListOperation } from "#model/rulesets/rule-list.ts";
import {
  deleteItems,
  deleteOperationsBefore,
  endOperation,
  insertItems,
  insertOperation,
  itemById,
  type ExistingItem,
  itemKeysOf,
  itemsWith,
  itemsAfter,
  operationById,
  type RuleListItemRow,
  type RuleListRow,
  updateItem,
  updateRuleList,
} from "#store/rulesets/rule-lists.ts";
import type { Store, Unit } from "#store/database/store.ts";

/**
 * The items of a list. Bulk changes are validated immediately and executed in the background; their operation id shows
 * the status.
 */
export interface RuleListItems {
  list(accountId: string, listId: string, page: CursorRequest, search: string | undefined): Promise<CursorPage<RuleListItem>>;
  get(accountId: string, listId: string, id: string): Promise<RuleListItem>;
  /** Adds items; an existing item gets the new comment. */
  add(call: Call, accountId: string, listId: string, items: readonly RuleListItemWrite[]): Promise<{ operation_id: string }>;
  /** Replaces all items of the list. */
  replace(call: Call, accountId: string, listId: string, items: readonly RuleListItemWrite[]): Promise<{ operation_id: string }>;
  /** Ignores ids that are not in the list. */
  remove(call: Call, accountId: string, listId: string, body: RuleListItemsDelete): Promise<{ operation_id: string }>;
  operation(accountId: string, id: string): Promise<RuleListOperation>;
  /** Resolves when no operation is running. */
  idle(): Promise<void>;
}

/** An operation with a hundred thousand items takes seconds. */
const OPERATION_TIMEOUT_MS = 60_000;
/** Longer than any operation takes: one that is pending after this was interrupted by the end of its process. */
const INTERRUPTED_AFTER_MS = 10 * 60_000;
const OPERATIONS_KEPT_MS = 7 * 24 * 3600_000;

/** Items that are read or compared per tick: about a millisecond. */
const ITEMS_AT_ONCE = 500;

/** The effect of an operation on the existing items. */
interface ItemChanges {
  readonly insert: readonly (ItemForm & { readonly comment: string })[];
  readonly update: readonly { readonly id: string; readonly bucket: number; readonly value: string; readonly comment: string }[];
  readonly remove: readonly { readonly id: string; readonly bucket: number }[];
}

type Existing = readonly ExistingItem[];
/** Reads the existing items that a change concerns. */
type ReadExisting = (db: Unit["db"]) => Promise<Existing>;

export interface RuleListItemsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits?: Partial<RuleListLimits>;
}

export function createRuleListItems(deps: RuleListItemsDeps): RuleListItems {
  const { store, clock } = deps;
  const { itemsMax } = { ...RULE_LIST_LIMITS, ...deps.limits };
  const underWay = new Set<Promise<void>>();
  const now = (): string => isoMicros(clock.nowMicros());
  /** An operation from before this start has ended with SQLite; with PostgreSQL another server may still be at work on it. */
  const startedOn = store.dialect === "sqlite" ? now() : "";

  const begin = async (
    call: Call,
    accountId: string,
    listId: string,
    read: ReadExisting,
    change: (existing: Existing) => ItemChanges | Promise<ItemChanges>,
  ): Promise<{ operation_id: string }> => {
    const id = newId();
    await commit(deps, call, async (unit) => {
      const list = await ownList(unit.db, accountId, listId);
      await deleteOperationsBefore(unit.db, accountId, isoMicros((clock.nowMs() - OPERATIONS_KEPT_MS) * 1000));
      await insertOperation(unit.db, {
        id,
        account_id: accountId,
        list_id: list.id,
        status: "pending",
        error: null,
        created_on: now(),
        completed: null,
      });
    });
    // The response does not wait for the operation, so its revision must not be noted on the original call.
    const later: Call = { ...call, rev: null };
    const work = carryOut(later, accountId, listId, id, async (db) => change(await read(db))).finally(() => underWay.delete(work));
    underWay.add(work);
    return { operation_id: id };
  };

  const carryOut = async (
    call: Call,
    accountId: string,
    listId: string,
    id: string,
    changesOf: (db: Unit["db"]) => Promise<ItemChanges>,
  ): Promise<void> => {
    try {
      const work = async (unit: Unit): Promise<void> => {
        const list = await ownList(unit.db, accountId, listId);
        await applyChanges(unit, call, list, await changesOf(unit.db), itemsMax, now());
        await endOperation(unit.db, id, { status: "completed", completed: now() });
      };
      await commit(deps, call, work, { timeoutMs: OPERATION_TIMEOUT_MS });
    } catch (error) {
      const told = error instanceof PlatformError ? error.message : "the operation failed";
      await store.write((unit) => endOperation(unit.db, id, { status: "failed", error: told, completed: now() })).catch(() => undefined);
    }
  };

  const formsOf = async (accountId: string, listId: string, items: readonly RuleListItemWrite[]) => {
    const { kind } = await ownList(store.read, accountId, listId);
    const forms = new Map<string, ItemForm & { comment: string }>();
    await inTicks(items.entries(), ITEMS_AT_ONCE, ([index, item]) => {
      const form = readItem(kind as RuleListKind, item, `/${index}`);
      forms.set(form.key, { ...form, comment: item.comment ?? "" });
    });
    return forms;
  };

  return {
    list: async (accountId, listId, { per_page, cursor }, search) => {
      const list = await ownList(store.read, accountId, listId);
      const after = cursor === undefined ? "" : readCursor(cursor);
      const rows = await itemsAfter(store.scan, listId, { after, limit: per_page + 1, ...(search === undefined ? {} : { search }) });
      const shown = rows.slice(0, per_page);
      const last = shown.at(-1);
      return { items: shown.map((row) => itemView(list, row)), after: rows.length > per_page && last ? writeCursor(last.id) : null };
    },

    get: async (accountId, listId, id) => {
      const list = await ownList(store.read, accountId, listId);
      const row = await itemById(store.read, listId, id);
      if (row === undefined) throw new PlatformError("rule_list_not_found", { message: `could not find item ${id} of the list` });
      return itemView(list, row);
    },

    add: async (call, accountId, listId, items) => {
      const forms = await formsOf(accountId, listId, items);
      const read: ReadExisting = (db) => itemsWith(db, listId, "item_key", [...forms.keys()]);
      return begin(call, accountId, listId, read, (existing) => mergeItems(existing, forms, false));
    },

    replace: async (call, accountId, listId, items) => {
      const forms = await formsOf(accountId, listId, items);
      const read: ReadExisting = (db) => itemKeysOf(db, listId);
      return begin(call, accountId, listId, read, (existing) => mergeItems(existing, forms, true));
    },

    remove: async (call, accountId, listId, { items }) => {
      await ownList(store.read, accountId, listId);
      const ids = new Set(items.map(({ id }) => id));
      const read: ReadExisting = (db) => itemsWith(db, listId, "id", [...ids]);
      return begin(call, accountId, listId, read, (existing) => ({ insert: [], update: [], remove: existing }));
    },

    operation: async (accountId, id) => {
      const row = await operationById(store.read, accountId, id);
      if (row === undefined) throw new PlatformError("rule_list_not_found", { message: `could not find operation ${id}` });
      const isOld = row.created_on < startedOn || Date.parse(row.created_on) + INTERRUPTED_AFTER_MS < clock.nowMs();
      const isCutOff = row.status === "pending" && isOld;
      if (isCutOff) return { id, status: "failed", error: "the operation was interrupted; nothing was changed", completed: row.created_on };
      return {
        id,
        status: row.status as RuleListOperation["status"],
        ...(row.completed === null ? {} : { completed: row.completed }),
        ...(row.error === null ? {} : { error: row.error }),
      };
    },

    idle: async () => void (await Promise.all(underWay)),
  };
}

/** `others`: deletes all other items. */
async function mergeItems(
  existing: Existing,
  forms: ReadonlyMap<string, ItemForm & { readonly comment: string }>,
  others: boolean,
): Promise<ItemChanges> {
  const changes = {
    insert: [] as ItemChanges["insert"][number][],
    update: [] as ItemChanges["update"][number][],
    remove: [] as ExistingItem[],
  };
  const known = new Set<string>();
  await inTicks(existing, ITEMS_AT_ONCE, (row) => {
    known.add(row.item_key);
    const form = forms.get(row.item_key);
    if (form === undefined) {
      if (others) changes.remove.push(row);
    } else if (form.value !== row.value || form.comment !== row.comment)
      changes.update.push({ id: row.id, bucket: row.bucket, value: form.value, comment: form.comment });
  });
  await inTicks(forms.values(), ITEMS_AT_ONCE, (form) => {
    if (!known.has(form.key)) changes.insert.push(form);
  });
  return changes;
}

async function applyChanges(unit: Unit, call: Call, list: RuleListRow, changes: ItemChanges, itemsMax: number, now: string): Promise<void> {
  const count = list.num_items + changes.insert.length - changes.remove.length;
  if (count > itemsMax)
    throw new PlatformError("rule_list_invalid", { message: `a list has at most ${itemsMax} items; it would have ${count}` });
  await deleteItems(
    unit.db,
    list.id,
    changes.remove.map(({ id }) => id),
  );
  const inserted: { readonly bucket: number }[] = [];
  for (const forms of chunksOf(changes.insert, ITEMS_AT_ONCE)) {
    const rows = forms.map(({ key, value, comment }): RuleListItemRow => {
      const times = { created_on: now, modified_on: now };
      return { list_id: list.id, id: newId(), item_key: key, bucket: bucketOf(key), value, comment, ...times };
    });
    for (const { bucket } of rows) inserted.push({ bucket });
    await insertItems(unit.db, rows);
  }
  for (const { id, value, comment } of changes.update) await updateItem(unit.db, list.id, id, { value, comment, modified_on: now });
  const after = { ...list, num_items: count, modified_on: now };
  await updateRuleList(unit.db, list.id, { num_items: count, modified_on: now });
  const numbers = { inserted: inserted.length, updated: changes.update.length, removed: changes.remove.length };
  unit.audit({ ...listAudit(call, list, "rule_list.change_items"), after: numbers });
  await publishParts(unit, list, after, [...inserted, ...changes.update, ...changes.remove]);
}

/** Publishes the parts that contain changes, or all parts if their number changed. */
async function publishParts(
  unit: Unit,
  before: RuleListRow,
  after: RuleListRow,
  changed: readonly { readonly bucket: number }[],
): Promise<void> {
  const parts = partsOf(after.num_items);
  const isSame = parts === partsOf(before.num_items);
  const wanted = isSame ? new Set(changed.map(({ bucket }) => partOf(bucket, parts))) : null;
  for (const op of await listOps(unit.db, after, wanted)) unit.change(op);
  for (let part = parts; part < partsOf(before.num_items); part++)
    unit.change({ kind: "list", id: listEntryId(after.id, part), value: null });
}

const itemView = (list: RuleListRow, row: RuleListItemRow): RuleListItem => ({
  id: row.id,
  ...showItem(list.kind as RuleListKind, row.value),
  ...(row.comment === "" ? {} : { comment: row.comment }),
  created_on: row.created_on,
  modified_on: row.modified_on,
});
