import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { apiCaller, succeed } from "../support/api.ts";
import { startSelvedge } from "../support/selvedge.ts";

const QUERY = `query ($zone: String!, $filter: DnsAnalyticsFilter, $limit: Int!) {
  viewer {
    zones(filter: { zoneTag: $zone }) {
      zoneTag
      dnsAnalyticsAdaptiveGroups(limit: $limit, filter: $filter, orderBy: [count_DESC, queryName_ASC]) {
        count
        ...asked
        sum { queryBytes responseBytes }
      }
    }
  }
}
fragment asked on DnsAnalyticsAdaptiveGroup { dimensions { queryName queryType responseCode protocol } }`;

test("GraphQL counts the queries to a zone's nameserver, and only with permission", async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const call = apiCaller(selvedge.ready);
  const zone = await succeed(call("POST", "/zones", { name: "asked.test", account: { id: selvedge.ready.account_id } }));
  await succeed(call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "192.0.2.9", ttl: 60 }));
  const resolver = new Resolver({ timeout: 20_000, tries: 1 });
  resolver.setServers([selvedge.ready.dns]);
  for (let i = 0; i < 3; i++) await resolver.resolve4("www.asked.test");
  await assert.rejects(resolver.resolve4("missing.asked.test"));
  await assert.rejects(resolver.resolve4("elsewhere.example"));

  const ask = async (body: object, token = selvedge.ready.token ?? "") => {
    const res = await fetch(`${selvedge.ready.api}/graphql`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return {
      status: res.status,
      body: (await res.json()) as { data: any; errors: { message: string; extensions: { code: unknown } }[] | null },
    };
  };
  const count = async (filter: object, limit = 10) => {
    const { status, body } = await ask({ query: QUERY, variables: { zone: zone.id, filter, limit } });
    assert.equal(status, 200);
    assert.equal(body.errors, null, JSON.stringify(body.errors));
    const [found] = body.data.viewer.zones;
    assert.equal(found.zoneTag, zone.id);
    return found.dnsAnalyticsAdaptiveGroups as { count: number; dimensions: Record<string, string>; sum: { queryBytes: number } }[];
  };
  // Rows travel to their writer in batches.
  while ((await count({})).reduce((sum, group) => sum + group.count, 0) < 4) await delay(50);

  const groups = await count({ datetimeMinute_geq: "2020-01-01T00:00:00Z", date_leq: "2099-12-31" });
  const www = { queryName: "www.asked.test", queryType: "A", responseCode: "NOERROR", protocol: "udp" };
  const missing = { queryName: "missing.asked.test", queryType: "A", responseCode: "NXDOMAIN", protocol: "udp" };
  assert.deepEqual(
    groups.map((group) => [group.count, group.dimensions]),
    [
      [3, www],
      [1, missing],
    ],
  );
  assert.ok((groups[0]?.sum.queryBytes ?? 0) >= 3 * 32);
  assert.deepEqual(
    (await count({ responseCode_neq: "NOERROR" })).map(({ dimensions }) => dimensions),
    [missing],
  );
  assert.deepEqual(
    (await count({ queryName_in: ["www.asked.test"] }, 1)).map(({ dimensions }) => dimensions),
    [www],
  );
  assert.deepEqual(await count({ date_lt: "2020-01-01" }), []);

  await reports(call, zone.id);

  const refused = async (body: object): Promise<unknown> => (await ask(body)).body.errors?.[0]?.extensions.code;
  assert.equal(await refused({ query: "{ viewer { nothing } }" }), "invalid_input");
  assert.equal(await refused({ query: "{" }), "invalid_input");
  assert.equal(await refused({ query: QUERY, variables: { zone: zone.id, limit: 0 } }), "invalid_input");
  assert.equal(await refused({ query: QUERY, variables: { zone: zone.id, limit: 1, filter: { date_geq: "yesterday" } } }), "invalid_input");
  assert.equal(await refused({ query: QUERY, variables: { zone: "0".repeat(32), limit: 1 } }), "authz");
  const many = Array.from({ length: 101 }, (_, i) => `a${i}: dnsAnalyticsAdaptiveGroups(limit: 1) { count }`).join(" ");
  assert.equal(await refused({ query: `{ viewer { zones(filter: { zoneTag: "${zone.id}" }) { ${many} } } }` }), "invalid_input");

  const theirs = await succeed(call("POST", "/zones", { name: "theirs.test", account: { id: selvedge.ready.account_id } }));
  const other = await succeed(
    call("POST", "/user/tokens", {
      name: "elsewhere",
      policies: [
        {
          effect: "allow",
          resources: { [`com.cloudflare.api.account.zone.${theirs.id}`]: "*" },
          permission_groups: [{ id: await group(call, "DNS Read") }],
        },
      ],
    }),
  );
  const { body } = await ask({ query: QUERY, variables: { zone: zone.id, limit: 1 } }, other.value);
  assert.equal(body.errors?.[0]?.extensions.code, "authz", "another tenant does not learn that the zone exists");
  assert.equal((await ask({ query: QUERY }, "x".repeat(40))).status, 403);
});

