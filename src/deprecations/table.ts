import type { Deprecation } from "./deprecation.ts";

const DNS_RECORDS = "/zones/:zone_id/dns_records";
const DNS_RECORD = `${DNS_RECORDS}/:dns_record_id`;
const LIST_DNS_RECORDS = `GET ${DNS_RECORDS}`;
const CREATE_DNS_RECORD = `POST ${DNS_RECORDS}`;
const DNS_RECORD_WRITES = [CREATE_DNS_RECORD, `PATCH ${DNS_RECORD}`, `PUT ${DNS_RECORD}`];
const DNS_RECORD_ROUTES = [LIST_DNS_RECORDS, CREATE_DNS_RECORD, `GET ${DNS_RECORD}`, `PATCH ${DNS_RECORD}`, `PUT ${DNS_RECORD}`];

const ACCOUNT_ROUTES = ["GET /accounts", "POST /accounts", "GET /accounts/:account_id", "PUT /accounts/:account_id"];
const CNAME_FLATTENING = "/zones/:zone_id/settings/cname_flattening";
const DNS_SETTINGS = "/zones/:zone_id/dns_settings";
const USE_APEX_NS = "/zones/:zone_id/dns_settings/use_apex_ns";
const SECONDARY_OVERRIDES = "/zones/:zone_id/dns_settings/secondary_overrides";

/** The pairs of a boolean, so that other values are refused under the legacy name. */
const BOOLEANS = [
  [true, true],
  [false, false],
] as const;

const ACCESS_APPS = ["/accounts/:account_id/access/apps", "/zones/:zone_id/access/apps"] as const;
const BOOKMARKS = "/accounts/:account_id/access/bookmarks";
const BOOKMARK = `${BOOKMARKS}/:bookmark_id`;

const ZONE_SETTINGS = "/zones/:zone_id/settings";

/** A setting of zones that has ended: its endpoint, and its entry in the list of all settings. */
const endedSetting = (
  setting: string,
  row: Pick<Deprecation, "date" | "replacement" | "was" | "why" | "spec">,
  methods: readonly string[] = ["GET", "PATCH"],
): readonly Deprecation[] => [
  {
    ...row,
    id: `zone-setting-${setting.replaceAll("_", "-")}`,
    routes: methods.map((method) => `${method} ${ZONE_SETTINGS}/${setting}`),
    effect: { kind: "endpoint_gone" },
  },
  { ...row, ...listedSetting(setting), was: `The list of a zone's settings contained \`${setting}\`, and accepted it in \`items\`.` },
];

const listedSetting = (setting: string): Pick<Deprecation, "id" | "routes" | "effect"> => ({
  id: `zone-settings-${setting.replaceAll("_", "-")}`,
  routes: [`GET ${ZONE_SETTINGS}`, `PATCH ${ZONE_SETTINGS}`],
  effect: { kind: "omit_list_items", ids: [setting] },
});

const FIREWALL_RULES = "/zones/:zone_id/firewall/rules";
const FILTERS = "/zones/:zone_id/filters";
const WAF = "/zones/:zone_id/firewall/waf";
const WAF_PACKAGE = `${WAF}/packages/:package_id`;
const RATE_LIMITS = "/zones/:zone_id/rate_limits";

const TUNNELS = "/accounts/:account_id/tunnels";
const ALERT_POLICIES = "/accounts/:account_id/alerting/v3/policies";
const SCRIPT_MONITOR = "/zones/:zone_id/script_monitor";

const withMethods = (path: string, ...methods: readonly string[]): readonly string[] => methods.map((method) => `${method} ${path}`);

