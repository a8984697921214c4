import { PERMISSION_GROUPS } from "#model/permission-groups.ts";

/** What a route is called with to show that it works. */
export interface RouteFixture {
  readonly body?: object;
  /** HTTP status where the planted world makes it another than the route's own. */
  readonly status?: number;
  /** Called with the first account's own token instead of the first token. */
  readonly asAccount?: true;
}

const BLOCK = { action: "block", expression: "true", description: "added" };
const OTHER_PHASE = "http_request_firewall_managed";
const GATEWAY = {
  cache_invalidate_on_update: true,
  cache_ttl: 60,
  collect_logs: false,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};

const token = (accountId: string): object => ({
  name: "fixture",
  policies: [
    {
      effect: "allow",
      resources: { [`com.cloudflare.api.account.${accountId}`]: "*" },
      permission_groups: [{ id: PERMISSION_GROUPS.find(({ name }) => name === "DNS Read")?.id }],
    },
  ],
});

/** One entry a route, by its id. A route without one fails the suite. Deletions run last and in reverse. */
export const routeFixtures = (
  accountId: string,
  ruleIds: { readonly zone: string; readonly account: string } = { zone: "", account: "" },
): Readonly<Record<string, RouteFixture>> => ({
  "user-get": {},
  "user-edit": { body: { first_name: "Ada", telephone: null } },
  "deprecation-calls-list": {},
  "user-tokens-list": {},
  "user-tokens-create": { body: token(accountId) },
  "user-tokens-verify": {},
  "user-permission-groups-list": {},
  "user-tokens-get": {},
  "user-tokens-update": { body: token(accountId) },
  "user-tokens-delete": {},
  "user-tokens-roll": {},
  "account-tokens-list": {},
  "account-tokens-create": { body: token(accountId) },
  "account-tokens-verify": { asAccount: true },
  "account-permission-groups-list": {},
  "account-tokens-get": {},
  "account-tokens-update": { body: token(accountId) },
  "account-tokens-delete": {},
  "account-tokens-roll": {},
  "memberships-list": {},
  "memberships-get": {},
  "memberships-update": { body: { status: "accepted" } },
  // The last owner stays.
  "memberships-delete": { status: 400 },
  "accounts-list": {},
  "accounts-create": { body: { name: "another" } },
  "accounts-get": {},
  "accounts-update": { body: { name: "renamed" } },
  // It still has the zone that was created.
  "accounts-delete": { status: 400 },
  "zones-list": {},
  "zones-create": { body: { name: "another.example", account: { id: accountId } } },
  "zones-get": {},
  "zones-edit": { body: { paused: true } },
  "zones-delete": {},
  "zones-activation-check": {},
  "dns-records-list": {},
  "dns-records-create": { body: { type: "A", name: "new", content: "192.0.2.78", ttl: 1 } },
  "dns-records-get": {},
  "dns-records-edit": { body: { ttl: 120 } },
  "dns-records-overwrite": { body: { type: "A", name: "planted", content: "192.0.2.79", ttl: 1 } },
  "dns-records-delete": {},
  "dns-records-batch": { body: { posts: [{ type: "A", name: "batched", content: "192.0.2.80" }] } },
  "dns-versions-list": {},
  "dns-versions-diff": {},
  "dns-versions-get": {},
  "dns-versions-changes-list": {},
  "dns-versions-revert": {},
  "dns-versions-restore": {},
  "zone-rulesets-list": {},
  "zone-rulesets-create": { body: { name: "second", kind: "zone", phase: OTHER_PHASE, rules: [] } },
  "zone-rulesets-entrypoint-get": {},
  "zone-rulesets-entrypoint-update": { body: { name: "planted", rules: [{ ...BLOCK, id: ruleIds.zone }] } },
  "zone-rulesets-get": {},
  "zone-rulesets-update": { body: { name: "planted", rules: [{ ...BLOCK, id: ruleIds.zone }] } },
  "zone-rulesets-delete": {},
  "zone-rulesets-rules-create": { body: BLOCK },
  "zone-rulesets-rules-edit": { body: BLOCK },
  "zone-rulesets-rules-delete": {},
  "account-rulesets-list": {},
  "account-rulesets-create": { body: { name: "second", kind: "root", phase: OTHER_PHASE, rules: [] } },
  "account-rulesets-entrypoint-get": {},
  "account-rulesets-entrypoint-update": { body: { name: "planted", rules: [{ ...BLOCK, id: ruleIds.account }] } },
  "account-rulesets-get": {},
  "account-rulesets-update": { body: { name: "planted", rules: [{ ...BLOCK, id: ruleIds.account }] } },
  "account-rulesets-delete": {},
  "account-rulesets-rules-create": { body: BLOCK },
  "account-rulesets-rules-edit": { body: BLOCK },
  "account-rulesets-rules-delete": {},
  "security-events-list": {},
  "gateways-list": {},
  "gateways-create": { body: { id: "another", ...GATEWAY } },
  "gateways-get": {},
  "gateways-update": { body: GATEWAY },
  "gateways-delete": {},
  "gateway-logs-list": {},
  "gateway-logs-get": {},
});
