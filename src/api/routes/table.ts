import type { Route } from "#api/route.ts";
import { ACCOUNT_MEMBER_ROUTES } from "#api/routes/access/account-members.ts";
import { ACCOUNT_ROUTES } from "#api/routes/access/accounts.ts";
import { BILLING_ROUTES } from "#api/routes/access/billing.ts";
import { CACHE_ROUTES } from "#api/routes/zones/cache.ts";
import { CERTIFICATE_PACK_ROUTES } from "#api/routes/certificates/certificate-packs.ts";
import { ATTENTION_ROUTES } from "#api/routes/access/attention.ts";
import { DEPRECATION_CALL_ROUTES } from "#api/routes/access/deprecation-calls.ts";
import { REHEARSAL_ROUTES } from "#api/routes/access/rehearsals.ts";
import { CUSTOM_CERTIFICATE_ROUTES } from "#api/routes/certificates/custom-certificates.ts";
import { CUSTOM_HOSTNAME_ROUTES } from "#api/routes/hostnames/custom-hostnames.ts";
import { CUSTOM_NAME_SERVER_ROUTES } from "#api/routes/dns/custom-name-servers.ts";
import { DNS_ANALYTICS_ROUTES } from "#api/routes/dns/dns-analytics.ts";
import { DNS_RECORD_ROUTES } from "#api/routes/dns/dns-records.ts";
import { DNS_QUERY_ROUTES } from "#api/routes/dns/dns-queries.ts";
import { DNS_SCAN_ROUTES } from "#api/routes/dns/dns-scans.ts";
import { DNS_SETTINGS_ROUTES } from "#api/routes/dns/dns-settings.ts";
import { DNSSEC_ROUTES } from "#api/routes/dns/dnssec.ts";
import { DNS_VERSION_ROUTES } from "#api/routes/dns/dns-versions.ts";
import { DNS_ZONE_FILE_ROUTES } from "#api/routes/dns/dns-zone-files.ts";
import { ACCESS_APP_ROUTES } from "#api/routes/access/access-apps.ts";
import { TUNNEL_ROUTES } from "#api/routes/tunnels/tunnels.ts";
import { GATEWAY_DOMAIN_ROUTES } from "#api/routes/gateways/gateway-domains.ts";
import { DLP_PROFILE_ROUTES } from "#api/routes/gateways/dlp-profiles.ts";
import { REMAINING_RULE_ROUTES } from "#api/routes/rulesets/remaining-rules.ts";
import { FIREWALL_TOOL_ROUTES } from "#api/routes/rulesets/firewall-tools.ts";
import { FIREWALL_RULE_ROUTES } from "#api/routes/rulesets/firewall-rules.ts";
import { GATEWAY_DATASET_ROUTES } from "#api/routes/gateways/gateway-datasets.ts";
import { GATEWAY_DYNAMIC_ROUTES } from "#api/routes/gateways/gateway-dynamic-routes.ts";
import { GATEWAY_PROVIDER_ROUTES } from "#api/routes/gateways/gateway-providers.ts";
import { GATEWAY_LOG_ROUTES } from "#api/routes/gateways/gateway-logs.ts";
import { GATEWAY_ROUTES } from "#api/routes/gateways/gateways.ts";
import { IMAGE_ROUTES } from "#api/routes/images/images.ts";
import { IMAGE_VARIANT_ROUTES } from "#api/routes/images/image-variants.ts";
import { GRAPHQL_ROUTES } from "#api/routes/events/graphql.ts";
import { MEMBERSHIP_ROUTES } from "#api/routes/access/memberships.ts";
import { LOGPUSH_ROUTES } from "#api/routes/events/logpush.ts";
import { NOTIFICATION_ROUTES } from "#api/routes/events/notifications.ts";
import { INVITATION_ROUTES } from "#api/routes/access/invitations.ts";
import { ORGANIZATION_INVITE_ROUTES } from "#api/routes/access/organization-invites.ts";
import { ORGANIZATION_ROUTES } from "#api/routes/access/organizations.ts";
import { EDGE_RANGE_ROUTES } from "#api/routes/zones/edge-ranges.ts";
import { PLAN_ROUTES } from "#api/routes/zones/plans.ts";
import { PAGE_RULE_ROUTES } from "#api/routes/rulesets/page-rules.ts";
import { PAGE_SHIELD_ROUTES } from "#api/routes/zones/page-shield.ts";
import { URL_NORMALIZATION_ROUTES } from "#api/routes/zones/url-normalization.ts";
import { PREVIOUS_WAF_ROUTES } from "#api/routes/rulesets/previous-waf.ts";
import { RATE_LIMIT_ROUTES } from "#api/routes/rulesets/rate-limits.ts";
import { REQUEST_LOG_ROUTES } from "#api/routes/events/request-logs.ts";
import { RULE_LIST_ROUTES } from "#api/routes/rulesets/rule-lists.ts";
import { EXCEPTION_ROUTES } from "#api/routes/rulesets/exceptions.ts";
import { RULESET_ROUTES } from "#api/routes/rulesets/rulesets.ts";
import { SECONDARY_DNS_ROUTES } from "#api/routes/dns/secondary-dns.ts";
import { SECURITY_EVENT_ROUTES } from "#api/routes/events/security-events.ts";
import { SENSITIVE_DATA_ROUTES } from "#api/routes/detection/sensitive-data.ts";
import { PASSKEY_ROUTES } from "#api/routes/access/passkeys.ts";
import { SESSION_ROUTES } from "#api/routes/access/sessions.ts";
import { TOKEN_ROUTES } from "#api/routes/access/tokens.ts";
import { USER_ROUTES } from "#api/routes/access/user.ts";
import { ZONE_HOLD_ROUTES } from "#api/routes/zones/zone-hold.ts";
import { WAF_MIGRATION_ROUTES } from "#api/routes/rulesets/waf-migration.ts";
import { ZONE_DASHBOARD_ROUTES } from "#api/routes/zones/zone-dashboard.ts";
import { ZONE_SETTING_ROUTES } from "#api/routes/zones/zone-settings.ts";
import { ZONE_ROUTES } from "#api/routes/zones/zones.ts";