/** Newest first, as in SPEC 9. The tests at each date and the reference page are generated from these rows. */
export const DEPRECATIONS: readonly Deprecation[] = [
  {
    id: "access-app-self-hosted-domains",
    date: "2025-11-21",
    routes: ACCESS_APPS.flatMap((apps) => [`GET ${apps}`, `POST ${apps}`, `GET ${apps}/:app_id`, `PUT ${apps}/:app_id`]),
    effect: { kind: "listed_alias", field: "self_hosted_domains", newest: "destinations", type: "public", item: "uri" },
    replacement: "destinations",
    was: "An Access application listed the URIs of its `public` destinations in `self_hosted_domains`.",
    why: "Applications can also protect destinations other than public host names.",
    spec: "SPEC 9, 2025-11-21; SPEC 2.8",
  },
  {
    id: "firewall-rules",
    date: "2025-06-15",
    routes: [
      ...withMethods(FIREWALL_RULES, "GET", "POST", "PATCH", "PUT", "DELETE"),
      ...withMethods(`${FIREWALL_RULES}/:rule_id`, "GET", "PATCH", "PUT", "DELETE"),
      ...withMethods(FILTERS, "GET", "POST", "PUT", "DELETE"),
      ...withMethods(`${FILTERS}/:filter_id`, "GET", "PUT", "DELETE"),
    ],
    effect: { kind: "endpoint_gone" },
    replacement: "custom rules: rulesets of phase http_request_firewall_custom",
    was: "Filters contained expressions, and firewall rules the action for matching requests.",
    why: "A rule in a ruleset contains both.",
    spec: "SPEC 9, 2025-06-15",
  },
  {
    id: "previous-waf",
    date: "2025-06-15",
    routes: [
      ...withMethods(`${WAF}/packages`, "GET"),
      ...withMethods(WAF_PACKAGE, "GET", "PATCH"),
      ...withMethods(`${WAF_PACKAGE}/groups`, "GET"),
      ...withMethods(`${WAF_PACKAGE}/groups/:group_id`, "GET", "PATCH"),
      ...withMethods(`${WAF_PACKAGE}/rules`, "GET"),
      ...withMethods(`${WAF_PACKAGE}/rules/:rule_id`, "GET", "PATCH"),
      ...withMethods(`${WAF}/overrides`, "GET", "POST"),
      ...withMethods(`${WAF}/overrides/:override_id`, "GET", "PUT", "DELETE"),
    ],
    effect: { kind: "endpoint_gone" },
    replacement: "WAF Managed Rules: rulesets of phase http_request_firewall_managed",
    was: "Packages contained groups of rules with their own modes, and overrides by URL.",
    why: "Rules deploy managed rulesets, and their expressions select the requests.",
    spec: "SPEC 9, 2025-06-15; SPEC 8",
  },
  {
    id: "rate-limits",
    date: "2025-06-15",
    routes: [...withMethods(RATE_LIMITS, "GET", "POST"), ...withMethods(`${RATE_LIMITS}/:rate_limit_id`, "GET", "PUT", "DELETE")],
    effect: { kind: "endpoint_gone" },
    replacement: "rate limiting rules: rulesets of phase http_ratelimit",
    was: "A rate limit had separate fields for its URL, methods and responses.",
    why: "A rule states all of them in expressions.",
    spec: "SPEC 9, 2025-06-15",
  },
  {
    id: "dns-records-comma-lists",
    date: "2025-05-23",
    routes: [LIST_DNS_RECORDS],
    effect: {
      kind: "reject_query_forms",
      forms: [
        { parameter: "name", separator: "," },
        { parameter: "content", separator: "," },
      ],
    },
    replacement: "one request per value, or match=any with the parameter repeated",
    was: "`name` and `content` accepted several values, separated by commas.",
    why: "The form was never documented, and a value can contain a comma.",
    spec: "SPEC 9, 2025-02-21, extended to 2025-05-23",
  },
  {
    id: "custom-ns-availability",
    date: "2025-03-23",
    routes: ["GET /accounts/:account_id/custom_ns/availability"],
    effect: { kind: "endpoint_gone" },
    replacement: null,
    was: "It listed the zones in which custom name servers could be named.",
    why: "Custom name servers can have any name now.",
    spec: "SPEC 9, 2025-03-23",
  },
  {
    id: "zone-setting-cname-flattening",
    date: "2025-03-21",
    routes: [`GET ${CNAME_FLATTENING}`, `PATCH ${CNAME_FLATTENING}`],
    effect: {
      kind: "legacy_alias",
      of: "endpoint",
      stands_for: DNS_SETTINGS,
      constants: { id: "cname_flattening", editable: true, modified_on: null },
      fields: [
        {
          field: "value",
          newest: "flatten_all_cnames",
          values: [
            ["on", true],
            ["apex", false],
            ["off", false],
            ["flatten_all", true],
            ["flatten_at_root", false],
            ["flatten_none", false],
          ],
        },
      ],
    },
    replacement: "flatten_all_cnames of PATCH /zones/{zone_id}/dns_settings",
    was: "A zone setting with the values `on`, `apex` and `off`; the last two had the same effect.",
    why: "It is a DNS setting with two values.",
    spec: "SPEC 9, 2025-03-21; SPEC 2.5",
  },
  {
    ...listedSetting("cname_flattening"),
    date: "2025-03-21",
    replacement: "flatten_all_cnames of PATCH /zones/{zone_id}/dns_settings",
    was: "The list of a zone's settings contained `cname_flattening`, and accepted it in `items`.",
    why: "It is a DNS setting with two values.",
    spec: "SPEC 9, 2025-03-21; SPEC 2.5",
  },
  {
    id: "account-settings-nameservers",
    date: "2025-03-14",
    routes: ACCOUNT_ROUTES,
    effect: {
      kind: "legacy_alias",
      of: "fields",
      fields: [
        { field: "settings.default_nameservers", newest: "dns_settings.zone_defaults.nameservers.type" },
        {
          field: "settings.use_account_custom_ns_by_default",
          newest: "dns_settings.zone_defaults.nameservers.type",
          values: [
            [true, "custom.account"],
            [false, "cloudflare.standard"],
          ],
        },
      ],
    },
    replacement: "zone_defaults.nameservers.type of PATCH /accounts/{account_id}/dns_settings",
    was: "An account's `settings` contained `default_nameservers` and `use_account_custom_ns_by_default`.",
    why: "They are DNS settings, and one setting replaces both.",
    spec: "SPEC 9, 2025-03-14; SPEC 2.5",
  },
  {
    id: "dns-records-filter-prefixes",
    date: "2025-02-21",
    routes: [LIST_DNS_RECORDS],
    effect: {
      kind: "reject_query_forms",
      forms: [
        { parameter: "name", prefix: "contains:", becomes: "name.contains" },
        { parameter: "name", prefix: "starts_with:", becomes: "name.startswith" },
        { parameter: "name", prefix: "ends_with:", becomes: "name.endswith" },
        { parameter: "content", prefix: "contains:", becomes: "content.contains" },
        { parameter: "content", prefix: "starts_with:", becomes: "content.startswith" },
        { parameter: "content", prefix: "ends_with:", becomes: "content.endswith" },
      ],
    },
    replacement: "name.contains, name.startswith, name.endswith, content.contains, content.startswith or content.endswith",
    was: "`name` and `content` accepted a comparison before the value, such as `name=contains:www`.",
    why: "The form was never documented, and values that start like a comparison could not be searched for.",
    spec: "SPEC 9, 2025-02-21",
  },
  {
    id: "dns-records-type-contains",
    date: "2025-02-21",
    routes: [LIST_DNS_RECORDS],
    effect: {
      kind: "reject_query_forms",
      forms: [
        {
          parameter: "type",
          prefix: "contains:",
          any_of: [
            "A",
            "AAAA",
            "CAA",
            "CERT",
            "CNAME",
            "DNSKEY",
            "DS",
            "HTTPS",
            "LOC",
            "MX",
            "NAPTR",
            "NS",
            "OPENPGPKEY",
            "PTR",
            "SMIMEA",
            "SOA",
            "SRV",
            "SSHFP",
            "SVCB",
            "TLSA",
            "TXT",
            "URI",
          ],
        },
      ],
    },
    replacement: "an exact type, or search for free text",
    was: "`type=contains:AA` found every type with these letters in its name.",
    why: "The form was never documented.",
    spec: "SPEC 9, 2025-02-21",
  },
  {
    id: "dns-record-zone-fields",
    date: "2024-11-30",
    routes: DNS_RECORD_ROUTES,
    effect: {
      kind: "omit_response_fields",
      fields: [
        { field: "zone_id", after: "id", value: { zone: "id" } },
        { field: "zone_name", after: "zone_id", value: { zone: "name" } },
      ],
    },
    replacement: "GET /zones/{zone_id}",
    was: "Every DNS record repeated the identifier and the name of its zone.",
    why: "The path already names the zone.",
    spec: "SPEC 9, 2024-11-30; SPEC 2.2",
  },
  {
    id: "dns-record-zone-fields-in-requests",
    date: "2024-11-30",
    routes: DNS_RECORD_WRITES,
    effect: { kind: "ignore_request_fields", fields: ["zone_id", "zone_name"] },
    replacement: null,
    was: "Requests could repeat the identifier and the name of the zone, without an effect.",
    why: "The path already names the zone.",
    spec: "SPEC 9, 2024-11-30; SPEC 4.2",
  },
  {
    id: "dns-record-error-wrapper",
    date: "2024-10-01",
    routes: [CREATE_DNS_RECORD],
    effect: {
      kind: "error_wrapper",
      code: 1004,
      message: "DNS Validation Error",
      wraps: [
        [9000, 9999],
        [10400, 10400],
      ],
    },
    replacement: "the root cause directly in errors",
    was: "Error 1004 stated the cause of an invalid record in its `error_chain`.",
    why: "Clients had to check two places for the cause.",
    spec: "SPEC 9, 2024-10-01; SPEC 7",
  },
  {
    id: "dns-settings-use-apex-ns",
    date: "2024-09-13",
    routes: [`GET ${USE_APEX_NS}`, `PATCH ${USE_APEX_NS}`],
    effect: {
      kind: "legacy_alias",
      of: "endpoint",
      stands_for: DNS_SETTINGS,
      constants: { id: "use_apex_ns" },
      fields: [{ field: "value", newest: "multi_provider", values: BOOLEANS }],
    },
    replacement: "multi_provider of PATCH /zones/{zone_id}/dns_settings",
    was: "A separate endpoint stated whether NS records at the apex are used.",
    why: "All DNS settings of a zone are now in one object.",
    spec: "SPEC 9, 2024-09-13; SPEC 4.3",
  },
  {
    id: "dns-settings-secondary-overrides",
    date: "2024-09-13",
    routes: [`GET ${SECONDARY_OVERRIDES}`, `PATCH ${SECONDARY_OVERRIDES}`],
    effect: {
      kind: "legacy_alias",
      of: "endpoint",
      stands_for: DNS_SETTINGS,
      constants: { id: "secondary_overrides" },
      fields: [{ field: "value", newest: "secondary_overrides", values: BOOLEANS }],
    },
    replacement: "secondary_overrides of PATCH /zones/{zone_id}/dns_settings",
    was: "A separate endpoint stated whether a secondary zone can have records that override the primary's.",
    why: "All DNS settings of a zone are now in one object.",
    spec: "SPEC 9, 2024-09-13; SPEC 4.3",
  },
  ...endedSetting("brotli", {
    date: "2024-08-15",
    replacement: "compression rules",
    was: "A zone setting with the values `on` and `off`.",
    why: "Rules can choose the responses to which it applies.",
    spec: "SPEC 9, 2024-08-15",
  }),
  ...endedSetting("minify", {
    date: "2024-08-05",
    replacement: null,
    was: "A zone setting with `css`, `html` and `js`, each of them `on` or `off`.",
    why: "Builds of sites do it before they are deployed, and compression makes the difference small.",
    spec: "SPEC 9, 2024-08-05",
  }),
  {
    id: "dns-record-locked",
    date: "2024-07-14",
    routes: DNS_RECORD_ROUTES,
    effect: { kind: "omit_response_fields", fields: [{ field: "locked", after: "ttl", value: { constant: false } }] },
    replacement: null,
    was: "Every DNS record carried `locked`, which was always false.",
    hollow: "The specification has the field always false.",
    why: "The field had no meaning.",
    spec: "SPEC 9, 2024-07-14; SPEC 2.2",
  },
  {
    id: "dns-record-locked-in-requests",
    date: "2024-07-14",
    routes: DNS_RECORD_WRITES,
    effect: { kind: "ignore_request_fields", fields: ["locked"] },
    replacement: null,
    was: "Requests could carry `locked`, without an effect.",
    why: "The field had no meaning.",
    spec: "SPEC 9, 2024-07-14",
  },
  ...endedSetting("mobile_redirect", {
    date: "2024-06-30",
    replacement: "a redirect rule",
    was: "A zone setting that sent visitors with mobile devices to another name.",
    why: "Rules can redirect on any condition.",
    spec: "SPEC 9, 2024-06-30",
  }),
  ...endedSetting("server_side_exclude", {
    date: "2024-06-14",
    replacement: null,
    was: "A zone setting that hid marked parts of pages from suspicious visitors.",
    why: "What a visitor may not see does not belong into the page.",
    spec: "SPEC 9, 2024-06-14",
  }),
  {
    id: "dns-record-srv-name-parts",
    date: "2024-05-31",
    routes: DNS_RECORD_ROUTES,
    effect: {
      kind: "omit_response_fields",
      type: "SRV",
      fields: [
        { field: "data.service", value: { labels: { from: 0, to: 1 } } },
        { field: "data.proto", value: { labels: { from: 1, to: 2 } } },
        { field: "data.name", value: { labels: { from: 2 } } },
      ],
    },
    replacement: "the outer name field",
    was: "An SRV record repeated the three parts of its name in `data`: `service`, `proto` and `name`.",
    why: "The name was in two places that could differ.",
    spec: "SPEC 9, 2024-05-31; SPEC 2.2",
  },
  {
    id: "dns-record-srv-name-parts-in-requests",
    date: "2024-05-31",
    routes: DNS_RECORD_WRITES,
    effect: {
      kind: "reject_request_fields",
      within: "data",
      fields: ["service", "proto", "name"],
      type: "SRV",
      // NAPTR data has a service as well.
      telltale: ["proto", "name"],
      joined_into: "name",
      message: "SRV data fields 'service', 'proto' and 'name' are no longer supported",
    },
    replacement: "the outer name field",
    was: "Requests could give the parts of an SRV record's name as `data.service`, `data.proto` and `data.name`.",
    why: "The name was in two places that could differ.",
    spec: "SPEC 9, 2024-05-31; SPEC 7",
  },
  ...endedSetting(
    "privacy_pass",
    {
      date: "2024-03-31",
      replacement: null,
      was: "A zone setting that let visitors present the token of a passed challenge elsewhere instead of solving another one.",
      why: "Such tokens are no longer accepted.",
      spec: "SPEC 9, 2024-03-31",
    },
    ["GET", "POST", "PATCH"],
  ),
  {
    id: "tunnels",
    date: "2024-02-04",
    routes: [...withMethods(TUNNELS, "GET", "POST"), ...withMethods(`${TUNNELS}/:tunnel_id`, "GET", "DELETE")],
    effect: { kind: "endpoint_gone", renamed: ["tunnels", "cfd_tunnel"] },
    replacement: "/accounts/{account_id}/cfd_tunnel",
    was: "Tunnels were listed, created, shown and deleted under `tunnels`.",
    why: "There are several kinds of tunnels, and each has its own path.",
    spec: "SPEC 9, 2024-02-04",
  },
  {
    id: "tls-chacha20-drafts",
    date: "2023-07-01",
    routes: [],
    effect: { kind: "protocol_rule" },
    replacement: "the suites of RFC 7905",
    was: "Visitors could use the draft versions of the TLS 1.2 cipher suites with ChaCha20-Poly1305.",
    hollow: "Maintained TLS libraries do not have these suites.",
    why: "The standard defines different ones, which clients have supported for years.",
    spec: "SPEC 9, 2023-07-01",
  },
  {
    id: "http-two-lengths",
    date: "2023-07-01",
    routes: [],
    effect: { kind: "protocol_rule" },
    replacement: "one of the two",
    was: "A request could have both `Transfer-Encoding` and `Content-Length`.",
    hollow: "Such requests are refused on every day, because they would allow request smuggling.",
    why: "Two servers in a row can read such a request differently (RFC 9112 §6.1). No API date restores it, because it would allow request smuggling.",
    spec: "SPEC 9, 2023-07-01",
  },
  {
    id: "notification-email",
    date: "2023-04-03",
    routes: [...withMethods(ALERT_POLICIES, "GET", "POST"), ...withMethods(`${ALERT_POLICIES}/:policy_id`, "GET", "PUT")],
    effect: { kind: "joined_alias", field: "notification_email", newest: "mechanisms.email", item: "id", separator: "," },
    replacement: "mechanisms.email",
    was: "A notification listed its e-mail addresses in `notification_email`, separated by commas.",
    why: "Notifications can also go to other mechanisms than e-mail.",
    spec: "SPEC 9, 2023-04-03",
  },
  {
    id: "access-bookmarks",
    date: "2023-03-19",
    routes: [`GET ${BOOKMARKS}`, ...["GET", "POST", "PUT", "DELETE"].map((method) => `${method} ${BOOKMARK}`)],
    effect: { kind: "endpoint_gone" },
    replacement: "Access applications of the type bookmark",
    was: "Bookmarks of the App Launcher had separate endpoints, in which the caller chose the ids.",
    why: "They are Access applications now.",
    spec: "SPEC 9, 2023-03-19",
  },
  {
    id: "billing",
    date: "2023-06-06",
    routes: ["GET /accounts/:account_id/billing/profile", "GET /user/billing/profile", "GET /user/billing/history"],
    effect: { kind: "endpoint_gone" },
    replacement: null,
    was: "Profiles stated who pays, and a history listed the charges. This installation charges nothing, so both are empty.",
    hollow: "The installation does not charge for anything.",
    why: "They have no replacement.",
    spec: "SPEC 9, 2023-06-06",
  },
  {
    id: "page-shield-script-monitor",
    date: "2022-10-11",
    routes: [
      ...withMethods(SCRIPT_MONITOR, "GET", "PUT"),
      ...["scripts", "scripts/:script_id", "connections", "connections/:connection_id", "cookies", "cookies/:cookie_id"].map(
        (part) => `GET ${SCRIPT_MONITOR}/${part}`,
      ),
      ...withMethods(`${SCRIPT_MONITOR}/policies`, "GET", "POST"),
      ...withMethods(`${SCRIPT_MONITOR}/policies/:policy_id`, "GET", "PUT", "DELETE"),
    ],
    effect: { kind: "endpoint_gone", renamed: ["script_monitor", "page_shield"] },
    replacement: "the same paths with page_shield in place of script_monitor",
    was: "Page Shield was called `script_monitor` in its paths.",
    why: "The product had been renamed.",
    spec: "SPEC 9, 2022-10-11",
  },
  {
    id: "images-direct-upload-v1",
    date: "2022-07-01",
    routes: ["POST /accounts/:account_id/images/v1/direct_upload"],
    effect: { kind: "endpoint_gone" },
    replacement: "POST /accounts/{account_id}/images/v2/direct_upload",
    was: "A URL for one upload could be created without metadata, access policy and identifier of the image.",
    why: "The new endpoint takes these fields when it creates the URL, so that the visitor who uploads the file cannot choose them.",
    spec: "SPEC 9, 2022-07-01",
  },
  {
    id: "zone-analytics",
    date: "2021-03-01",
    routes: ["GET /zones/:zone_id/analytics/dashboard", "GET /zones/:zone_id/analytics/colos"],
    effect: { kind: "endpoint_gone" },
    replacement: "POST /graphql",
    was: "Totals and time series of a zone's requests, bytes, threats, page views and visitors, also by data center.",
    why: "A GraphQL query selects the data that it needs.",
    spec: "SPEC 9, 2021-03-01",
  },
  {
    id: "organizations",
    date: "2020-04-02",
    routes: [
      "GET /organizations/:account_id",
      "PATCH /organizations/:account_id",
      "GET /organizations/:account_id/members",
      ...withMethods("/organizations/:account_id/members/:member_id", "GET", "PATCH", "DELETE"),
      ...withMethods("/organizations/:account_id/invites", "GET", "POST"),
      ...withMethods("/organizations/:account_id/invites/:invite_id", "GET", "PATCH", "DELETE"),
      "GET /organizations/:account_id/roles",
      "GET /organizations/:account_id/roles/:role_id",
      "GET /organizations/:account_id/audit_logs",
      ...withMethods("/organizations/:account_id/accelerators", "GET", "POST"),
      ...withMethods("/organizations/:account_id/accelerators/:accelerator_id", "GET", "PATCH", "DELETE"),
      "GET /organizations/:account_id/accelerators/:accelerator_id/zones",
    ],
    effect: { kind: "endpoint_gone" },
    replacement: "the accounts API",
    was: "Accounts were called organizations, and had invitations and accelerators.",
    why: "The same object had two names.",
    spec: "SPEC 9, 2020-04-02",
  },
];
