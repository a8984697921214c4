import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { Type } from "typebox";
import {
  DeleteFilterQuery,
  Filter,
  FilterQuery,
  FilterWrite,
  FilterWrites,
  FirewallRule,
  FirewallRuleQuery,
  FirewallRuleWrite,
  FirewallRuleWrites,
  IdsQuery,
} from "#model/rulesets/firewall-rule.ts";

const FILTERS = "/zones/:zone_id/filters";
const RULES = "/zones/:zone_id/firewall/rules";
const read = { method: "GET", scope: "zone", permissions: ["Firewall Services Read", "Firewall Services Write"] } as const;
const write = { scope: "zone", permissions: ["Firewall Services Write"], invalid_body: "firewall_invalid" } as const;
const per_page = { default: 25, max: 100, min: 1 } as const;
const DeleteQuery = Type.Object({ ...IdsQuery.properties, ...DeleteFilterQuery.properties });

const FILTER_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: FILTERS,
    id: "filters-list",
    summary: "List filters",
    query: FilterQuery,
    result: Filter,
    paging: "page",
    per_page,
    handler: ({ control, resolved, query, page }) => control.previousWaf.filters.list(zoneOf(resolved), query, page),
  }),
  route({
    ...write,
    method: "POST",
    path: FILTERS,
    id: "filters-create",
    summary: "Create filters",
    body: FilterWrites,
    result: Filter,
    paging: "list",
    handler: ({ control, call, resolved, body }) => control.previousWaf.filters.create(call, zoneOf(resolved), [body].flat()),
  }),
  route({
    ...write,
    method: "PUT",
    path: FILTERS,
    id: "filters-bulk-update",
    summary: "Replace filters by ID",
    body: FilterWrites,
    result: Filter,
    paging: "list",
    handler: ({ control, call, resolved, body }) => control.previousWaf.filters.update(call, zoneOf(resolved), [body].flat()),
  }),
  route({
    ...write,
    method: "DELETE",
    path: FILTERS,
    id: "filters-bulk-delete",
    summary: "Delete the filters with the IDs in the query",
    query: IdsQuery,
    result: Type.Object({ id: Type.String() }),
    paging: "list",
    handler: ({ control, call, resolved, query }) => control.previousWaf.filters.delete(call, zoneOf(resolved), [query.id].flat()),
  }),
  route({
    ...read,
    path: `${FILTERS}/:filter_id`,
    id: "filters-get",
    summary: "Show a filter",
    result: Filter,
    paging: "one",
    handler: ({ control, resolved, params }) => control.previousWaf.filters.get(zoneOf(resolved), params.filter_id),
  }),
  route({
    ...write,
    method: "PUT",
    path: `${FILTERS}/:filter_id`,
    id: "filters-update",
    summary: "Replace a filter",
    body: FilterWrite,
    result: Filter,
    paging: "one",
    handler: async ({ control, call, resolved, params, body }) =>
      (await control.previousWaf.filters.update(call, zoneOf(resolved), [{ ...body, id: params.filter_id }]))[0] as Filter,
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${FILTERS}/:filter_id`,
    id: "filters-delete",
    summary: "Delete a filter that no firewall rule uses",
    result: Type.Object({ id: Type.String() }),
    paging: "one",
    handler: async ({ control, call, resolved, params }) => {
      await control.previousWaf.filters.delete(call, zoneOf(resolved), [params.filter_id]);
      return { id: params.filter_id };
    },
  }),
];

const RULE_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: RULES,
    id: "firewall-rules-list",
    summary: "List firewall rules",
    query: FirewallRuleQuery,
    result: FirewallRule,
    paging: "page",
    per_page,
    handler: ({ control, resolved, query, page }) => control.previousWaf.firewallRules.list(zoneOf(resolved), query, page),
  }),
  route({
    ...write,
    method: "POST",
    path: RULES,
    id: "firewall-rules-create",
    summary: "Create firewall rules with new or existing filters",
    body: FirewallRuleWrites,
    result: FirewallRule,
    paging: "list",
    handler: ({ control, call, resolved, body }) => control.previousWaf.firewallRules.create(call, zoneOf(resolved), [body].flat()),
  }),
  route({
    ...write,
    method: "PUT",
    path: RULES,
    id: "firewall-rules-bulk-update",
    summary: "Replace firewall rules by ID",
    body: FirewallRuleWrites,
    result: FirewallRule,
    paging: "list",
    handler: ({ control, call, resolved, body }) => control.previousWaf.firewallRules.update(call, zoneOf(resolved), [body].flat()),
  }),
  route({
    ...write,
    method: "PATCH",
    path: RULES,
    id: "firewall-rules-bulk-edit",
    summary: "Change the priorities of firewall rules",
    body: FirewallRuleWrites,
    result: FirewallRule,
    paging: "list",
    handler: ({ control, call, resolved, body }) => control.previousWaf.firewallRules.prioritize(call, zoneOf(resolved), [body].flat()),
  }),
  route({
    ...write,
    method: "DELETE",
    path: RULES,
    id: "firewall-rules-bulk-delete",
    summary: "Delete the firewall rules with the IDs in the query",
    query: DeleteQuery,
    result: FirewallRule,
    paging: "list",
    handler: ({ control, call, resolved, query }) =>
      control.previousWaf.firewallRules.delete(call, zoneOf(resolved), [query.id].flat(), query.delete_filter_if_unused === true),
  }),
  route({
    ...read,
    path: `${RULES}/:rule_id`,
    id: "firewall-rules-get",
    summary: "Show a firewall rule",
    result: FirewallRule,
    paging: "one",
    handler: ({ control, resolved, params }) => control.previousWaf.firewallRules.get(zoneOf(resolved), params.rule_id),
  }),
  route({
    ...write,
    method: "PUT",
    path: `${RULES}/:rule_id`,
    id: "firewall-rules-update",
    summary: "Replace a firewall rule",
    body: FirewallRuleWrite,
    result: FirewallRule,
    paging: "one",
    handler: async ({ control, call, resolved, params, body }) =>
      (await control.previousWaf.firewallRules.update(call, zoneOf(resolved), [{ ...body, id: params.rule_id }]))[0] as FirewallRule,
  }),
  route({
    ...write,
    method: "PATCH",
    path: `${RULES}/:rule_id`,
    id: "firewall-rules-edit",
    summary: "Change the priority of a firewall rule",
    body: FirewallRuleWrite,
    result: FirewallRule,
    paging: "list",
    handler: ({ control, call, resolved, params, body }) =>
      control.previousWaf.firewallRules.prioritize(call, zoneOf(resolved), [{ ...body, id: params.rule_id }]),
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${RULES}/:rule_id`,
    id: "firewall-rules-delete",
    summary: "Delete a firewall rule",
    query: DeleteFilterQuery,
    result: FirewallRule,
    paging: "one",
    handler: async ({ control, call, resolved, params, query }) =>
      (
        await control.previousWaf.firewallRules.delete(call, zoneOf(resolved), [params.rule_id], query.delete_filter_if_unused === true)
      )[0] as FirewallRule,
  }),
];

export const FIREWALL_RULE_ROUTES: readonly Route[] = [...FILTER_ROUTES, ...RULE_ROUTES];