/** Routes about one subject, which the reference shows on one page. */
export interface Resource {
  readonly name: string;
  readonly routes: readonly Route[];
}

/** Every route by subject, in the order of the reference. */
export const RESOURCES: readonly Resource[] = [
  { name: "Users and sessions", routes: [...USER_ROUTES, ...SESSION_ROUTES, ...PASSKEY_ROUTES, ...MEMBERSHIP_ROUTES, ...BILLING_ROUTES] },
  { name: "API tokens", routes: TOKEN_ROUTES },
  {
    name: "Accounts and members",
    routes: [
      ...ACCOUNT_ROUTES,
      ...ACCOUNT_MEMBER_ROUTES,
      ...ORGANIZATION_ROUTES,
      ...ORGANIZATION_INVITE_ROUTES,
      ...INVITATION_ROUTES,
      ...ATTENTION_ROUTES,
      ...DEPRECATION_CALL_ROUTES,
      ...REHEARSAL_ROUTES,
    ],
  },
  { name: "Zones", routes: [...ZONE_ROUTES, ...ZONE_HOLD_ROUTES, ...ZONE_SETTING_ROUTES, ...PLAN_ROUTES, ...EDGE_RANGE_ROUTES] },
  { name: "Certificates", routes: [...CERTIFICATE_PACK_ROUTES, ...CUSTOM_CERTIFICATE_ROUTES] },
  { name: "Custom hostnames", routes: CUSTOM_HOSTNAME_ROUTES },
  { name: "Cache", routes: CACHE_ROUTES },
  {
    name: "DNS records",
    routes: [
      ...DNS_RECORD_ROUTES,
      ...DNS_SCAN_ROUTES,
      ...DNS_QUERY_ROUTES,
      ...DNS_ANALYTICS_ROUTES,
      ...DNS_ZONE_FILE_ROUTES,
      ...DNS_VERSION_ROUTES,
    ],
  },
  { name: "DNS settings and DNSSEC", routes: [...DNS_SETTINGS_ROUTES, ...DNSSEC_ROUTES, ...CUSTOM_NAME_SERVER_ROUTES] },
  { name: "Secondary DNS", routes: SECONDARY_DNS_ROUTES },
  { name: "Rulesets", routes: [...RULESET_ROUTES, ...EXCEPTION_ROUTES] },
  { name: "Lists", routes: RULE_LIST_ROUTES },
  { name: "Access rules, lockdowns and user agents", routes: FIREWALL_TOOL_ROUTES },
  {
    name: "Previous WAF and page rules",
    routes: [
      ...FIREWALL_RULE_ROUTES,
      ...REMAINING_RULE_ROUTES,
      ...RATE_LIMIT_ROUTES,
      ...PREVIOUS_WAF_ROUTES,
      ...PAGE_RULE_ROUTES,
      ...WAF_MIGRATION_ROUTES,
    ],
  },
  { name: "URL normalization", routes: URL_NORMALIZATION_ROUTES },
  { name: "Page Shield", routes: PAGE_SHIELD_ROUTES },
  { name: "Security events and requests", routes: [...SECURITY_EVENT_ROUTES, ...REQUEST_LOG_ROUTES, ...LOGPUSH_ROUTES] },
  { name: "Analytics", routes: [...ZONE_DASHBOARD_ROUTES, ...GRAPHQL_ROUTES] },
  { name: "Sensitive data", routes: [...SENSITIVE_DATA_ROUTES, ...DLP_PROFILE_ROUTES] },
  { name: "Notifications", routes: NOTIFICATION_ROUTES },
  { name: "Tunnels", routes: TUNNEL_ROUTES },
  { name: "AI gateways", routes: [...GATEWAY_ROUTES, ...GATEWAY_DOMAIN_ROUTES, ...GATEWAY_PROVIDER_ROUTES, ...GATEWAY_DYNAMIC_ROUTES] },
  { name: "AI gateway logs", routes: [...GATEWAY_LOG_ROUTES, ...GATEWAY_DATASET_ROUTES] },
  { name: "Images", routes: [...IMAGE_ROUTES, ...IMAGE_VARIANT_ROUTES] },
  { name: "Access applications", routes: ACCESS_APP_ROUTES },
];

export const ROUTES: readonly Route[] = RESOURCES.flatMap(({ routes }) => routes);
