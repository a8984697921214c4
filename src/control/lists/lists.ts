import { type Call, systemCall } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { listEntryId, listOps, partsOf } from "#control/lists/list-entries.ts";
import { listReferences } from "#control/lists/references.ts";
import type { Removals } from "#control/zones/removals.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { RuleList, RuleListCreate, RuleListUpdate } from "#model/rulesets/rule-list.ts";
import { deleteRuleList, insertRuleList, ruleListById, type RuleListRow, ruleListsOf, updateRuleList } from "#store/rulesets/rule-lists.ts";
import type { AuditEntry, Store, Unit } from "#store/database/store.ts";

/** Lists of an account, for rules of the account and its zones. Throws `rule_list_not_found`. */
export interface RuleLists {
  list(accountId: string): Promise<readonly RuleList[]>;
  create(call: Call, accountId: string, body: RuleListCreate): Promise<RuleList>;
  get(accountId: string, id: string): Promise<RuleList>;
  /** Only changes the description, because rules refer to a list by its name. */
  update(call: Call, accountId: string, id: string, body: RuleListUpdate): Promise<RuleList>;
  /** Throws `rule_list_in_use` while a rule refers to it. */
  delete(call: Call, accountId: string, id: string): Promise<{ id: string }>;
}

/** Limits that the operator configures. */
export interface RuleListLimits {
  readonly listsMax: number;
  readonly itemsMax: number;
}

export const RULE_LIST_LIMITS: RuleListLimits = { listsMax: 100, itemsMax: 100_000 };

export function createRuleLists(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits?: Partial<RuleListLimits>;
  readonly removals: Pick<Removals, "wake">;
}): RuleLists {
  const { store, clock } = deps;
  const { listsMax } = { ...RULE_LIST_LIMITS, ...deps.limits };
  const show = async (db: Unit["db"], row: RuleListRow): Promise<RuleList> =>
    listView(row, (await listReferences(db, row.account_id)).get(row.name)?.length ?? 0);

  return {
    list: async (accountId) => {
      const references = await listReferences(store.read, accountId);
      return (await ruleListsOf(store.read, accountId)).map((row) => listView(row, references.get(row.name)?.length ?? 0));
    },

    create: (call, accountId, body) =>
      commit(deps, call, async (unit) => {
        const others = await ruleListsOf(unit.db, accountId);
        if (others.some(({ name }) => name === body.name))
          throw invalid(`the account already has a list with the name ${body.name}`, "/name");
        if (others.length >= listsMax) throw invalid(`an account has at most ${listsMax} lists`, "");
        const now = isoMicros(clock.nowMicros());
        const { name, kind, description = "" } = body;
        const row: RuleListRow = {
          id: newId(),
          account_id: accountId,
          name,
          kind,
          description,
          num_items: 0,
          created_on: now,
          modified_on: now,
        };
        await insertRuleList(unit.db, row);
        const view = listView(row, 0);
        unit.audit({ ...listAudit(call, row, "rule_list.create"), after: view });
        for (const op of await listOps(unit.db, row, null)) unit.change(op);
        return view;
      }),

    get: async (accountId, id) => show(store.read, await ownList(store.read, accountId, id)),

    update: (call, accountId, id, body) =>
      commit(deps, call, async (unit) => {
        const before = await ownList(unit.db, accountId, id);
        const row = { ...before, description: body.description ?? "", modified_on: isoMicros(clock.nowMicros()) };
        await updateRuleList(unit.db, id, { description: row.description, modified_on: row.modified_on });
        const after = await show(unit.db, row);
        unit.audit({ ...listAudit(call, row, "rule_list.update"), before: await show(unit.db, before), after });
        return after;
      }),

    delete: async (call, accountId, id) => {
      const deleted = await commit(deps, call, async (unit) => {
        const row = await ownList(unit.db, accountId, id);
        const [reference] = (await listReferences(unit.db, accountId)).get(row.name) ?? [];
        if (reference !== undefined)
          throw new PlatformError("rule_list_in_use", {
            message: `rule ${reference.rule_id} of ruleset ${reference.ruleset_id} (phase ${reference.phase}) names the list $${row.name}`,
          });
        await deleteRuleList(unit.db, id, clock.nowMicros());
        unit.audit({ ...listAudit(call, row, "rule_list.delete"), before: listView(row, 0) });
        for (let part = 0; part < partsOf(row.num_items); part++) unit.change({ kind: "list", id: listEntryId(id, part), value: null });
        return { id };
      });
      deps.removals.wake(systemCall("remove-leftovers"));
      return deleted;
    },
  };
}

export async function ownList(db: Unit["db"], accountId: string, id: string): Promise<RuleListRow> {
  const row = await ruleListById(db, accountId, id);
  if (row === undefined) throw new PlatformError("rule_list_not_found");
  return row;
}

export const listAudit = (call: Call, row: RuleListRow, action: string): AuditEntry => ({
  action,
  actor: auditActor(call),
  account_id: row.account_id,
  zone_id: null,
  resource: { type: "rule_list", id: row.id },
});

const listView = (row: RuleListRow, references: number): RuleList => ({
  id: row.id,
  name: row.name,
  kind: row.kind as RuleList["kind"],
  ...(row.description === "" ? {} : { description: row.description }),
  num_items: row.num_items,
  num_referencing_filters: references,
  created_on: row.created_on,
  modified_on: row.modified_on,
});

const invalid = (message: string, source: string): PlatformError => new PlatformError("rule_list_invalid", { message, source });
