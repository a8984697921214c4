import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import { openEventDatabase } from "#events/database/database.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { fixedClock } from "#kernel/clock.ts";
import { type ApiServer, ask, OWNER_EMAIL, startApi } from "../support/api-server.ts";

// SPEC 9: what interfaces that have long ended answered, as far as there is something here to answer with.
let server: ApiServer;
let zone: string;
const clock = fixedClock("2026-05-06T12:00:00Z");
const day = (date: string) => ({ headers: { "api-version": date } });

before(async () => {
  server = await startApi({ clock, date: { asOf: null, negotiate: true } });
  const made = await ask(server, "POST", "/zones", { body: { name: "ended.test", account: { id: server.account_id } } });
  zone = made.body.result.id;
});
after(() => server.close());

test("SPEC 9, 2021-03-01: a zone's dashboard and its colos are sums over visitors' requests", async () => {
  const at_ms = Date.parse("2026-05-06T11:00:00Z");
  const database = openEventDatabase(server.eventsPath);
  const own = { account_id: server.account_id, zone_id: zone, at_ms };
  const rows = [
    { status: 200, bytes_out: 100, cache_status: "HIT", scheme: "https", client_ip: "192.0.2.1", country: "DE", content_type: "text/html" },
    { status: 403, bytes_out: 50, cache_status: "", scheme: "http", client_ip: "192.0.2.2", country: "FR", content_type: "text/html" },
  ] as const;
  database.insert([
    packed(
      "requests",
      rows.map((row) => testRequestRow({ ...own, ...row })),
    ),
    packed("security_events", [testSecurityRow({ ...own, action: "block" })]),
  ]);
  database.close();

  const path = `/zones/${zone}/analytics/dashboard?since=-180&until=0`;
  const { totals, timeseries } = (await ask(server, "GET", path, day("2021-02-28"))).body.result;
  assert.deepEqual([totals.since, totals.until], ["2026-05-06T09:00:00Z", "2026-05-06T12:00:00Z"]);
  assert.deepEqual(totals.requests, {
    ...{ all: 2, cached: 1, uncached: 1, content_type: { "text/html": 2 }, country: { DE: 1, FR: 1 } },
    ...{ ssl: { encrypted: 1, unencrypted: 1 }, http_status: { 200: 1, 403: 1 } },
  });
  assert.deepEqual([totals.bandwidth.all, totals.bandwidth.cached, totals.threats.all, totals.uniques.all], [150, 100, 1, 2]);
  assert.deepEqual(timeseries, [{ ...totals, since: "2026-05-06T11:00:00Z", until: "2026-05-06T11:01:00Z" }]);
  const colos = (await ask(server, "GET", path.replace("dashboard", "colos"), day("2021-02-28"))).body.result;
  assert.deepEqual(colos, [{ colo_id: "local", timeseries }]);
  for (const wrong of ["since=never", "since=-10&until=-20", "since=-9999999"]) {
    const answer = await ask(server, "GET", `/zones/${zone}/analytics/dashboard?${wrong}`, day("2021-02-28"));
    assert.deepEqual([answer.status, answer.body.errors[0].code], [400, 10400], wrong);
  }
});

test("SPEC 9, 2024-08-15: brotli can be turned off until its day, alone and among other settings", async () => {
  const [before, settings] = [day("2024-08-14"), `/zones/${zone}/settings`];
  const edit = (path: string, body: object): Promise<any> => ask(server, "PATCH", path, { ...before, body });
  const off = (await edit(`${settings}/brotli`, { value: "off" })).body.result;
  assert.deepEqual([off.id, off.value, off.editable], ["brotli", "off", true]);
  assert.deepEqual((await ask(server, "GET", `${settings}/brotli`, before)).body.result, off);
  assert.equal((await edit(`${settings}/brotli`, { value: "maybe" })).body.errors[0].code, 1007);
  assert.equal((await edit(settings, { items: [{ id: "brotli", value: "on" }] })).body.result[0].value, "on");
});

test("SPEC 9, 2023-06-06: billing profiles show a balance of zero", async () => {
  for (const path of ["/user/billing/profile", `/accounts/${server.account_id}/billing/profile`]) {
    const { balance, account_type } = (await ask(server, "GET", path, day("2023-06-05"))).body.result;
    assert.deepEqual([balance, account_type], ["0", "self_hosted"]);
  }
  const history = await ask(server, "GET", "/user/billing/history", day("2023-06-05"));
  assert.deepEqual([history.body.result, history.body.result_info.total_count], [[], 0]);
});

