import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Route } from "#api/route.ts";
import { ROUTES } from "#api/routes/table.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { newRayId, newUlid } from "#kernel/crypto/ids.ts";
import { PROFILES } from "#rules/detectors/catalog/profiles.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { type Answer, type ApiServer, ask, startApi } from "../support/api-server.ts";
import { type Planted, plant } from "../support/planted.ts";
import { routeFixtures } from "./route-fixtures.ts";

/**
 * A tenant with a zone and an account who names another tenant's objects: in paths, bodies, queries and headers. Each
 * answer is the same as for names that do not exist. Routes of the other tenant's zone or account are in routes.test.ts.
 */
describe("objects of another tenant", () => {
  let server: ApiServer;
  let planted: Planted;
  let zone = "";
  before(async () => {
    server = await startApi();
    planted = await plant(server);
    const account = { id: planted.strangerAccountId };
    zone = (await asked("POST", "/zones", { body: { name: "stranger.example", account } })).body.result.id;
    for (const phase of ["http_request_firewall_custom", "http_response_firewall_managed"])
      await asked("PUT", `/zones/${zone}/rulesets/phases/${phase}/entrypoint`, { body: { rules: [] } });
    plantEvents();
  });
  after(() => server.close());

  const asked = (method: string, path: string, asking: Parameters<typeof ask>[3] = {}): Promise<Answer> =>
    ask(server, method, path, { token: planted.strangerToken, ...asking });

  /** Three of each tenant, in turns. */
  function plantEvents(): void {
    const database = openEventDatabase(server.eventsPath);
    const owners = [
      { account_id: server.account_id, zone_id: planted.params("/zones/")["zone_id"] ?? "", path: "/planted" },
      { account_id: planted.strangerAccountId, zone_id: zone, path: "/own" },
    ];
    const rows = Array.from({ length: 6 }, (_, n) => ({ ...owners[n % 2], at_ms: START_MS + n }));
    const events = rows.map((row) => testSecurityRow({ ...row, id: newUlid(row.at_ms) }));
    const requests = rows.map((row) => testRequestRow({ ...row, ray_id: newRayId(row.at_ms) }));
    database.insert([packed("security_events", events), packed("requests", requests)]);
    database.close();
  }

  /** The path in the stranger's own zone or account, and names of others' things as `nameOf` gives them. */
  const pathWith = (route: Route, nameOf: (name: string) => string): string =>
    route.path.replaceAll(/:(\w+)/g, (_, parameter: string) => {
      if (parameter === "zone_id") return zone;
      if (parameter === "account_id") return planted.strangerAccountId;
      const known = planted.params(route.path)[parameter] ?? "";
      return namesIn(route).includes(known) ? nameOf(known) : known;
    });
  const namesIn = (route: Route): readonly string[] =>
    Array.from(route.path.matchAll(/:(\w+)/g), ([, parameter = ""]) => [parameter, planted.params(route.path)[parameter] ?? ""] as const)
      .filter(([parameter, known]) => !OF_ALL.has(parameter) && !OF_ALL.has(known) && (NAMES.has(parameter) || IDENTIFIER.test(known)))
      .map(([, known]) => known);
  const shown = ({ status, text }: Answer, names: readonly string[]): string =>
    names.reduce((all, name) => all.replaceAll(name, "NAME"), `${status} ${text}`.replaceAll(MADE, "MADE"));

  for (const route of ROUTES.filter(({ path }) => /:(?!zone_id|account_id)/.test(path)))
    test(`${route.method} ${route.path}: another tenant's ID in the path gives the same error as an unknown one`, async (t) => {
      const names = namesIn(route);
      if (names.length === 0) return t.skip("names no thing of anybody's");
      const { body, query = "" } = routeFixtures(server.account_id)[route.id] ?? {};
      const theirs = await asked(route.method, pathWith(route, String) + query, body ? { body } : {});
      const nobodys = await asked(route.method, pathWith(route, absent) + query, body ? { body } : {});
      assert.equal(shown(theirs, names), shown(nobodys, names.map(absent)));
      assert.ok(route.method === "DELETE" || theirs.status >= 400, theirs.text);
      for (const secret of planted.secrets)
        if (!names.includes(secret)) assert.ok(!theirs.text.includes(secret), `${secret} in ${theirs.text}`);
    });

  const fixturesWith = (nameOf: (name: string) => string) => {
    const of = (path: string, name: string): string => nameOf(planted.params(path)[name] ?? "");
    return routeFixtures(
      nameOf(server.account_id),
      { zone: of("/zones/", "rule_id"), account: of("/accounts/", "rule_id") },
      of("/accounts/", "dataset_id"),
      { webhook: of("/accounts/", "webhook_in_use"), policy: of("/accounts/", "policy_id"), silence: of("/accounts/", "silence_id") },
    );
  };
  test("another tenant's ID in a body gives the same error as an unknown one, on all routes", async () => {
    const tried: string[] = [];
    for (const route of ROUTES) {
      const [theirs, nobodys] = [fixturesWith(String)[route.id]?.body, fixturesWith(absent)[route.id]?.body];
      if (theirs === undefined || nobodys === undefined || JSON.stringify(theirs) === JSON.stringify(nobodys)) continue;
      tried.push(route.id);
      const [one, other] = [
        await asked(route.method, pathWith(route, String), { body: theirs }),
        await asked(route.method, pathWith(route, String), { body: nobodys }),
      ];
      const names = IDS.flatMap(([path, name]) => planted.params(path)[name] ?? []).concat(server.account_id);
      assert.equal(shown(one, names), shown(other, names.map(absent)), route.id);
    }
    assert.ok(tried.includes("notification-policies-create") && tried.includes("zones-create") && tried.length >= 8, tried.join());
  });

  const LIVE = `/zones/ZONE/rulesets/phases/http_response_firewall_managed/entrypoint`;
  const execute = (parameters: object) => ({
    rules: [{ action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID, ...parameters } }],
  });
  const trial = (overrides: object) => ({ text: "PLT-123456", overrides });
  const policy = (more: object) => ({
    ...{ name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly", mechanisms: { email: [{ id: "a@example.net" }] } },
    ...more,
  });
  /** Other places in which an object of the account or the zone can be named: the body with its name. */
  const REFERENCES: readonly (readonly [of: string, name: string, method: string, path: string, body: (id: string) => object])[] = [
    ["/zones/", "pattern_id", "PUT", LIVE, (id) => execute({ overrides: { rules: [{ id, enabled: false }] } })],
    ["/accounts/", "pattern_id", "PUT", LIVE, (id) => execute({ overrides: { rules: [{ id, enabled: false }] } })],
    ["/zones/", "ruleset_id", "PUT", LIVE, (id) => execute({ id })],
    ["/accounts/", "ruleset_id", "PUT", LIVE, (id) => execute({ id })],
    ["/zones/", "pattern_id", "POST", "/zones/ZONE/sensitive_data/scan", (id) => trial({ rules: [{ id, enabled: true }] })],
    ["/zones/", "pattern_id", "POST", "/zones/ZONE/sensitive_data/allowed", (rule_id) => ({ path: "/", rule_id })],
    ["/zones/", "zone_id", "POST", "/accounts/ACCOUNT/alerting/v3/policies", (id) => policy({ filters: { zones: [id] } })],
    ["/accounts/", "webhook_id", "POST", "/accounts/ACCOUNT/alerting/v3/policies", (id) => policy({ mechanisms: { webhooks: [{ id }] } })],
  ];
  test("rules, dry runs, allow-lists and policies cannot refer to another tenant's objects, or reveal that they exist", async () => {
    for (const [of, name, method, template, body] of REFERENCES) {
      const path = template.replace("ZONE", zone).replace("ACCOUNT", planted.strangerAccountId);
      const id = planted.params(of)[name] ?? "";
      const theirs = await asked(method, path, { body: body(id) });
      const nobodys = await asked(method, path, { body: body(absent(id)) });
      assert.ok(id !== "" && theirs.status === 400, `${name}: ${theirs.text}`);
      assert.equal(shown(theirs, [id]), shown(nobodys, [absent(id)]), name);
    }
    const own = await asked("POST", `/zones/${zone}/sensitive_data/scan`, { body: { text: "PLT-123456" } });
    assert.deepEqual(own.body.result.findings, [], "patterns of others find nothing here");
  });

  test("filters, cursors and last seen events give no access to another tenant's rows", async () => {
    const victim = planted.params("/zones/");
    const events = (await ask(server, "GET", `/zones/${victim["zone_id"]}/security/events?per_page=5&page=1`)).body.result;
    assert.ok(events.length >= 3);
    const { body } = await ask(server, "GET", `/zones/${victim["zone_id"]}/security/events?per_page=1`);
    const cursor = encodeURIComponent(body.result_info.cursors.after);
    for (const scope of [`/zones/${zone}`, `/accounts/${planted.strangerAccountId}`]) {
      const log = `${scope}/security/events`;
      assert.equal((await asked("GET", `${log}?cursor=${cursor}`)).status, 400, "a cursor is its own list's alone");
      for (const path of [`${log}?per_page=50`, `${log}/export`, `${log}/export?format=csv`]) {
        const { status, text } = await asked("GET", path);
        assert.ok(status === 200 && text.includes("/own") && !text.includes("planted") && !text.includes(victim["zone_id"] ?? ""), path);
      }
      for (const [name, value] of [
        ["ray_id", events[0].ray_id],
        ["rule_id", victim["rule_id"]],
        ["path", "/planted"],
      ])
        assert.deepEqual((await asked("GET", `${log}?${name}=${value}`)).body.result, [], name);
      assert.equal((await asked("GET", `${log}?zone_id=${victim["zone_id"]}`)).status, 400, "no filter names another zone");
    }
    for (const path of ["security/events/tail", "logs/requests/tail"]) {
      const seen = path.startsWith("logs") ? events.at(-1).ray_id : events.at(-1).id;
      const last = (id: string) => asked("GET", `/zones/${zone}/${path}?for_seconds=1`, { headers: { "last-event-id": id } });
      // The id of the first event differs each time.
      const told = async (id: string) => (await last(id)).text.replace(/^id: .*$/m, "");
      assert.equal(await told(seen), await told(absent(seen)), path);
    }
    assert.deepEqual((await asked("GET", `/accounts/${planted.strangerAccountId}/alerting/v3/history`)).body.result, []);
  });

  test("GraphQL treats another tenant's zone and account as unknown, and answers for its own beside them", async () => {
    const rows =
      "firewallEventsAdaptive(limit: 10, filter: {}) { clientRequestPath } httpRequestsAdaptiveGroups(limit: 10, filter: {}) { count }";
    const query = (filter: string, scope = "zones") => ({ query: `{ viewer { ${scope}(filter: { ${filter} }) { ${rows} } } }` });
    const victim = planted.params("/zones/")["zone_id"] ?? "";
    const account = server.account_id;
    for (const [id, filter, scope] of [
      [victim, (one: string) => `zoneTag: "${one}"`, "zones"],
      [victim, (one: string) => `zoneTag_in: ["${zone}", "${one}"]`, "zones"],
      [account, (one: string) => `accountTag: "${one}"`, "accounts"],
    ] as const) {
      const theirs = await asked("POST", "/graphql", { body: query(filter(id), scope) });
      const nobodys = await asked("POST", "/graphql", { body: query(filter(absent(id)), scope) });
      assert.equal(shown(theirs, [id]), shown(nobodys, [absent(id)]));
      assert.doesNotMatch(theirs.text, /planted/);
    }
    const own = await asked("POST", "/graphql", { body: query(`zoneTag: "${zone}"`) });
    const [{ firewallEventsAdaptive, httpRequestsAdaptiveGroups }] = own.body.data.viewer.zones;
    assert.deepEqual([firewallEventsAdaptive.length, httpRequestsAdaptiveGroups[0].count], [3, 3]);
  });
});

