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
  { hollow, ...row }: Pick<Deprecation, "date" | "replacement" | "was" | "why" | "hollow" | "spec">,
  methods: readonly string[] = ["GET", "PATCH"],
): readonly Deprecation[] => [
  {
    ...row,
    id: `zone-setting-${setting.replaceAll("_", "-")}`,
    routes: methods.map((method) => `${method} ${ZONE_SETTINGS}/${setting}`),
    effect: { kind: "endpoint_gone" },
    ...(hollow === undefined ? {} : { hollow }),
  },
  { ...row, ...listedSetting(setting), was: `The list of a zone's settings had \`${setting}\`, and took it among \`items\`.` },
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
    was: "`self_hosted_domains` of an Access application listed the URIs of its `public` destinations.",
    why: "Applications stand before other things than public names as well.",
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
    was: "Filters held expressions, and firewall rules said what is done with requests that they fit.",
    why: "A rule of a ruleset is both.",
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
    was: "Packages held groups of rules, with modes of their own and overrides by address.",
    why: "Managed rulesets are deployed by rules, whose expressions say where.",
    spec: "SPEC 9, 2025-06-15; SPEC 8",
  },
  {
    id: "rate-limits",
    date: "2025-06-15",
    routes: [...withMethods(RATE_LIMITS, "GET", "POST"), ...withMethods(`${RATE_LIMITS}/:rate_limit_id`, "GET", "PUT", "DELETE")],
    effect: { kind: "endpoint_gone" },
    replacement: "rate limiting rules: rulesets of phase http_ratelimit",
    was: "A rate limit had its address, methods and answers in fields of their own.",
    why: "A rule says it all in expressions.",
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
    was: "`name` and `content` took several values, separated by commas.",
    why: "The form was never supported, and a comma may be part of a value.",
    spec: "SPEC 9, 2025-02-21, extended to 2025-05-23",
  },
  {
    id: "custom-ns-availability",
    date: "2025-03-23",
    routes: ["GET /accounts/:account_id/custom_ns/availability"],
    effect: { kind: "endpoint_gone" },
    replacement: null,
    was: "It listed the zones whose names custom name servers could have.",
    why: "Custom name servers can have any name.",
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
          ],
        },
      ],
    },
    replacement: "flatten_all_cnames of PATCH /zones/{zone_id}/dns_settings",
    was: "A zone setting with the values `on`, `apex` and `off`, of which the last two behaved the same.",
    why: "It is a DNS setting, and has two values.",
    spec: "SPEC 9, 2025-03-21; SPEC 2.5",
  },
  {
    ...listedSetting("cname_flattening"),
    date: "2025-03-21",
    replacement: "flatten_all_cnames of PATCH /zones/{zone_id}/dns_settings",
    was: "The list of a zone's settings had `cname_flattening`, and took it among `items`.",
    why: "It is a DNS setting, and has two values.",
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
    was: "`settings` of an account had `default_nameservers` and `use_account_custom_ns_by_default`.",
    why: "They are DNS settings, and one of them says what the other said.",
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
    was: "`name` and `content` took a comparison in front of the value, such as `name=contains:www`.",
    why: "The form was never supported, and a value that begins like a comparison could not be searched for.",
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
    why: "The form was never supported.",
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
    why: "The path names the zone already.",
    spec: "SPEC 9, 2024-11-30; SPEC 2.2",
  },
  {
    id: "dns-record-zone-fields-in-requests",
    date: "2024-11-30",
    routes: DNS_RECORD_WRITES,
    effect: { kind: "ignore_request_fields", fields: ["zone_id", "zone_name"] },
    replacement: null,
    was: "Requests could repeat the identifier and the name of the zone, without an effect.",
    why: "The path names the zone already.",
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
    was: "The cause of an invalid record stood in the `error_chain` of error 1004.",
    why: "Clients had to look for the cause in two places.",
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
    was: "An endpoint of its own said whether NS records at the apex are used.",
    why: "All DNS settings of a zone are one object.",
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
    was: "An endpoint of its own said whether a secondary zone may have records that override the primary's.",
    why: "All DNS settings of a zone are one object.",
    spec: "SPEC 9, 2024-09-13; SPEC 4.3",
  },
  ...endedSetting("brotli", {
    date: "2024-08-15",
    replacement: "compression rules",
    was: "A zone setting with the values `on` and `off`.",
    why: "Rules say for which responses it holds.",
    spec: "SPEC 9, 2024-08-15",
  }),
  ...endedSetting("minify", {
    date: "2024-08-05",
    replacement: null,
    was: "A zone setting with `css`, `html` and `js`, each of them `on` or `off`.",
    why: "Bodies are no longer rewritten.",
    hollow: "The edge does not rewrite bodies; the setting shows off and cannot be changed.",
    spec: "SPEC 9, 2024-08-05",
  }),
  {
    id: "dns-record-locked",
    date: "2024-07-14",
    routes: DNS_RECORD_ROUTES,
    effect: { kind: "omit_response_fields", fields: [{ field: "locked", after: "ttl", value: { constant: false } }] },
    replacement: null,
    was: "Every DNS record carried `locked`, which was always false.",
    why: "The field never said anything.",
    spec: "SPEC 9, 2024-07-14; SPEC 2.2",
  },
  {
    id: "dns-record-locked-in-requests",
    date: "2024-07-14",
    routes: DNS_RECORD_WRITES,
    effect: { kind: "ignore_request_fields", fields: ["locked"] },
    replacement: null,
    was: "Requests could carry `locked`, without an effect.",
    why: "The field never said anything.",
    spec: "SPEC 9, 2024-07-14",
  },
  ...endedSetting("mobile_redirect", {
    date: "2024-06-30",
    replacement: "a redirect rule",
    was: "A zone setting that sent visitors with mobile devices to another name.",
    why: "Rules do the same for any condition.",
    spec: "SPEC 9, 2024-06-30",
  }),
  ...endedSetting("server_side_exclude", {
    date: "2024-06-14",
    replacement: null,
    was: "A zone setting that hid marked parts of pages from suspicious visitors.",
    why: "Bodies are no longer rewritten.",
    hollow: "The edge does not rewrite bodies; the setting shows off and cannot be changed.",
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
    was: "`data` of an SRV record repeated the three parts of its name: `service`, `proto` and `name`.",
    why: "The name stood in two places that could disagree.",
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
    was: "The name of an SRV record could be given in its parts, as `data.service`, `data.proto` and `data.name`.",
    why: "The name stood in two places that could disagree.",
    spec: "SPEC 9, 2024-05-31; SPEC 7",
  },
  ...endedSetting(
    "privacy_pass",
    {
      date: "2024-03-31",
      replacement: null,
      was: "A zone setting that let tokens stand in for challenges.",
      why: "Such tokens are no longer accepted.",
      hollow: "The edge has no challenges that a token could stand in for; the setting shows off and cannot be changed.",
      spec: "SPEC 9, 2024-03-31",
    },
    ["GET", "POST", "PATCH"],
  ),
  {
    id: "tls-chacha20-drafts",
    date: "2023-07-01",
    routes: [],
    effect: { kind: "protocol_rule" },
    replacement: "the suites of RFC 7905",
    was: "Visitors could choose the suites of TLS 1.2 with ChaCha20-Poly1305 that drafts had described.",
    why: "The standard describes others, and clients have long had those.",
    spec: "SPEC 9, 2023-07-01",
  },
  {
    id: "http-two-lengths",
    date: "2023-07-01",
    routes: [],
    effect: { kind: "protocol_rule" },
    replacement: "one of the two",
    was: "A request could have both `Transfer-Encoding` and `Content-Length`.",
    why: "Two servers in a row can read such a request differently (RFC 9112 §6.1). No API date brings it back: it would let requests be smuggled.",
    spec: "SPEC 9, 2023-07-01",
  },
  {
    id: "access-bookmarks",
    date: "2023-03-19",
    routes: [`GET ${BOOKMARKS}`, ...["GET", "POST", "PUT", "DELETE"].map((method) => `${method} ${BOOKMARK}`)],
    effect: { kind: "endpoint_gone" },
    replacement: "Access applications of the type bookmark",
    was: "Bookmarks of the App Launcher had an interface of their own, in which the caller chose their ids.",
    why: "They are Access applications like others.",
    spec: "SPEC 9, 2023-03-19",
  },
  {
    id: "billing",
    date: "2023-06-06",
    routes: ["GET /accounts/:account_id/billing/profile", "GET /user/billing/profile", "GET /user/billing/history"],
    effect: { kind: "endpoint_gone" },
    replacement: null,
    was: "Profiles said who pays, and a history what was paid. Here nothing is, and that is what they say.",
    hollow: "There is nothing to pay.",
    why: "Nothing took their place.",
    spec: "SPEC 9, 2023-06-06",
  },
  {
    id: "page-shield-script-monitor",
    date: "2022-10-11",
    routes: [
      ...withMethods(SCRIPT_MONITOR, "GET", "PUT"),
      ...withMethods(`${SCRIPT_MONITOR}/scripts`, "GET"),
      ...withMethods(`${SCRIPT_MONITOR}/scripts/:script_id`, "GET"),
    ],
    effect: { kind: "endpoint_gone", renamed: ["script_monitor", "page_shield"] },
    replacement: "the same paths with page_shield in place of script_monitor",
    was: "Page Shield was called `script_monitor` in its paths.",
    hollow: "Page Shield has nothing to show under its newer paths either.",
    why: "The product had been renamed.",
    spec: "SPEC 9, 2022-10-11",
  },
  {
    id: "zone-analytics",
    date: "2021-03-01",
    routes: ["GET /zones/:zone_id/analytics/dashboard", "GET /zones/:zone_id/analytics/colos"],
    effect: { kind: "endpoint_gone" },
    replacement: "POST /graphql",
    was: "A zone's requests, bytes, threats, pages and visitors in all and by time, and the same by place.",
    why: "GraphQL asks for what is wanted of it.",
    spec: "SPEC 9, 2021-03-01",
  },
  {
    id: "organizations",
    date: "2020-04-02",
    routes: [
      "GET /organizations/:account_id",
      "PATCH /organizations/:account_id",
      "GET /organizations/:account_id/members",
      "GET /organizations/:account_id/members/:member_id",
      "GET /organizations/:account_id/roles",
      "GET /organizations/:account_id/roles/:role_id",
      "GET /organizations/:account_id/audit_logs",
    ],
    effect: { kind: "endpoint_gone" },
    replacement: "the accounts API",
    was: "Accounts were called organizations.",
    why: "One thing had two names.",
    spec: "SPEC 9, 2020-04-02",
  },
];