test("SPEC 9, 2020-04-02: an account is an organization with members, roles and an audit log", async () => {
  // Rows of one moment have no order.
  clock.advance(1000);
  const base = `/organizations/${server.account_id}`;
  const get = async (path: string): Promise<any> => (await ask(server, "GET", base + path, day("2020-04-01"))).body.result;
  const renamed = await ask(server, "PATCH", base, { ...day("2020-04-01"), body: { name: "Weavers" } });
  assert.deepEqual([renamed.body.result.name, renamed.body.result.member_count], ["Weavers", 1]);
  assert.deepEqual(await get(""), renamed.body.result);
  assert.equal((await ask(server, "GET", `/accounts/${server.account_id}`)).body.result.name, "Weavers");
  const [member] = await get("/members");
  assert.deepEqual(await get(`/members/${member.id}`), member);
  assert.deepEqual(await get(`/roles/${member.roles[0].id}`), (await get("/roles"))[0]);
  const [newest] = await get("/audit_logs");
  assert.deepEqual([newest.action.type, newest.resource.id], ["account.update", server.account_id]);
  assert.equal((await ask(server, "GET", `${base}/members/${"0".repeat(32)}`, day("2020-04-01"))).status, 404);
});

test("SPEC 9, 2020-04-02: the accounts API shows members, roles and the audit log", async () => {
  clock.advance(1000);
  const client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
  const account_id = server.account_id;
  const [member] = (await client.accounts.members.list({ account_id })).result;
  assert.deepEqual([member?.email, member?.status, member?.roles?.[0]?.permissions.dns_records], [OWNER_EMAIL, "accepted", BOTH]);
  assert.deepEqual(await client.accounts.members.get(member?.id ?? "", { account_id }), member);
  const roles: string[] = [];
  // The client asks for pages until one is empty.
  for await (const { id } of client.accounts.roles.list({ account_id })) roles.push(id);
  assert.equal((await client.accounts.roles.get(roles[0] ?? "", { account_id })).id, member?.roles?.[0]?.id);

  const since = new Date(clock.nowMs()).toISOString();
  await client.zones.edit({ zone_id: zone, paused: true });
  const logs = async (query: object) => (await client.auditLogs.list({ account_id, ...query })).result.map(({ action }) => action?.type);
  const [newest] = (await client.auditLogs.list({ account_id, per_page: 1 })).result;
  assert.deepEqual([newest?.action?.type, newest?.resource?.id, newest?.actor?.email], ["zone.edit", zone, OWNER_EMAIL]);
  assert.deepEqual(await logs({ since }), ["zone.edit"]);
  assert.deepEqual(await logs({ action: { type: "zone.edit" }, zone: { name: "ended.test" }, actor: { email: OWNER_EMAIL } }), [
    "zone.edit",
  ]);
  assert.deepEqual(await logs({ id: newest?.id, actor: { ip: newest?.actor?.ip } }), ["zone.edit"]);
  for (const nothing of [
    { since: "2200-01-01" },
    { before: "2000-01-01" },
    { zone: { name: "other.test" } },
    { actor: { email: "x@example.org" } },
  ])
    assert.deepEqual(await logs(nothing), []);
  const asc = await logs({ direction: "asc" });
  assert.equal(asc.at(-1), "zone.edit");
  assert.equal((await ask(server, "GET", `/accounts/${account_id}/audit_logs?since=never`)).status, 400);
});

test("SPEC 9, 2025-06-15: a write to a collection of firewall rules or filters without an identifier says so", async () => {
  for (const [method, path, body, pointer] of [
    ["PUT", "firewall/rules", { action: "log" }, "/id"],
    ["PATCH", "firewall/rules", [{ priority: 1 }, { priority: 2 }], "/0/id"],
    ["PUT", "filters", { id: "", expression: "true" }, "/id"],
  ] as const) {
    const { status, body: answer } = await ask(server, method, `/zones/${zone}/${path}`, { ...day("2025-06-14"), body });
    assert.deepEqual([status, answer.errors[0].message, answer.errors[0].source.pointer], [400, '"id" is required.', pointer], path);
  }
});

