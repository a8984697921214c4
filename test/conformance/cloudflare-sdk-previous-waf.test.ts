import assert from "node:assert/strict";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import { eventually } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

// SPEC 9, 2025-06-15: the vendor's own client on the day before, and what visitors meet of what it wrote.
let selvedge: Selvedge;
let client: Cloudflare;
let today: Cloudflare;
let origin: Server;
let zone: { readonly zone_id: string };

before(async () => {
  origin = createServer((req, res) => res.end(`origin: ${req.url}`));
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const env = { SELVEDGE_EDGE_WORKERS: "1", SELVEDGE_DEPRECATIONS_NEGOTIATE: "true" };
  selvedge = await startSelvedge({ env });
  const options = { apiToken: selvedge.ready.token ?? "", baseURL: selvedge.ready.api, maxRetries: 0 };
  client = new Cloudflare({ ...options, apiVersion: "2025-06-14" });
  today = new Cloudflare({ ...options, apiVersion: "2025-06-15" });
  zone = { zone_id: (await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "older.test" })).id };
  await client.dns.records.create({ ...zone, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  const { port } = origin.address() as AddressInfo;
  const rules = [{ action: "route", expression: "true", action_parameters: { origin: { port } } }];
  await client.rulesets.phases.update("http_request_origin", { ...zone, rules } as never);
});
after(async () => {
  const stopped = await selvedge?.stop();
  origin?.close();
  assert.equal(stopped?.code, 0);
});

const visit = (path: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const req = request(
      new URL(path, selvedge.ready.http),
      { agent: false, headers: { host: "www.older.test", "user-agent": "visitor", ...headers } },
      (res) => res.resume().on("end", () => resolve(res.statusCode ?? 0)),
    );
    req.on("error", reject).end();
  });

type Row = Record<string, any>;
const events = async (query: string): Promise<Row[]> => {
  const answer = await fetch(`${selvedge.ready.api}/zones/${zone.zone_id}/security/events?${query}`, {
    headers: { authorization: `Bearer ${selvedge.ready.token}` },
  });
  return ((await answer.json()) as { result: Row[] }).result;
};
const SQLI = "/search?q=1%20UNION%2F**%2FSELECT%20null,null";

test("filters and firewall rules: create, list, change and delete; rules run in the order of their priorities", async () => {
  const [filter] = (await client.filters.create({ ...zone, body: [{ expression: 'http.request.uri.path eq "/closed"' }] })).result;
  assert.ok(filter?.id);
  const rules = client.firewall.rules;
  const [block] = (await rules.create({ ...zone, action: { mode: "ban" }, filter: { id: filter.id } } as never)).result as Row[];
  assert.deepEqual([block?.["action"], block?.["filter"].expression], ["block", 'http.request.uri.path eq "/closed"']);
  assert.equal(await visit("/closed"), 403);
  assert.equal(await visit("/open"), 200);

  const [allow] = (
    (await client.post(`/zones/${zone.zone_id}/firewall/rules`, {
      body: [{ action: "allow", filter: { expression: 'http.user_agent eq "friend"' }, priority: 1, description: "friends" }],
    })) as { result: Row[] }
  ).result;
  assert.equal(await visit("/closed", { "user-agent": "friend" }), 200);
  assert.equal(await visit("/closed"), 403);
  const listed = [];
  for await (const rule of rules.list(zone)) listed.push(rule.id);
  assert.deepEqual(listed.toSorted(), [block?.["id"], allow?.["id"]].toSorted());

  await eventually(async () => (await events("action=allow")).length === 1 && (await events("action=block")).length === 2);
  for (const event of await events("")) assert.equal(event["service"], "Firewall Rules");
  await assert.rejects(client.filters.delete(filter.id, zone), { status: 400 });
  await client.delete(`/zones/${zone.zone_id}/firewall/rules/${block?.["id"]}?delete_filter_if_unused=true`);
  assert.equal(await visit("/closed"), 200);
  await assert.rejects(client.filters.get(filter.id, zone), { status: 404 });
  await rules.delete(allow?.["id"], zone);
});

test("rate limits: a client that exceeds the limit is blocked", async () => {
  // The client no longer declares the type of the result.
  const limits = client.rateLimits as unknown as Record<"create" | "list", (params: object) => Promise<{ result: any }>>;
  const { result: limit } = await limits.create({
    ...zone,
    match: { request: { url: "www.older.test/limited*", methods: ["GET"] } },
    threshold: 2,
    period: 60,
    action: { mode: "ban", timeout: 60, response: { content_type: "text/plain", body: "slowly" } },
  });
  const statuses = [];
  for (let i = 0; i < 4; i++) statuses.push(await visit("/limited/page"));
  assert.deepEqual(statuses, [200, 200, 429, 429]);
  assert.equal(await visit("/elsewhere"), 200);
  await eventually(async () => (await events("service=Rate%20Limits")).length >= 2);
  const [listed] = (await limits.list(zone)).result;
  assert.deepEqual([listed.id, listed.threshold], [limit.id, 2]);
  await client.rateLimits.delete(limit.id, zone);
  assert.equal(await visit("/limited/page"), 200);
});

