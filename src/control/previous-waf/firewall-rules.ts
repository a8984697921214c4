import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import {
  FIREWALL_OBJECTS_MAX,
  type FirewallAction,
  type FirewallRule,
  type FirewallRuleQuery,
  type FirewallRuleWrite,
} from "#model/rulesets/firewall-rule.ts";
import { filterNamed, idIn, putFilter } from "./filters.ts";
import { changeFirewall, type FirewallDeps, type FirewallEdit, type FirewallOwner } from "./firewall-edit.ts";
import { firewallPage, holdsText } from "./firewall-page.ts";
import { loadFirewall, type PreviousFirewall, type StoredFirewallRule } from "./state.ts";

type Writes = readonly FirewallRuleWrite[];

/**
 * Actions for requests that match a filter. Throws `firewall_object_not_found`, `firewall_invalid`, and the errors of
 * filters.
 */
export interface FirewallRules {
  list(zone: FirewallOwner, query: FirewallRuleQuery, page: PageRequest): Promise<Page<FirewallRule>>;
  get(zone: FirewallOwner, id: string): Promise<FirewallRule>;
  create(call: Call, zone: FirewallOwner, writes: Writes): Promise<readonly FirewallRule[]>;
  /** Each write has the `id` of the rule that it replaces. */
  update(call: Call, zone: FirewallOwner, writes: Writes): Promise<readonly FirewallRule[]>;
  /** Changes priorities only. */
  prioritize(call: Call, zone: FirewallOwner, writes: Writes): Promise<readonly FirewallRule[]>;
  /** `filters`: also deletes the rules' filters unless other rules use them. */
  delete(call: Call, zone: FirewallOwner, ids: readonly string[], filters: boolean): Promise<readonly FirewallRule[]>;
}

export function createFirewallRules(deps: FirewallDeps): FirewallRules {
  const { store } = deps;
  const change = (
    call: Call,
    zone: FirewallOwner,
    writes: Writes,
    put: (edit: FirewallEdit, write: FirewallRuleWrite, at: string) => Promise<string>,
  ) =>
    changeFirewall(deps, call, zone, async (edit) => {
      const ids: string[] = [];
      for (const [index, write] of writes.entries()) ids.push(await put(edit, write, writes.length === 1 ? "" : `/${index}`));
      const firewall = await edit.firewall();
      return ids.map((id) => shown(firewall, ruleNamed(firewall, id)));
    });

  return {
    list: async (zone, query, page) => {
      const firewall = await loadFirewall(store.read, zone.id);
      return firewallPage(
        firewall.firewall_rules.filter((rule) => fits(rule, query)).map((rule) => shown(firewall, rule)),
        page,
      );
    },
    get: async (zone, id) => {
      const firewall = await loadFirewall(store.read, zone.id);
      return shown(firewall, ruleNamed(firewall, id));
    },
    create: (call, zone, writes) => change(call, zone, writes, (edit, write, at) => putRule(edit, write, null, at)),
    update: (call, zone, writes) =>
      change(call, zone, writes, async (edit, write, at) => putRule(edit, write, ruleNamed(await edit.firewall(), idIn(write, at)), at)),
    prioritize: (call, zone, writes) =>
      change(call, zone, writes, async (edit, write, at) => {
        const { priority = null } = write;
        const id = idIn(write, at);
        const { id: _, created_on: __, modified_on: ___, ...value } = ruleNamed(await edit.firewall(), id);
        await edit.put("firewall_rule", id, { ...value, priority }, "update");
        return id;
      }),
    delete: (call, zone, ids, filters) =>
      changeFirewall(deps, call, zone, async (edit) => {
        const gone: FirewallRule[] = [];
        for (const id of new Set(ids)) gone.push(await removeRule(edit, id, filters));
        return gone;
      }),
  };
}

async function putRule(edit: FirewallEdit, write: FirewallRuleWrite, before: StoredFirewallRule | null, at: string): Promise<string> {
  const invalid = (message: string, member: string) => new PlatformError("firewall_invalid", { message, source: `${at}${member}` });
  const action = actionOf(write.action);
  if (action === undefined) throw invalid("a firewall rule needs an action", "/action");
  const products = write.products ?? [];
  if (action === "bypass" && products.length === 0) throw invalid("action bypass requires products", "/products");
  if (action !== "bypass" && products.length > 0) throw invalid("products are allowed only with action bypass", "/products");
  if (before === null && (await edit.firewall()).firewall_rules.length >= FIREWALL_OBJECTS_MAX)
    throw invalid(`a zone has at most ${FIREWALL_OBJECTS_MAX} firewall rules`, "");
  const id = before?.id ?? newId();
  const value = {
    paused: write.paused ?? false,
    ...(write.description === undefined ? {} : { description: write.description }),
    action,
    ...(products.length === 0 ? {} : { products }),
    priority: write.priority ?? null,
    ...(write.ref === undefined ? {} : { ref: write.ref }),
    filter_id: await filterOf(edit, write, before, at),
  };
  await edit.put("firewall_rule", id, value, before === null ? "create" : "update");
  return id;
}

/** The id of the rule's filter: an existing one, updated if the rule contains more fields, or a new one. */
async function filterOf(edit: FirewallEdit, { filter }: FirewallRuleWrite, before: StoredFirewallRule | null, at: string): Promise<string> {
  const known = filter?.id ?? (filter === undefined ? before?.filter_id : undefined);
  if (known === undefined) {
    if (filter === undefined)
      throw new PlatformError("firewall_invalid", { message: "a firewall rule needs a filter", source: `${at}/filter` });
    return (await putFilter(edit, filter, null, `${at}/filter`)).id;
  }
  const { id, ...kept } = filterNamed((await edit.firewall()).filters, known);
  if (filter?.expression !== undefined) await putFilter(edit, { ...kept, ...filter }, id, `${at}/filter`);
  return id;
}

const MODES: Readonly<Record<string, FirewallAction>> = { simulate: "log", ban: "block" };

const actionOf = (action: FirewallRuleWrite["action"]): FirewallAction | undefined =>
  typeof action === "object" ? (MODES[action.mode] ?? (action.mode as FirewallAction)) : action;

async function removeRule(edit: FirewallEdit, id: string, withFilter: boolean): Promise<FirewallRule> {
  const firewall = await edit.firewall();
  const rule = ruleNamed(firewall, id);
  await edit.remove("firewall_rule", id);
  const isShared = firewall.firewall_rules.some((other) => other.id !== id && other.filter_id === rule.filter_id);
  if (!withFilter || isShared) return shown(firewall, rule);
  await edit.remove("filter", rule.filter_id);
  return { ...shown(firewall, rule), filter: { id: rule.filter_id, deleted: true } };
}

function ruleNamed({ firewall_rules }: PreviousFirewall, id: string): StoredFirewallRule {
  const rule = firewall_rules.find((candidate) => candidate.id === id);
  if (rule === undefined) throw new PlatformError("firewall_object_not_found", { message: `could not find firewall rule ${id}` });
  return rule;
}

const shown = ({ filters }: PreviousFirewall, { filter_id, ...rule }: StoredFirewallRule): FirewallRule => ({
  ...rule,
  filter: filterNamed(filters, filter_id),
});

const fits = (rule: StoredFirewallRule, query: FirewallRuleQuery): boolean =>
  (query.id === undefined || rule.id === query.id) &&
  (query.paused === undefined || rule.paused === query.paused) &&
  (query.action === undefined || rule.action === query.action) &&
  holdsText(rule.description, query.description);
