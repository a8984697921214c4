import assert from "node:assert/strict";
import { test } from "node:test";
import type { IsoDate } from "#kernel/clock.ts";
import { ANOMALY_PACKAGE_ID } from "#rules/previous-waf/packages.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

/** The calls that Terraform's provider makes for a resource, written from the documentation of its versions. */
interface Resource {
  readonly name: string;
  /** `ZONE`, `ACCOUNT` and `{name}` (the identifier of an earlier resource) are filled in. */
  readonly path: string;
  /** Of the creation, which is a PUT or PATCH of `path` for things that always exist. */
  readonly verb?: "POST" | "PUT" | "PATCH";
  readonly body: unknown;
  /** The state that a refresh compares with the configuration; default: `body`. */
  readonly reads?: Readonly<Record<string, unknown>>;
  readonly change?: { readonly verb: "PUT" | "PATCH"; readonly body: unknown; readonly reads: Readonly<Record<string, unknown>> };
  /** The version of the provider sends and gets a list with one object. */
  readonly isListed?: true;
}

const FILTER = { expression: '(http.request.uri.path eq "/login")', description: "login", paused: false };
const RATE = {
  threshold: 100,
  period: 60,
  match: { request: { url: "*.ZONENAME/api/*", schemes: ["HTTP", "HTTPS"], methods: ["POST"] } },
  action: { mode: "ban", timeout: 300 },
  disabled: false,
  description: "api",
};
const PAGE_RULE = {
  targets: [{ target: "url", constraint: { operator: "matches", value: "ZONENAME/admin/*" } }],
  actions: [{ id: "disable_security" }],
  priority: 1,
  status: "active",
};
const record = (name: string, more: object): Resource => ({
  name,
  path: "/zones/ZONE/dns_records",
  body: { type: "A", name: `${name}.ZONENAME`, content: "192.0.2.1", ttl: 3600, proxied: false, ...more },
  change: { verb: "PATCH", body: { content: "192.0.2.2" }, reads: { content: "192.0.2.2" } },
});
const ruleset = (name: string, phase: string, rule: object): Resource => ({
  name,
  path: "/zones/ZONE/rulesets",
  body: { name, kind: "zone", phase, description: "by Terraform", rules: [{ enabled: true, description: "one", ...rule }] },
  reads: { name, kind: "zone", phase },
  change: { verb: "PUT", body: { name, kind: "zone", phase, description: "changed", rules: [] }, reads: { description: "changed" } },
});

