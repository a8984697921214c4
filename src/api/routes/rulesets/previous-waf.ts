import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import {
  WafGroupEdit,
  WafGroupQuery,
  WafGroupView,
  WafOverride,
  WafOverrideWrite,
  WafPackageEdit,
  WafPackageQuery,
  WafPackageView,
  WafRuleEdit,
  WafRuleQuery,
  WafRuleView,
} from "#model/rulesets/previous-waf.ts";

const PACKAGES = "/zones/:zone_id/firewall/waf/packages";
const PACKAGE = "/zones/:zone_id/firewall/waf/packages/:package_id";
const OVERRIDES = "/zones/:zone_id/firewall/waf/overrides";
const OVERRIDE = "/zones/:zone_id/firewall/waf/overrides/:override_id";
const read = { method: "GET", scope: "zone", permissions: ["Firewall Services Read", "Firewall Services Write"] } as const;
const edit = {
  method: "PATCH",
  scope: "zone",
  permissions: ["Firewall Services Write"],
  paging: "one",
  invalid_body: "firewall_invalid",
} as const;
// contract.md §1: overrides count as settings of the zone.
const readOverride = {
  method: "GET",
  scope: "zone",
  permissions: ["Zone Settings Read", "Zone Settings Write"],
  result: WafOverride,
} as const;
const writeOverride = { scope: "zone", permissions: ["Zone Settings Write"], paging: "one", invalid_body: "firewall_invalid" } as const;
const per_page = { default: 50, max: 100 } as const;

const PACKAGE_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: PACKAGES,
    id: "waf-packages-list",
    summary: "List the packages of the previous WAF",
    query: WafPackageQuery,
    result: WafPackageView,
    paging: "page",
    per_page,
    handler: ({ control, resolved, query, page }) => control.previousWaf.packages.list(zoneOf(resolved), query.name, page),
  }),
  route({
    ...read,
    path: PACKAGE,
    id: "waf-packages-get",
    summary: "Show a package of the previous WAF",
    result: WafPackageView,
    paging: "one",
    handler: ({ control, resolved, params }) => control.previousWaf.packages.get(zoneOf(resolved), params.package_id),
  }),
  route({
    ...edit,
    path: PACKAGE,
    id: "waf-packages-edit",
    summary: "Change a package of the previous WAF",
    body: WafPackageEdit,
    result: WafPackageView,
    handler: ({ control, call, resolved, params, body }) =>
      control.previousWaf.packages.edit(call, zoneOf(resolved), params.package_id, body),
  }),
  route({
    ...read,
    path: `${PACKAGE}/groups`,
    id: "waf-groups-list",
    summary: "List the rule groups of a package",
    query: WafGroupQuery,
    result: WafGroupView,
    paging: "page",
    per_page,
    handler: ({ control, resolved, params, query, page }) =>
      control.previousWaf.packages.groups(zoneOf(resolved), params.package_id, query, page),
  }),
  route({
    ...read,
    path: `${PACKAGE}/groups/:group_id`,
    id: "waf-groups-get",
    summary: "Show a rule group",
    result: WafGroupView,
    paging: "one",
    handler: ({ control, resolved, params }) => control.previousWaf.packages.group(zoneOf(resolved), params.package_id, params.group_id),
  }),
  route({
    ...edit,
    path: `${PACKAGE}/groups/:group_id`,
    id: "waf-groups-edit",
    summary: "Turn a rule group on or off",
    body: WafGroupEdit,
    result: WafGroupView,
    handler: ({ control, call, resolved, params, body }) =>
      control.previousWaf.packages.editGroup(call, zoneOf(resolved), params.package_id, params.group_id, body.mode),
  }),
  route({
    ...read,
    path: `${PACKAGE}/rules`,
    id: "waf-rules-list",
    summary: "List the rules of a package",
    query: WafRuleQuery,
    result: WafRuleView,
    paging: "page",
    per_page,
    handler: ({ control, resolved, params, query, page }) =>
      control.previousWaf.packages.rules(zoneOf(resolved), params.package_id, query, page),
  }),
  route({
    ...read,
    path: `${PACKAGE}/rules/:rule_id`,
    id: "waf-rules-get",
    summary: "Show a rule of a package",
    result: WafRuleView,
    paging: "one",
    handler: ({ control, resolved, params }) => control.previousWaf.packages.rule(zoneOf(resolved), params.package_id, params.rule_id),
  }),
  route({
    ...edit,
    path: `${PACKAGE}/rules/:rule_id`,
    id: "waf-rules-edit",
    summary: "Change the mode of a rule of a package",
    body: WafRuleEdit,
    result: WafRuleView,
    handler: ({ control, call, resolved, params, body }) =>
      control.previousWaf.packages.editRule(call, zoneOf(resolved), params.package_id, params.rule_id, body.mode),
  }),
];

const OVERRIDE_ROUTES: readonly Route[] = [
  route({
    ...readOverride,
    path: OVERRIDES,
    id: "waf-overrides-list",
    summary: "List overrides of the previous WAF",
    paging: "page",
    per_page,
    handler: ({ control, resolved, page }) => control.previousWaf.overrides.list(zoneOf(resolved), page),
  }),
  route({
    ...writeOverride,
    method: "POST",
    path: OVERRIDES,
    id: "waf-overrides-create",
    summary: "Create an override of the previous WAF",
    body: WafOverrideWrite,
    result: WafOverride,
    handler: ({ control, call, resolved, body }) => control.previousWaf.overrides.create(call, zoneOf(resolved), body),
  }),
  route({
    ...readOverride,
    path: OVERRIDE,
    id: "waf-overrides-get",
    summary: "Show an override of the previous WAF",
    paging: "one",
    handler: ({ control, resolved, params }) => control.previousWaf.overrides.get(zoneOf(resolved), params.override_id),
  }),
  route({
    ...writeOverride,
    method: "PUT",
    path: OVERRIDE,
    id: "waf-overrides-update",
    summary: "Replace an override of the previous WAF",
    body: WafOverrideWrite,
    result: WafOverride,
    handler: ({ control, call, resolved, params, body }) =>
      control.previousWaf.overrides.update(call, zoneOf(resolved), params.override_id, body),
  }),
  route({
    ...writeOverride,
    method: "DELETE",
    path: OVERRIDE,
    id: "waf-overrides-delete",
    summary: "Delete an override of the previous WAF",
    result: Type.Object({ id: Type.String() }),
    handler: ({ control, call, resolved, params }) => control.previousWaf.overrides.delete(call, zoneOf(resolved), params.override_id),
  }),
];

export const PREVIOUS_WAF_ROUTES: readonly Route[] = [...PACKAGE_ROUTES, ...OVERRIDE_ROUTES];