test("SPEC 9, 2022-10-11: script_monitor is another name of Page Shield, which reports what pages load", async () => {
  for (const [segment, asking] of [
    ["script_monitor", day("2022-10-10")],
    ["page_shield", {}],
  ] as const) {
    const base = `/zones/${zone}/${segment}`;
    assert.equal((await ask(server, "GET", base, asking)).body.result.enabled, false);
    const on = await ask(server, "PUT", base, { ...asking, body: { enabled: true } });
    assert.deepEqual([on.body.result.enabled, on.body.result.use_connection_url_path], [true, false]);
    const odd = await ask(server, "PUT", base, { ...asking, body: { colour: "red" } });
    assert.deepEqual([odd.status, odd.body.result.enabled, /colour/.test(odd.body.messages[0].message)], [200, true, true]);
    const script = {
      kind: "script",
      url: `https://cdn.example/${segment}.js`,
      host: "cdn.example",
      page_url: "https://ended.test/card/4242424242424242",
    } as const;
    await server.control.pageShield.note([{ ...script, zone_id: zone, at_ms: clock.nowMs() }]);
    const { result } = (await ask(server, "GET", `${base}/scripts?urls=${segment}`, asking)).body;
    assert.deepEqual([result.length, result[0].url, result[0].page_urls], [1, script.url, ["https://ended.test/card/[masked]"]]);
    assert.equal((await ask(server, "GET", `${base}/scripts?status=unknown`, asking)).status, 400);
    assert.equal(
      (await ask(server, "GET", `${base}/scripts?status=inactive,active&urls=${segment}`, asking)).body.result.length,
      result.length,
    );
    assert.equal((await ask(server, "GET", `${base}/scripts/${result[0].id}`, asking)).body.result.host, "cdn.example");
    assert.equal((await ask(server, "GET", `${base}/scripts/${"0".repeat(32)}`, asking)).status, 404);
    assert.equal((await ask(server, "PUT", base, { ...asking, body: { enabled: false } })).body.result.enabled, false);
  }
  const gone = await ask(server, "GET", `/zones/${zone}/script_monitor`, day("2022-10-11"));
  assert.deepEqual([gone.status, gone.body.errors[0].code], [410, 10410]);
});

const BOTH = { read: true, write: true };

test("SPEC 9, 2025-06-15: firewall rules and rate limits that are still active are listed as rules, and can be deleted", async () => {
  const old = day("2025-06-14");
  const created = await ask(server, "POST", "/zones", { body: { name: "remaining.test", account: { id: server.account_id } } });
  const path = `/zones/${created.body.result.id}`;
  assert.deepEqual((await ask(server, "GET", `${path}/remaining_rules`)).body.result, []);
  const rule = { action: "block", description: "no wp", priority: 1, filter: { expression: 'http.request.uri.path contains "/wp-"' } };
  const firewall = await ask(server, "POST", `${path}/firewall/rules`, { ...old, body: [rule] });
  assert.equal(firewall.status, 200, firewall.text);
  const limit = { match: { request: { url: "*remaining.test/login" } }, threshold: 5, period: 60, action: { mode: "ban", timeout: 60 } };
  const limited = await ask(server, "POST", `${path}/rate_limits`, { ...old, body: limit });
  assert.equal(limited.status, 200, limited.text);

  const { body } = await ask(server, "GET", `${path}/remaining_rules`);
  assert.deepEqual(
    body.result.map(({ id, kind, phase, action, expression }: any) => [id, kind, phase, action, expression.slice(0, 21)]),
    [
      [firewall.body.result[0].id, "firewall_rule", "http_request_firewall_custom", "block", "http.request.uri.path"],
      [limited.body.result.id, "rate_limit", "http_ratelimit", "block", body.result[1]?.expression.slice(0, 21)],
    ],
  );
  assert.deepEqual([body.result[1].ratelimit.period, body.result[1].ratelimit.requests_per_period], [60, 5]);
  const told = (await ask(server, "GET", `${path}/rulesets`)).body.messages.map(({ message }: { message: string }) => message);
  assert.match(
    told.join(),
    /^firewall rules \(1\) and rate limits \(1\) of the interfaces that ended on 2025-06-15 act before the zone's own rules/,
  );
  await ask(server, "PUT", `${path}/rulesets/phases/http_ratelimit/entrypoint`, { body: { rules: [] } });
  const entry = await ask(server, "GET", `${path}/rulesets/phases/http_ratelimit/entrypoint`);
  assert.match(entry.body.messages[0].message, /^rate limits \(1\) of the interfaces/);

  for (const { id } of body.result) assert.equal((await ask(server, "DELETE", `${path}/remaining_rules/${id}`)).body.result.id, id);
  assert.equal((await ask(server, "DELETE", `${path}/remaining_rules/${limited.body.result.id}`)).status, 404);
  for (const list of ["remaining_rules", "rulesets"]) assert.deepEqual((await ask(server, "GET", `${path}/${list}`)).body.messages, []);
  assert.deepEqual((await ask(server, "GET", `${path}/firewall/rules`, old)).body.result, []);
  assert.deepEqual((await ask(server, "GET", `${path}/filters`, old)).body.result, [], "their filters go with them");
});
