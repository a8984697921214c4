import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import type { StoredAccessRule } from "#control/previous-waf/compile-tools.ts";
import type { FirewallDeps } from "#control/previous-waf/firewall-edit.ts";
import { firewallPage, holdsText } from "#control/previous-waf/firewall-page.ts";
import {
  ACCESS_MODES,
  ACCESS_RULES_MAX,
  type AccessRule,
  type AccessRuleEdit,
  type AccessRuleQuery,
  type AccessRuleWrite,
} from "#model/rulesets/access-rule.ts";
import { type AccessRuleOwner, createAccessRuleStore } from "./access-rule-store.ts";
import { NOWHERE_NOTE, visitorsOf } from "./visitors.ts";

/** Access rules of a zone, or of all zones of an account. Throws `firewall_object_not_found`, `firewall_invalid`. */
export interface AccessRules {
  list(owner: AccessRuleOwner, query: AccessRuleQuery, page: PageRequest): Promise<Page<AccessRule>>;
  get(owner: AccessRuleOwner, id: string): Promise<AccessRule>;
  /** Throws `access_rule_duplicate` if another rule names the same visitors. */
  create(call: Call, owner: AccessRuleOwner, write: AccessRuleWrite): Promise<AccessRule>;
  edit(call: Call, owner: AccessRuleOwner, id: string, edit: AccessRuleEdit): Promise<AccessRule>;
  delete(call: Call, owner: AccessRuleOwner, id: string): Promise<{ readonly id: string }>;
}

export function createAccessRules(deps: FirewallDeps): AccessRules {
  const rules = createAccessRuleStore(deps);
  return {
    list: async (owner, query, page) => {
      const found = (await rules.list(owner)).filter(filterOf(query));
      return firewallPage(
        inOrder(found, query).map((rule) => view(owner, rule)),
        page,
      );
    },
    get: async (owner, id) => view(owner, ruleNamed(await rules.list(owner), id)),
    create: (call, owner, { mode, notes = "", configuration }) =>
      rules.change(call, owner, async (edit) => {
        const wanted = visitorsOf(configuration, "/configuration");
        if (edit.rules.some((rule) => isOf(rule, wanted))) throw new PlatformError("access_rule_duplicate", { source: "/configuration" });
        if (edit.rules.length >= ACCESS_RULES_MAX)
          throw invalid(`At most ${ACCESS_RULES_MAX} access rules are allowed here; a custom rule that names a list takes more.`, "");
        if (deps.hasPlaces === false && (wanted.target === "country" || wanted.target === "asn")) call.notes = [NOWHERE_NOTE];
        const rule = { id: newId(), mode, notes, configuration: wanted, created_on: edit.now, modified_on: edit.now };
        await edit.put(rule, "create");
        return view(owner, rule);
      }),
    edit: (call, owner, id, { mode, notes, configuration }) =>
      rules.change(call, owner, async (edit) => {
        const before = ruleNamed(edit.rules, id);
        if (configuration !== undefined && !isOf(before, visitorsOf(configuration, "/configuration")))
          throw invalid("The configuration of a rule cannot change: create another rule.", "/configuration");
        const rule = { ...before, mode: mode ?? before.mode, notes: notes ?? before.notes, modified_on: edit.now };
        await edit.put(rule, "update");
        return view(owner, rule);
      }),
    delete: (call, owner, id) =>
      rules.change(call, owner, async (edit) => {
        ruleNamed(edit.rules, id);
        await edit.remove(id);
        return { id };
      }),
  };
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("firewall_invalid", { message, source });

const isOf = ({ configuration }: StoredAccessRule, { target, value }: AccessRule["configuration"]): boolean =>
  configuration.target === target && configuration.value === value;

function ruleNamed(rules: readonly StoredAccessRule[], id: string): StoredAccessRule {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) throw new PlatformError("firewall_object_not_found", { message: `could not find access rule ${id}` });
  return rule;
}

const view = (
  { level, id }: AccessRuleOwner,
  { id: rule_id, notes, mode, configuration, created_on, modified_on }: StoredAccessRule,
): AccessRule => ({
  id: rule_id,
  notes,
  allowed_modes: ACCESS_MODES,
  mode,
  configuration,
  scope: { id, type: level === "account" ? "organization" : "zone" },
  created_on,
  modified_on,
});

function filterOf(query: AccessRuleQuery): (rule: StoredAccessRule) => boolean {
  const { mode, notes, match = "all" } = query;
  const { "configuration.target": target, "configuration.value": value } = query;
  const tests: ((rule: StoredAccessRule) => boolean)[] = [];
  if (mode !== undefined) tests.push((rule) => rule.mode === mode);
  if (notes !== undefined) tests.push((rule) => holdsText(rule.notes, notes));
  if (target !== undefined) tests.push((rule) => rule.configuration.target === target);
  if (value !== undefined) tests.push((rule) => holdsText(rule.configuration.value, value));
  if (tests.length === 0) return () => true;
  return match === "any" ? (rule) => tests.some((fits) => fits(rule)) : (rule) => tests.every((fits) => fits(rule));
}

function inOrder(rules: readonly StoredAccessRule[], { order, direction }: AccessRuleQuery): readonly StoredAccessRule[] {
  if (order === undefined) return direction === "desc" ? rules.toReversed() : rules;
  const keyOf = (rule: StoredAccessRule): string =>
    order === "mode" ? rule.mode : order === "configuration.target" ? rule.configuration.target : rule.configuration.value;
  const way = direction === "desc" ? -1 : 1;
  return rules.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -way : keyOf(a) > keyOf(b) ? way : 0));
}