const YEARS: Readonly<Record<IsoDate, readonly Resource[]>> = {
  // Version 1.18: filters, rate limits, page rules, bookmarks did not exist yet, organizations did.
  "2019-10-01": [
    { ...record("old", {}), reads: { type: "A", name: "old.ZONENAME", zone_name: "ZONENAME", locked: false } },
    {
      name: "settings",
      path: "/zones/ZONE/settings",
      verb: "PATCH",
      body: {
        items: [
          { id: "minify", value: { css: "on", html: "off", js: "on" } },
          { id: "brotli", value: "off" },
          { id: "privacy_pass", value: "on" },
          { id: "always_use_https", value: "on" },
        ],
      },
      reads: {},
    },
    { name: "filter", path: "/zones/ZONE/filters", body: FILTER, isListed: true },
    {
      name: "firewall_rule",
      path: "/zones/ZONE/firewall/rules",
      body: { filter: { id: "{filter}" }, action: "challenge", description: "login", paused: false },
      reads: { action: "challenge", description: "login" },
      isListed: true,
    },
    {
      name: "rate_limit",
      path: "/zones/ZONE/rate_limits",
      body: RATE,
      reads: { threshold: 100, period: 60, description: "api" },
      change: { verb: "PUT", body: { ...RATE, threshold: 200 }, reads: { threshold: 200 } },
    },
    {
      name: "universal_ssl",
      path: "/zones/ZONE/ssl/universal/settings",
      verb: "PATCH",
      body: { enabled: true },
      reads: { enabled: true },
    },
    { name: "page_rule", path: "/zones/ZONE/pagerules", body: PAGE_RULE, reads: { priority: 1, status: "active" } },
    {
      name: "access_rule",
      path: "/zones/ZONE/firewall/access_rules/rules",
      body: { mode: "challenge", notes: "a network", configuration: { target: "ip_range", value: "198.51.100.0/24" } },
      change: { verb: "PATCH", body: { mode: "block" }, reads: { mode: "block" } },
    },
    {
      name: "lockdown",
      path: "/zones/ZONE/firewall/lockdowns",
      body: { paused: false, description: "admin", urls: ["ZONENAME/admin*"], configurations: [{ target: "ip", value: "192.0.2.7" }] },
    },
    {
      name: "waf_package",
      path: `/zones/ZONE/firewall/waf/packages/${ANOMALY_PACKAGE_ID}`,
      verb: "PATCH",
      body: { sensitivity: "low", action_mode: "challenge" },
    },
  ],
  // Version 3.18: rulesets beside filters, tunnels under their first name, lists.
  "2022-07-15": [
    { ...record("new", { comment: "by Terraform" }), reads: { type: "A", comment: "by Terraform", zone_name: "ZONENAME" } },
    ruleset("custom", "http_request_firewall_custom", { action: "block", expression: 'http.request.uri.path contains "/wp-login"' }),
    {
      name: "tunnel",
      path: "/accounts/ACCOUNT/tunnels",
      body: { name: "office", tunnel_secret: Buffer.alloc(32, 7).toString("base64") },
      reads: { name: "office" },
    },
    { name: "list", path: "/accounts/ACCOUNT/rules/lists", body: { name: "office", kind: "ip", description: "office" } },
    { name: "filter", path: "/zones/ZONE/filters", body: FILTER, isListed: true },
    {
      name: "bookmark",
      path: "/accounts/ACCOUNT/access/apps",
      body: { type: "self_hosted", name: "wiki", domain: "wiki.ZONENAME", session_duration: "24h" },
      reads: { name: "wiki", domain: "wiki.ZONENAME" },
    },
    {
      name: "fallback",
      path: "/zones/ZONE/custom_hostnames/fallback_origin",
      verb: "PUT",
      body: { origin: "new.ZONENAME" },
      reads: { origin: "new.ZONENAME" },
    },
    {
      name: "minify",
      path: "/zones/ZONE/settings/minify",
      verb: "PATCH",
      body: { value: { css: "on", html: "on", js: "off" } },
      reads: { value: { css: "on", html: "on", js: "off" } },
    },
  ],
  // Version 4.33: SRV records with the parts of their name in `data`, tunnels with configurations.
  "2024-05-15": [
    {
      name: "srv",
      path: "/zones/ZONE/dns_records",
      body: {
        ...{ type: "SRV", name: "_sip._tcp.ZONENAME", ttl: 3600, proxied: false },
        data: { service: "_sip", proto: "_tcp", name: "ZONENAME", priority: 1, weight: 2, port: 5060, target: "sip.ZONENAME" },
      },
      reads: { name: "_sip._tcp.ZONENAME", zone_name: "ZONENAME" },
    },
    {
      name: "tunnel",
      path: "/accounts/ACCOUNT/cfd_tunnel",
      body: { name: "office", tunnel_secret: Buffer.alloc(32, 7).toString("base64"), config_src: "cloudflare" },
      reads: { name: "office" },
    },
    {
      name: "tunnel_config",
      path: "/accounts/ACCOUNT/cfd_tunnel/{tunnel}/configurations",
      verb: "PUT",
      body: { config: { ingress: [{ hostname: "app.ZONENAME", service: "http://127.0.0.1:80" }, { service: "http_status:404" }] } },
      reads: { version: 1 },
    },
    ruleset("limits", "http_ratelimit", {
      action: "block",
      expression: 'http.request.uri.path eq "/api"',
      ratelimit: { characteristics: ["cf.colo.id", "ip.src"], period: 60, requests_per_period: 100, mitigation_timeout: 600 },
    }),
    ruleset("transforms", "http_request_late_transform", {
      action: "rewrite",
      expression: "true",
      action_parameters: { headers: { "x-by": { operation: "set", value: "terraform" } } },
    }),
    {
      name: "policy",
      path: "/accounts/ACCOUNT/alerting/v3/policies",
      body: {
        ...{ name: "events", enabled: true, alert_type: "clickhouse_alert_fw_anomaly", filters: {} },
        mechanisms: { email: [{ id: "ops@example.com" }] },
      },
      reads: { name: "events", enabled: true },
      change: {
        verb: "PUT",
        body: {
          ...{ name: "events 2", enabled: true, alert_type: "clickhouse_alert_fw_anomaly", filters: {} },
          mechanisms: { email: [{ id: "ops@example.com" }] },
        },
        reads: { name: "events 2" },
      },
    },
    { name: "brotli", path: "/zones/ZONE/settings/brotli", verb: "PATCH", body: { value: "off" }, reads: { value: "off" } },
  ],
};

