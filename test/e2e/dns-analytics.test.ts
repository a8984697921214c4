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

test("queries to a zone's nameserver can be counted through GraphQL, and only with permission", async (t) => {
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

async function group(call: ReturnType<typeof apiCaller>, name: string): Promise<string> {
  const groups = (await succeed(call("GET", "/user/tokens/permission_groups"))) as { id: string; name: string }[];
  return groups.find((one) => one.name === name)?.id ?? "";
}