const START_MS = Date.parse("2026-01-02T00:00:00Z");
const IDENTIFIER = /^(?:[0-9a-f]{32}|[0-9a-f-]{36}|[0-9A-HJKMNP-TV-Z]{26}|\d{6,})$/;
/** Parameters whose values tenants choose. */
const NAMES: ReadonlySet<string> = new Set(["gateway_id", "custom_ns_id"]);
/** Parameters, or values, that are the same for all tenants. */
const OF_ALL: ReadonlySet<string> = new Set(["zone_id", "account_id", "account_role_id", "plan_id", ...PROFILES.map(({ id }) => id)]);
/** Times, and what an answer itself has made. */
const MADE = /\d{4}-\d\d-\d\dT[\d:.]+Z|(?<="(?:id|ref)":")[0-9a-f]{32}|(?<="version":")\d+/g;
const IDS = [
  ["/zones/", "rule_id"],
  ["/accounts/", "rule_id"],
  ["/accounts/", "dataset_id"],
  ["/accounts/", "webhook_in_use"],
  ["/accounts/", "policy_id"],
  ["/accounts/", "silence_id"],
] as const;

/** A name of the same form, and of nothing. */
const absent = (name: string): string =>
  name.slice(0, -12) +
  name
    .slice(-12)
    .replace(/\d/g, (digit) => String((Number(digit) + 1) % 10))
    .replace(/y$/, "z");
