import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openEventDatabase } from "#events/database.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/test-rows.ts";
import { fixedClock } from "#kernel/clock.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

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

test("SPEC 9, 2021-03-01: a zone's dashboard and its places are sums of what visitors asked for", async () => {
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

test("SPEC 9, 2023-06-06: nothing is owed", async () => {
  for (const path of ["/user/billing/profile", `/accounts/${server.account_id}/billing/profile`]) {
    const { balance, account_type } = (await ask(server, "GET", path, day("2023-06-05"))).body.result;
    assert.deepEqual([balance, account_type], ["0", "self_hosted"]);
  }
  const history = await ask(server, "GET", "/user/billing/history", day("2023-06-05"));
  assert.deepEqual([history.body.result, history.body.result_info.total_count], [[], 0]);
});

test("SPEC 9, 2020-04-02: an account is an organization, with its members, roles and who did what", async () => {
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
