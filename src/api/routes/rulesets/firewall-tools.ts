import { Type } from "typebox";
import { type Req, type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { AccessRule, AccessRuleEdit, AccessRuleQuery, AccessRuleWrite } from "#model/rulesets/access-rule.ts";
import { Lockdown, LockdownQuery, LockdownWrite } from "#model/rulesets/lockdown.ts";
import { UaRule, UaRuleQuery, UaRuleWrite } from "#model/rulesets/ua-rule.ts";

const Deleted = Type.Object({ id: Type.String() });
const per_page = { default: 20, max: 1000, min: 1 } as const;
const common = { invalid_body: "firewall_invalid", paging: "one" } as const;

const LEVELS = {
  zone: { read: ["Firewall Services Read", "Firewall Services Write"], write: ["Firewall Services Write"], visitors: "the zone" },
  account: { read: ["Account WAF Read", "Account WAF Write"], write: ["Account WAF Write"], visitors: "all zones of the account" },
} as const;

/** Routes of both levels are called with the zone or the account resolved. */
function ownerOf({ resolved: { zone, account } }: Pick<Req<string, unknown, unknown>, "resolved">) {
  if (zone !== null) return { level: "zone", id: zone.id, account_id: zone.account_id } as const;
  if (account !== null) return { level: "account", id: account.id, account_id: account.id } as const;
  throw new PlatformError("unauthorized_resource");
}

function accessRuleRoutes<B extends "/accounts/:account_id" | "/zones/:zone_id">(base: B, level: keyof typeof LEVELS): readonly Route[] {
  const { read, write, visitors } = LEVELS[level];
  const rules = `${base}/firewall/access_rules/rules` as const;
  const rule = `${rules}/:access_rule_id` as const;
  return [
    route({
      method: "GET",
      path: rules,
      id: `${level}-access-rules-list`,
      summary: `List access rules of ${visitors}`,
      scope: level,
      permissions: read,
      query: AccessRuleQuery,
      strict_query: true,
      result: AccessRule,
      paging: "page",
      per_page,
      handler: (asked) => asked.control.firewallTools.accessRules.list(ownerOf(asked), asked.query, asked.page),
    }),
    route({
      ...common,
      method: "POST",
      path: rules,
      id: `${level}-access-rules-create`,
      summary: `Allow, block or challenge an address, a range, a network or a country in ${visitors}`,
      scope: level,
      permissions: write,
      body: AccessRuleWrite,
      result: AccessRule,
      handler: (asked) => asked.control.firewallTools.accessRules.create(asked.call, ownerOf(asked), asked.body),
    }),
    route({
      ...common,
      method: "GET",
      path: rule,
      id: `${level}-access-rules-get`,
      summary: "Show an access rule",
      scope: level,
      permissions: read,
      result: AccessRule,
      handler: (asked) => asked.control.firewallTools.accessRules.get(ownerOf(asked), asked.params["access_rule_id"]),
    }),
    route({
      ...common,
      method: "PATCH",
      path: rule,
      id: `${level}-access-rules-edit`,
      summary: "Change what an access rule does, or its notes",
      scope: level,
      permissions: write,
      body: AccessRuleEdit,
      result: AccessRule,
      handler: (asked) =>
        asked.control.firewallTools.accessRules.edit(asked.call, ownerOf(asked), asked.params["access_rule_id"], asked.body),
    }),
    route({
      ...common,
      method: "DELETE",
      path: rule,
      id: `${level}-access-rules-delete`,
      summary: "Delete an access rule",
      scope: level,
      permissions: write,
      result: Deleted,
      handler: (asked) => asked.control.firewallTools.accessRules.delete(asked.call, ownerOf(asked), asked.params["access_rule_id"]),
    }),
  ];
}

const READ = { method: "GET", scope: "zone", permissions: LEVELS.zone.read } as const;
const WRITE = { ...common, scope: "zone", permissions: LEVELS.zone.write } as const;
const LOCKDOWNS = "/zones/:zone_id/firewall/lockdowns";
const LOCKDOWN = "/zones/:zone_id/firewall/lockdowns/:lockdown_id";
const UA_RULES = "/zones/:zone_id/firewall/ua_rules";
const UA_RULE = "/zones/:zone_id/firewall/ua_rules/:ua_rule_id";

export const FIREWALL_TOOL_ROUTES: readonly Route[] = [
  ...accessRuleRoutes("/zones/:zone_id", "zone"),
  ...accessRuleRoutes("/accounts/:account_id", "account"),
  route({
    ...READ,
    path: LOCKDOWNS,
    id: "lockdowns-list",
    summary: "List lockdowns",
    query: LockdownQuery,
    strict_query: true,
    result: Lockdown,
    paging: "page",
    per_page,
    handler: ({ control, resolved, query, page }) => control.firewallTools.lockdowns.list(zoneOf(resolved), query, page),
  }),
  route({
    ...WRITE,
    method: "POST",
    path: LOCKDOWNS,
    id: "lockdowns-create",
    summary: "Admit only some addresses to some URLs",
    body: LockdownWrite,
    result: Lockdown,
    handler: ({ control, call, resolved, body }) => control.firewallTools.lockdowns.create(call, zoneOf(resolved), body),
  }),
  route({
    ...READ,
    path: LOCKDOWN,
    id: "lockdowns-get",
    summary: "Show a lockdown",
    result: Lockdown,
    paging: "one",
    handler: ({ control, resolved, params }) => control.firewallTools.lockdowns.get(zoneOf(resolved), params.lockdown_id),
  }),
  route({
    ...WRITE,
    method: "PUT",
    path: LOCKDOWN,
    id: "lockdowns-update",
    summary: "Replace a lockdown",
    body: LockdownWrite,
    result: Lockdown,
    handler: ({ control, call, resolved, params, body }) =>
      control.firewallTools.lockdowns.update(call, zoneOf(resolved), params.lockdown_id, body),
  }),
  route({
    ...WRITE,
    method: "DELETE",
    path: LOCKDOWN,
    id: "lockdowns-delete",
    summary: "Delete a lockdown",
    result: Deleted,
    handler: ({ control, call, resolved, params }) => control.firewallTools.lockdowns.delete(call, zoneOf(resolved), params.lockdown_id),
  }),
  route({
    ...READ,
    path: UA_RULES,
    id: "ua-rules-list",
    summary: "List user-agent rules",
    query: UaRuleQuery,
    strict_query: true,
    result: UaRule,
    paging: "page",
    per_page,
    handler: ({ control, resolved, query, page }) => control.firewallTools.uaRules.list(zoneOf(resolved), query, page),
  }),
  route({
    ...WRITE,
    method: "POST",
    path: UA_RULES,
    id: "ua-rules-create",
    summary: "Block or challenge a user agent",
    body: UaRuleWrite,
    result: UaRule,
    handler: ({ control, call, resolved, body }) => control.firewallTools.uaRules.create(call, zoneOf(resolved), body),
  }),
  route({
    ...READ,
    path: UA_RULE,
    id: "ua-rules-get",
    summary: "Show a user-agent rule",
    result: UaRule,
    paging: "one",
    handler: ({ control, resolved, params }) => control.firewallTools.uaRules.get(zoneOf(resolved), params.ua_rule_id),
  }),
  route({
    ...WRITE,
    method: "PUT",
    path: UA_RULE,
    id: "ua-rules-update",
    summary: "Replace a user-agent rule",
    body: UaRuleWrite,
    result: UaRule,
    handler: ({ control, call, resolved, params, body }) =>
      control.firewallTools.uaRules.update(call, zoneOf(resolved), params.ua_rule_id, body),
  }),
  route({
    ...WRITE,
    method: "DELETE",
    path: UA_RULE,
    id: "ua-rules-delete",
    summary: "Delete a user-agent rule",
    result: Deleted,
    handler: ({ control, call, resolved, params }) => control.firewallTools.uaRules.delete(call, zoneOf(resolved), params.ua_rule_id),
  }),
];
