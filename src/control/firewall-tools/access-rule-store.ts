import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { StoredAccessRule } from "#control/previous-waf/compile-tools.ts";
import { accountSlotOp } from "#control/previous-waf/entries.ts";
import { changeFirewall } from "#control/previous-waf/firewall-edit.ts";
import { loadFirewall } from "#control/previous-waf/state.ts";
import { lockAccount } from "#store/access/accounts.ts";
import type { Store, Unit } from "#store/database/store.ts";
import {
  accountFirewallObjectsOf,
  deleteAccountFirewallObject,
  putAccountFirewallObject,
} from "#store/rulesets/account-firewall-objects.ts";

/** The zone or account whose visitors the rules match. */
export interface AccessRuleOwner {
  readonly level: "account" | "zone";
  readonly id: string;
  readonly account_id: string;
}

export interface AccessRuleStore {
  list(owner: AccessRuleOwner): Promise<readonly StoredAccessRule[]>;
  /** Runs one change, and publishes the rules that result. */
  change<T>(call: Call, owner: AccessRuleOwner, work: (edit: AccessRuleChange) => Promise<T>): Promise<T>;
}

export interface AccessRuleChange {
  readonly rules: readonly StoredAccessRule[];
  readonly now: string;
  put(rule: StoredAccessRule, verb: "create" | "update"): Promise<void>;
  remove(id: string): Promise<void>;
}

const KIND = "access_rule";
const valueOf = ({ mode, configuration, notes }: StoredAccessRule) => ({ mode, configuration, notes });

export function createAccessRuleStore(deps: { readonly store: Store; readonly clock: Clock }): AccessRuleStore {
  const ofAccount = async (db: Unit["db"], id: string): Promise<readonly StoredAccessRule[]> =>
    (await accountFirewallObjectsOf(db, id)).map(
      ({ id, value, created_on, modified_on }) => ({ id, ...(JSON.parse(value) as object), created_on, modified_on }) as StoredAccessRule,
    );

  const changeAccount: AccessRuleStore["change"] = (call, { id: account_id }, work) =>
    commit(deps, call, async (unit) => {
      if ((await lockAccount(unit.db, account_id)) === undefined) throw new PlatformError("unauthorized_resource");
      const now = isoMicros(deps.clock.nowMicros());
      const audited = (verb: string, id: string) => ({
        action: `${KIND}.${verb}`,
        actor: auditActor(call),
        account_id,
        zone_id: null,
        resource: { type: KIND, id },
      });
      const result = await work({
        rules: await ofAccount(unit.db, account_id),
        now,
        put: async (rule, verb) => {
          const value = JSON.stringify(valueOf(rule));
          await putAccountFirewallObject(unit.db, { account_id, kind: KIND, id: rule.id, value, created_on: now, modified_on: now });
          unit.audit({ ...audited(verb, rule.id), after: valueOf(rule) });
        },
        remove: async (id) => {
          await deleteAccountFirewallObject(unit.db, account_id, KIND, id);
          unit.audit(audited("delete", id));
        },
      });
      unit.change(accountSlotOp(account_id, await accountFirewallObjectsOf(unit.db, account_id)));
      return result;
    });

  return {
    list: async ({ level, id }) =>
      level === "account" ? ofAccount(deps.store.read, id) : (await loadFirewall(deps.store.read, id)).access_rules,
    change: (call, owner, work) =>
      owner.level === "account"
        ? changeAccount(call, owner, work)
        : changeFirewall(deps, call, owner, async (edit) =>
            work({
              rules: (await edit.firewall()).access_rules,
              now: edit.now,
              put: (rule, verb) => edit.put(KIND, rule.id, valueOf(rule), verb),
              remove: (id) => edit.remove(KIND, id),
            }),
          ),
  };
}
