import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { FIREWALL_OBJECTS_MAX, type Filter, type FilterQuery, type FilterWrite } from "#model/rulesets/firewall-rule.ts";
import type { NamedLists } from "#rules/expression/values/lists.ts";
import { expressionProblem } from "#rules/expression/format.ts";
import { ruleListsOf } from "#store/rulesets/rule-lists.ts";
import type { ListKind } from "#rules/expression/values/lists.ts";
import type { Unit } from "#store/database/store.ts";
import { changeFirewall, type FirewallDeps, type FirewallEdit, type FirewallOwner } from "./firewall-edit.ts";
import { firewallPage, holdsText } from "./firewall-page.ts";
import { loadFirewall } from "./state.ts";

/**
 * Filters: expressions that firewall rules refer to. Throws `firewall_object_not_found`, `firewall_invalid`,
 * `rule_expression_invalid`.
 */
export interface Filters {
  list(zone: FirewallOwner, query: FilterQuery, page: PageRequest): Promise<Page<Filter>>;
  get(zone: FirewallOwner, id: string): Promise<Filter>;
  create(call: Call, zone: FirewallOwner, writes: readonly FilterWrite[]): Promise<readonly Filter[]>;
  /** Each write has the `id` of its filter. */
  update(call: Call, zone: FirewallOwner, writes: readonly FilterWrite[]): Promise<readonly Filter[]>;
  /** Throws `firewall_object_in_use` for the filter of a rule. */
  delete(call: Call, zone: FirewallOwner, ids: readonly string[]): Promise<readonly { id: string }[]>;
}

export function createFilters(deps: FirewallDeps): Filters {
  const { store } = deps;
  return {
    list: async (zone, query, page) =>
      firewallPage(
        (await loadFirewall(store.read, zone.id)).filters.filter((filter) => fits(filter, query)),
        page,
      ),
    get: async (zone, id) => filterNamed((await loadFirewall(store.read, zone.id)).filters, id),
    create: (call, zone, writes) =>
      changeFirewall(deps, call, zone, async (edit) => {
        const made: Filter[] = [];
        for (const [index, write] of writes.entries()) made.push(await putFilter(edit, write, null, pointerOf(writes, index)));
        return made;
      }),
    update: (call, zone, writes) =>
      changeFirewall(deps, call, zone, async (edit) => {
        const made: Filter[] = [];
        for (const [index, write] of writes.entries()) {
          const before = filterNamed((await edit.firewall()).filters, idIn(write, pointerOf(writes, index)));
          made.push(
            await putFilter(edit, { ...write, expression: write.expression ?? before.expression }, before.id, pointerOf(writes, index)),
          );
        }
        return made;
      }),
    delete: (call, zone, ids) =>
      changeFirewall(deps, call, zone, async (edit) => {
        const { filters, firewall_rules } = await edit.firewall();
        for (const id of new Set(ids)) {
          filterNamed(filters, id);
          const rule = firewall_rules.find(({ filter_id }) => filter_id === id);
          if (rule !== undefined)
            throw new PlatformError("firewall_object_in_use", { message: `firewall rule ${rule.id} has the filter ${id}` });
          await edit.remove("filter", id);
        }
        return [...new Set(ids)].map((id) => ({ id }));
      }),
  };
}

/** The identifier in an item of a write to a collection. */
export function idIn({ id }: { readonly id?: string }, at: string): string {
  if (id === undefined || id === "") throw new PlatformError("firewall_invalid", { message: '"id" is required.', source: `${at}/id` });
  return id;
}

const pointerOf = (writes: readonly unknown[], index: number): string => (writes.length === 1 ? "" : `/${index}`);

/** Writes a filter; `id`: the filter to replace. Throws `rule_expression_invalid` with the location. */
export async function putFilter(edit: FirewallEdit, write: FilterWrite, id: string | null, at: string): Promise<Filter> {
  const { expression, description, ref, paused = false } = write;
  if (expression === undefined)
    throw new PlatformError("firewall_invalid", { message: "a filter needs an expression", source: `${at}/expression` });
  const problem = expressionProblem(expression, "http_request_firewall_custom", "filter", {
    lists: await namedLists(edit.db, edit.zone.account_id),
  });
  if (problem !== null) throw new PlatformError("rule_expression_invalid", { message: problem.message, source: `${at}/expression` });
  if (id === null && (await edit.firewall()).filters.length >= FIREWALL_OBJECTS_MAX)
    throw new PlatformError("firewall_invalid", { message: `a zone has at most ${FIREWALL_OBJECTS_MAX} filters` });
  const value = {
    paused,
    ...(description === undefined ? {} : { description }),
    expression,
    ...(ref === undefined ? {} : { ref }),
  };
  const filter = { id: id ?? newId(), ...value };
  await edit.put("filter", filter.id, value, id === null ? "create" : "update");
  return filter;
}

/** Throws `firewall_object_not_found`. */
export function filterNamed(filters: readonly Filter[], id: string): Filter {
  const filter = filters.find((candidate) => candidate.id === id);
  if (filter === undefined) throw new PlatformError("firewall_object_not_found", { message: `could not find filter ${id}` });
  return filter;
}

/** The account's lists by name and kind; their items are not needed to check an expression. */
async function namedLists(db: Unit["db"], accountId: string): Promise<NamedLists> {
  const kinds = new Map((await ruleListsOf(db, accountId)).map(({ name, kind }) => [name, kind as ListKind]));
  return {
    find: (name) => {
      const kind = kinds.get(name);
      return kind && { kind, has: () => false };
    },
  };
}

const fits = (filter: Filter, query: FilterQuery): boolean =>
  (query.id === undefined || filter.id === query.id) &&
  (query.paused === undefined || filter.paused === query.paused) &&
  (query.ref === undefined || filter.ref === query.ref) &&
  holdsText(filter.expression, query.expression) &&
  holdsText(filter.description, query.description);
