import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { RemainingRule } from "#model/rulesets/remaining-rule.ts";

const PATH = "/zones/:zone_id/remaining_rules";

export const REMAINING_RULE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: PATH,
    id: "remaining-rules-list",
    summary: "List firewall rules and rate limits that remain from ended interfaces, as rules",
    scope: "zone",
    permissions: ["Firewall Services Read", "Firewall Services Write", "Zone WAF Read", "Zone WAF Write"],
    result: RemainingRule,
    paging: "list",
    handler: ({ control, resolved }) => control.previousWaf.remaining.list(zoneOf(resolved).id),
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:remaining_rule_id`,
    id: "remaining-rules-delete",
    summary: "Delete a firewall rule or rate limit that remains from an ended interface",
    scope: "zone",
    permissions: ["Firewall Services Write", "Zone WAF Write"],
    result: RemainingRule,
    paging: "one",
    handler: ({ control, call, resolved, params }) =>
      control.previousWaf.remaining.delete(call, zoneOf(resolved), params.remaining_rule_id),
  }),
];
