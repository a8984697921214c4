import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { PageRule, PageRuleEdit, PageRuleQuery, PageRuleWrite } from "#model/rulesets/page-rule.ts";

const PAGE_RULES = "/zones/:zone_id/pagerules";
const PAGE_RULE = "/zones/:zone_id/pagerules/:pagerule_id";
// Page rules here only determine where the previous WAF runs.
const WRITE = ["Page Rules Write", "Zone Write", "Zone Settings Write"] as const;
const READ = ["Page Rules Read", "Zone Read", "Zone Settings Read", ...WRITE] as const;
const read = { method: "GET", scope: "zone", permissions: READ, result: PageRule } as const;
const write = { scope: "zone", permissions: WRITE, paging: "one", invalid_body: "firewall_invalid" } as const;

export const PAGE_RULE_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: PAGE_RULES,
    id: "page-rules-list",
    summary: "List page rules",
    query: PageRuleQuery,
    paging: "list",
    handler: ({ control, resolved, query }) => control.previousWaf.pageRules.list(zoneOf(resolved), query),
  }),
  route({
    ...write,
    method: "POST",
    path: PAGE_RULES,
    id: "page-rules-create",
    summary: "Create a page rule for the previous WAF",
    body: PageRuleWrite,
    result: PageRule,
    handler: ({ control, call, resolved, body }) => control.previousWaf.pageRules.create(call, zoneOf(resolved), body),
  }),
  route({
    ...read,
    path: PAGE_RULE,
    id: "page-rules-get",
    summary: "Show a page rule",
    paging: "one",
    handler: ({ control, resolved, params }) => control.previousWaf.pageRules.get(zoneOf(resolved), params.pagerule_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: PAGE_RULE,
    id: "page-rules-edit",
    summary: "Change parts of a page rule",
    body: PageRuleEdit,
    result: PageRule,
    handler: ({ control, call, resolved, params, body }) =>
      control.previousWaf.pageRules.update(call, zoneOf(resolved), params.pagerule_id, body),
  }),
  route({
    ...write,
    method: "PUT",
    path: PAGE_RULE,
    id: "page-rules-update",
    summary: "Replace a page rule",
    body: PageRuleWrite,
    result: PageRule,
    handler: ({ control, call, resolved, params, body }) =>
      control.previousWaf.pageRules.update(call, zoneOf(resolved), params.pagerule_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: PAGE_RULE,
    id: "page-rules-delete",
    summary: "Delete a page rule",
    result: Type.Object({ id: Type.String() }),
    handler: ({ control, call, resolved, params }) => control.previousWaf.pageRules.delete(call, zoneOf(resolved), params.pagerule_id),
  }),
];