/** The same queries through the reports of the vendor's REST interface. */
async function reports(call: ReturnType<typeof apiCaller>, zoneId: string): Promise<void> {
  const report = (query: string) => call("GET", `/zones/${zoneId}/dns_analytics/report${query}`);
  const table = await succeed(report("?metrics=queryCount,staleCount&dimensions=queryName,tcp,responseCode&sort=-queryCount"));
  assert.deepEqual(table.data, [
    { dimensions: ["www.asked.test", "0", "NOERROR"], metrics: [3, 0] },
    { dimensions: ["missing.asked.test", "0", "NXDOMAIN"], metrics: [1, 0] },
  ]);
  const { rows, min, max, totals, query } = table;
  assert.deepEqual(
    { rows, min, max, totals },
    {
      rows: 2,
      min: { queryCount: 1, staleCount: 0 },
      max: { queryCount: 3, staleCount: 0 },
      totals: { queryCount: 4, staleCount: 0 },
    },
  );
  assert.deepEqual([query.dimensions, query.sort, query.limit], [["queryName", "tcp", "responseCode"], ["-queryCount"], 10_000]);
  assert.equal(Date.parse(query.until) - Date.parse(query.since), 6 * 3_600_000);

  const counts = async (filters: string) => (await succeed(report(`?filters=${encodeURIComponent(filters)}`))).totals.queryCount;
  assert.equal(await counts("responseCode==nxdomain"), 1);
  assert.equal(await counts("queryName!=www.asked.test;tcp==0,responseCode==NOERROR"), 4);
  assert.equal(await counts("tcp==1"), 0);
  assert.equal(await counts("responseCached==1"), 0);
  assert.deepEqual((await succeed(report("?dimensions=queryName&sort=queryName&limit=1"))).data, [
    { dimensions: ["missing.asked.test"], metrics: [1] },
  ]);

  const byTime = await succeed(report("/bytime?dimensions=responseCode&time_delta=dekaminute&since=-30"));
  assert.deepEqual([byTime.query.time_delta, byTime.rows], ["dekaminute", 2]);
  assert.ok(byTime.time_intervals.length >= 3);
  for (const { metrics } of byTime.data) assert.equal(metrics[0].length, byTime.time_intervals.length);
  const sum = byTime.data.flatMap(({ metrics }: { metrics: number[][] }) => metrics[0]).reduce((a: number, b: number) => a + b, 0);
  assert.deepEqual([sum, byTime.totals], [4, { queryCount: 4 }]);

  for (const [wrong, pointer] of [
    ["?metrics=responseTimeAvg", "/metrics"],
    ["?dimensions=origin", "/dimensions"],
    ["?sort=queryName", "/sort"],
    ["?since=now", "/since"],
    ["?since=0&until=-60", "/since"],
    ["?filters=queryName%3D~x", "/filters"],
    ["?filters=tcp%3D%3D2", "/filters"],
    ["?filters=,", "/filters"],
    ["/bytime?time_delta=minute&since=-100000", "/time_delta"],
  ] as const) {
    const { status, body } = await report(wrong);
    const [error] = body.errors as readonly { source?: { pointer: string } }[];
    assert.deepEqual([status, error?.source?.pointer], [400, pointer], wrong);
  }
}

async function group(call: ReturnType<typeof apiCaller>, name: string): Promise<string> {
  const groups = (await succeed(call("GET", "/user/tokens/permission_groups"))) as { id: string; name: string }[];
  return groups.find((one) => one.name === name)?.id ?? "";
}
