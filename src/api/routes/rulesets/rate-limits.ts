import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { RateLimit, RateLimitWrite } from "#model/rulesets/rate-limit.ts";

const LIMITS = "/zones/:zone_id/rate_limits";
const LIMIT = "/zones/:zone_id/rate_limits/:rate_limit_id";
const read = {
  method: "GET",
  scope: "zone",
  permissions: ["Firewall Services Read", "Firewall Services Write"],
  result: RateLimit,
} as const;
const write = {
  scope: "zone",
  permissions: ["Firewall Services Write"],
  result: RateLimit,
  paging: "one",
  invalid_body: "firewall_invalid",
} as const;

export const RATE_LIMIT_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: LIMITS,
    id: "rate-limits-list",
    summary: "List rate limits",
    paging: "page",
    handler: ({ control, resolved, page }) => control.previousWaf.rateLimits.list(zoneOf(resolved), page),
  }),
  route({
    ...write,
    method: "POST",
    path: LIMITS,
    id: "rate-limits-create",
    summary: "Create a rate limit",
    body: RateLimitWrite,
    handler: ({ control, call, resolved, body }) => control.previousWaf.rateLimits.create(call, zoneOf(resolved), body),
  }),
  route({
    ...read,
    path: LIMIT,
    id: "rate-limits-get",
    summary: "Show a rate limit",
    paging: "one",
    handler: ({ control, resolved, params }) => control.previousWaf.rateLimits.get(zoneOf(resolved), params.rate_limit_id),
  }),
  route({
    ...write,
    method: "PUT",
    path: LIMIT,
    id: "rate-limits-update",
    summary: "Replace a rate limit",
    body: RateLimitWrite,
    handler: ({ control, call, resolved, params, body }) =>
      control.previousWaf.rateLimits.update(call, zoneOf(resolved), params.rate_limit_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: LIMIT,
    id: "rate-limits-delete",
    summary: "Delete a rate limit",
    handler: ({ control, call, resolved, params }) => control.previousWaf.rateLimits.delete(call, zoneOf(resolved), params.rate_limit_id),
  }),
];