test("packages, groups, rules and overrides decide how the previous WAF handles an attack", async () => {
  assert.equal(await visit(SQLI), 200, "off in a new zone");
  await client.zones.settings.edit("waf", { ...zone, value: "on" } as never);
  assert.equal(await visit(SQLI), 403);

  const packages = [];
  for await (const pack of client.firewall.waf.packages.list(zone)) packages.push(pack as Row);
  const traditional = packages.find(({ detection_mode }) => detection_mode === "traditional") as Row;
  const package_id = traditional["id"] as string;
  const groups: Row[] = [];
  for await (const group of client.firewall.waf.packages.groups.list(package_id, zone)) groups.push(group);
  const sqli = groups.find(({ name }) => name === "SQL injection") as Row;
  const found: Row[] = [];
  for await (const rule of client.firewall.waf.packages.rules.list(package_id, { ...zone, group_id: sqli["id"] })) found.push(rule);
  assert.equal(found.length, sqli["rules_count"]);
  const union = found.find(({ description }) => description === "SQL injection: UNION SELECT") as Row;
  assert.deepEqual([union["mode"], union["default_mode"]], ["default", "block"]);

  await client.firewall.waf.packages.groups.edit(sqli["id"], { ...zone, package_id, mode: "off" });
  assert.equal(await visit(SQLI), 200);
  await client.firewall.waf.packages.groups.edit(sqli["id"], { ...zone, package_id, mode: "on" });
  const edited = (await client.firewall.waf.packages.rules.edit(union["id"], { ...zone, package_id, mode: "simulate" })) as Row;
  assert.equal(edited["mode"], "simulate");
  // Other rules of the group find it as well.
  for (const rule of found.filter(({ id }) => id !== union["id"]))
    await client.firewall.waf.packages.rules.edit(rule["id"], { ...zone, package_id, mode: "disable" });
  assert.equal(await visit(SQLI), 200);
  await eventually(async () => {
    const [event] = await events("service=WAF%20%28previous%20version%29");
    return event !== undefined && event["action"] === "log" && event["rule_id"] === union["id"] && event["ruleset_id"] === package_id;
  });

  const override = (await client.post(`/zones/${zone.zone_id}/firewall/waf/overrides`, {
    body: { urls: ["www.older.test/search*"], rewrite_action: { simulate: "block" } },
  })) as { result: Row };
  assert.equal(await visit(SQLI), 403);
  assert.equal(await visit(SQLI.replace("/search", "/other")), 200);
  await client.firewall.waf.overrides.delete(override.result["id"], zone);
  assert.equal(await visit(SQLI), 200);
  for (const rule of found) await client.firewall.waf.packages.rules.edit(rule["id"], { ...zone, package_id, mode: "default" });
  assert.equal(await visit(SQLI), 403);
});

test("page rules turn the previous WAF off below a URL, and on where it is off", async () => {
  const targets = (value: string) => [{ target: "url" as const, constraint: { operator: "matches" as const, value } }];
  const off = await client.pageRules.create({
    ...zone,
    targets: targets("*older.test/search*"),
    actions: [{ id: "waf", value: "off" }],
    status: "active",
  });
  assert.equal(await visit(SQLI), 200);
  assert.equal(await visit(SQLI.replace("/search", "/other")), 403);
  await client.pageRules.edit(off.id, { ...zone, actions: [{ id: "disable_security" }] } as never);
  assert.equal(await visit(SQLI), 200);
  // Not by what stands in a query.
  assert.equal(await visit("/other?x=www.older.test/search&q=1%20UNION%2F**%2FSELECT%20null,null"), 403);
  await client.pageRules.edit(off.id, { ...zone, actions: [{ id: "waf", value: "on" }] });
  await client.zones.settings.edit("waf", { ...zone, value: "off" } as never);
  assert.equal(await visit(SQLI), 403);
  assert.equal(await visit(SQLI.replace("/search", "/other")), 200);
  await client.pageRules.delete(off.id, zone);
  assert.equal(await visit(SQLI), 200);
  const refused = client.pageRules.create({ ...zone, targets: targets("*older.test/*"), actions: [{ id: "rocket_loader", value: "on" }] });
  await assert.rejects(refused, { status: 400 });
});

test("on its date each legacy endpoint is gone, and the rules that it wrote keep working", async () => {
  await client.post(`/zones/${zone.zone_id}/firewall/rules`, {
    body: [{ action: "block", filter: { expression: 'http.request.uri.path eq "/kept"' } }],
  });
  for (const ask of [
    () => today.filters.list(zone),
    () => today.firewall.rules.list(zone),
    () => today.rateLimits.list(zone),
    () => today.firewall.waf.packages.list(zone),
    () => today.firewall.waf.overrides.list(zone),
  ]) {
    await assert.rejects(async () => ask(), { status: 410 });
  }
  assert.equal(await visit("/kept"), 403);
});