for (const [date, resources] of Object.entries(YEARS) as [IsoDate, readonly Resource[]][])
  test(`Terraform's calls of ${date}: apply, plan without a difference, change, destroy`, async () => {
    const server = await startApi({ date: { asOf: date, negotiate: false }, mailServer: MAIL });
    try {
      await applied(server, resources);
    } finally {
      await server.close();
    }
  });

const MAIL = { host: "127.0.0.1", port: 1, username: "", password: "", from: "edge@example.com" } as const;

async function applied(server: ApiServer, resources: readonly Resource[]): Promise<void> {
  const zone = await ask(server, "POST", "/zones", {
    body: { name: "terraform.test", account: { id: server.account_id }, jump_start: false },
  });
  assert.equal(zone.status, 200, zone.text);
  const ids = new Map<string, string>();
  const filled = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll("ZONENAME", "terraform.test")
        .replaceAll("ZONE", zone.body.result.id)
        .replaceAll("ACCOUNT", server.account_id)
        .replaceAll(/\{(\w+)\}/g, (whole, name: string) => ids.get(name) ?? whole),
    ) as T;
  const call = async (method: string, path: string, body?: unknown): Promise<any> => {
    const answer = await ask(server, method, path, body === undefined ? {} : { body: body as object });
    assert.ok(answer.status >= 200 && answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body?.result;
  };
  const pathOf = (resource: Resource): string =>
    filled(resource.verb === undefined ? `${resource.path}/{${resource.name}}` : resource.path);
  const compare = async (resource: Resource, wanted: Readonly<Record<string, unknown>>): Promise<void> => {
    const found = await call("GET", pathOf(resource));
    for (const [key, value] of Object.entries(filled(wanted))) assert.deepEqual(found[key], value, `${resource.name}.${key}`);
  };
  const wantedOf = ({ reads, body }: Resource) => reads ?? (body as Readonly<Record<string, unknown>>);

  for (const resource of resources) {
    const body = filled(resource.isListed === true ? [resource.body] : resource.body);
    const made = await call(resource.verb ?? "POST", filled(resource.path), body);
    if (resource.verb === undefined) ids.set(resource.name, resource.isListed === true ? made[0].id : made.id);
    await compare(resource, wantedOf(resource));
  }
  // A plan reads everything again.
  for (const resource of resources) await compare(resource, wantedOf(resource));
  for (const resource of resources) {
    if (resource.change === undefined) continue;
    await call(resource.change.verb, pathOf(resource), filled(resource.change.body));
    await compare(resource, resource.change.reads);
  }
  for (const resource of resources.toReversed()) {
    if (resource.verb !== undefined) continue;
    await call("DELETE", pathOf(resource));
    // A tunnel that is gone is still shown with the time of its end.
    const gone = await ask(server, "GET", pathOf(resource));
    assert.ok(gone.status === 404 || typeof gone.body.result?.deleted_at === "string", `${resource.name} is gone: ${gone.text}`);
  }
}
