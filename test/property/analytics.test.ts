import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fc } from "../support/property.ts";
import { computedColumn } from "#events/rows/computed-columns.ts";
import { openEventDatabase } from "#events/database/database.ts";
import type { RequestRow, SecurityEventRow } from "#events/rows/rows.ts";
import { packed, testGatewayRow, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { ANALYTICS_DATASETS, type AnalyticsDataset } from "#model/events/analytics.ts";
import { columnsOf } from "#events/rows/schema.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

const SEED = 20_261_123;
const HOUR_MS = 3_600_000;
const START_MS = 490_000 * HOUR_MS;

const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

describe("GraphQL analytics", () => {
  let server: ApiServer;
  let zone = "";
  let other = "";
  let requests: readonly RequestRow[] = [];
  let events: readonly SecurityEventRow[] = [];
  before(async () => {
    server = await startApi();
    zone = await createZone("one.example");
    other = await createZone("two.example");
    requests = rowsOf(600, (changes) => testRequestRow({ ...changes, account_id: server.account_id, zone_id: zone }));
    events = rowsOf(300, (changes) => testSecurityRow({ ...changes, account_id: server.account_id, zone_id: zone }));
    const database = openEventDatabase(server.eventsPath);
    database.insert([
      packed("requests", [...requests, testRequestRow({ account_id: server.account_id, zone_id: other, at_ms: START_MS })]),
      packed("security_events", [...events, testSecurityRow({ zone_id: other, at_ms: START_MS })]),
      packed("gateway_logs", [
        testGatewayRow({ account_id: server.account_id, at_ms: START_MS, cost: 0.25 }),
        testGatewayRow({ account_id: server.account_id, at_ms: START_MS, cost: 0.5, cached: true }),
        testGatewayRow({ account_id: "another", at_ms: START_MS }),
      ]),
    ]);
    database.close();
  });
  after(() => server.close());

  const createZone = async (name: string): Promise<string> =>
    (await ask(server, "POST", "/zones", { body: { name, account: { id: server.account_id } } })).body.result.id;
  const query = async (text: string, variables: object = {}) => {
    const { status, body } = await ask(server, "POST", "/graphql", { body: { query: text, variables } });
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as { data: any; errors: readonly { message: string; extensions: { code: unknown } }[] | null };
  };
  const node = async (selection: string, variables: object = {}, declared = ""): Promise<any> => {
    const { data, errors } = await query(
      `query ($zoneTag: string${declared}) { viewer { zones(filter: { zoneTag: $zoneTag }) { node: ${selection} } } }`,
      { zoneTag: zone, ...variables },
    );
    assert.equal(errors, null, JSON.stringify(errors));
    return data.viewer.zones[0].node;
  };

  /** Few values, so that groups have many members. */
  function rowsOf<T>(count: number, make: (changes: object) => T): T[] {
    const changes = fc.record({
      at_ms: fc.integer({ min: START_MS, max: START_MS + 30 * HOUR_MS }),
      method: fc.constantFrom("GET", "POST"),
      host: fc.constantFrom("www.one.example", "api.one.example"),
      path: fc.constantFrom("/", "/login", "/a_b"),
      client_ip: fc.constantFrom("192.0.2.1", "192.0.2.2"),
      status: fc.constantFrom(200, 404, 503),
      cache_status: fc.constantFrom("HIT", "MISS", ""),
      country: fc.constantFrom("PT", "NZ", ""),
      scheme: fc.constantFrom("http" as const, "https" as const),
      tls_version: fc.constantFrom("", "TLSv1.3"),
      content_type: fc.constantFrom("text/html", "application/json"),
      action: fc.constantFrom("block", "log", "managed_challenge"),
      rule_id: fc.constantFrom("rule-1", "rule-2"),
      bytes_out: fc.nat(5000),
      duration_ms: fc.nat(400),
    });
    return fc.sample(changes, { seed: SEED, numRuns: count }).map(make);
  }

  test("every field of every dataset is a column", () => {
    for (const dataset of Object.values(ANALYTICS_DATASETS) as readonly AnalyticsDataset[]) {
      if (dataset.table === null) continue;
      const columns = columnsOf(dataset.table).map(({ name }): string => name);
      const named = [
        ...Object.values(dataset.fields).flatMap((field) => ("column" in field ? field.column : [])),
        ...[dataset.sums, dataset.averages, dataset.quantiles, dataset.uniques].flatMap((of) => Object.values(of)),
      ];
      for (const column of named)
        assert.ok(columns.includes(column) || computedColumn(dataset.table, column) !== undefined, `${dataset.table} has no ${column}`);
    }
  });

  const FILTERS: Readonly<Record<string, (row: RequestRow) => boolean>> = {
    "edgeResponseStatus_geq: 404": (row) => row.status >= 404,
    "edgeResponseStatus_notin: [200]": (row) => row.status !== 200,
    'clientRequestPath_like: "/_o%"': (row) => /^\/.o/.test(row.path),
    'clientRequestPath_notlike: "/a\\\\_b"': () => true,
    'clientRequestHTTPMethodName: "POST"': (row) => row.method === "POST",
    'cacheStatus_neq: "HIT"': (row) => row.cache_status !== "HIT",
    'cacheStatus_notin: ["hit"]': (row) => row.cache_status !== "HIT",
    'cacheStatus: "none"': (row) => row.cache_status === "",
    'clientSSLProtocol_neq: "none"': (row) => row.tls_version !== "",
    'requestSource_in: ["eyeball"]': () => true,
    "sampleInterval: 1": () => true,
    'requestSource: "edgeWorkerFetch"': () => false,
    'clientCountryName_in: ["PT", "NZ"]': (row) => row.country !== "",
    'AND: [{ clientIP: "192.0.2.1" }, { edgeResponseStatus_lt: 500 }]': (row) => row.client_ip === "192.0.2.1" && row.status < 500,
    'OR: [{ edgeResponseStatus: 503, clientRequestHTTPMethodName: "GET" }, { clientRequestPath: "/login" }]': (row) =>
      (row.status === 503 && row.method === "GET") || row.path === "/login",
    [`datetime_geq: "${iso(START_MS + 5_000_000)}"`]: (row) => row.at_ms >= START_MS + 5_000_000,
    [`datetime_lt: "${iso(START_MS + 50_000_000)}"`]: (row) => row.at_ms < START_MS + 50_000_000,
    [`datetimeHour_gt: "${iso(START_MS + HOUR_MS)}"`]: (row) => row.at_ms >= START_MS + 2 * HOUR_MS,
    [`datetimeHour_leq: "${iso(START_MS + 7 * HOUR_MS)}"`]: (row) => row.at_ms < START_MS + 8 * HOUR_MS,
    [`datetimeHour_geq: "${iso(START_MS + 5_000_000)}"`]: (row) => row.at_ms >= START_MS + 2 * HOUR_MS,
    [`datetimeHour_lt: "${iso(START_MS + 50_000_000)}"`]: (row) => row.at_ms < START_MS + 14 * HOUR_MS,
    [`datetimeHour_neq: "${iso(START_MS + HOUR_MS)}"`]: (row) => hourOf(row) !== 1,
    [`datetimeHour_neq: "${iso(START_MS + 90_000)}"`]: () => true,
    [`datetimeHour_in: ["${iso(START_MS)}", "${iso(START_MS + 90_000)}", "${iso(START_MS + 4 * HOUR_MS)}"]`]: (row) =>
      hourOf(row) === 0 || hourOf(row) === 4,
    "datetimeMinute_in: []": () => false,
    [`datetimeMinute_notin: ["${iso(START_MS)}", "${iso(START_MS + 3 * HOUR_MS)}"]`]: (row) =>
      ![0, 3 * HOUR_MS].includes(Math.floor((row.at_ms - START_MS) / 60_000) * 60_000),
    [`date_notin: ["${iso(START_MS).slice(0, 10)}"]`]: (row) => iso(row.at_ms).slice(0, 10) !== iso(START_MS).slice(0, 10),
    [`OR: [{ datetime_lt: "${iso(START_MS + 5_000_000)}", edgeResponseStatus: 200 }, { datetime_geq: "${iso(START_MS + 50_123_000)}" }]`]: (
      row,
    ) => (row.at_ms < START_MS + 5_000_000 && row.status === 200) || row.at_ms >= START_MS + 50_123_000,
    [`AND: [{ OR: [{ datetimeHour: "${iso(START_MS)}" }, { clientRequestHTTPMethodName: "POST" }] }, { OR: [{ AND: [{ datetime_leq: "${iso(START_MS + 9_000_000)}" }, { OR: [{ datetime_gt: "${iso(START_MS + 1_000_000)}" }, { edgeResponseStatus: 503 }] }] }] }]`]:
      (row) =>
        (hourOf(row) === 0 || row.method === "POST") &&
        row.at_ms < START_MS + 9_001_000 &&
        (row.at_ms >= START_MS + 1_001_000 || row.status === 503),
    [`date: "${iso(START_MS).slice(0, 10)}"`]: (row) => iso(row.at_ms).slice(0, 10) === iso(START_MS).slice(0, 10),
  };
  const DIMENSIONS: Readonly<Record<string, (row: RequestRow) => unknown>> = {
    edgeResponseStatus: (row) => row.status,
    cacheStatus: (row) => row.cache_status?.toLowerCase() || "none",
    sampleInterval: () => 1,
    clientSSLProtocol: (row) => row.tls_version || "none",
    requestSource: () => "eyeball",
    datetimeSixHours: (row) => iso(Math.floor(row.at_ms / (6 * HOUR_MS)) * 6 * HOUR_MS),
    clientRequestHTTPHost: (row) => row.host,
    clientRequestPath: (row) => row.path,
    datetimeHour: (row) => iso(Math.floor(row.at_ms / HOUR_MS) * HOUR_MS),
    datetimeMinute: (row) => iso(Math.floor(row.at_ms / 60_000) * 60_000),
    date: (row) => iso(row.at_ms).slice(0, 10),
  };

  test("groups equal groups over the rows, for any query", async () => {
    const asked = fc.record({
      // An object names each field once.
      filters: fc.uniqueArray(fc.constantFrom(...Object.keys(FILTERS)), { maxLength: 3, selector: (filter) => filter.split(":", 1)[0] }),
      dimensions: fc.subarray(Object.keys(DIMENSIONS), { maxLength: 3 }),
      hasEach: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ filters, dimensions, hasEach }) => {
        const each = hasEach ? "quantiles { edgeDurationMsP50 } uniq { clientIPs }" : "";
        const named = dimensions.length === 0 ? "" : `dimensions { ${dimensions.join(" ")} }`;
        const found: any[] = await node(
          `httpRequestsAdaptiveGroups(limit: 10000, filter: { ${filters.join(", ")} }) { count ${named} sum { edgeResponseBytes } avg { edgeDurationMs sampleInterval } ${each} }`,
        );
        const rows = requests.filter((row) => filters.every((filter) => FILTERS[filter]!(row)));
        const groups = Map.groupBy(rows, (row) => JSON.stringify(dimensions.map((name) => DIMENSIONS[name]!(row))));
        const expected = Array.from(groups, ([key, members]) => {
          const [bytes, durations] = [members.map((row) => row.bytes_out), members.map((row) => row.duration_ms)];
          return {
            key,
            count: members.length,
            bytes: total(bytes),
            average: total(durations) / members.length,
            ...(hasEach ? { middle: middle(durations), addresses: new Set(members.map((row) => row.client_ip)).size } : {}),
          };
        });
        const got = found.map((group) => ({
          key: JSON.stringify(dimensions.map((name) => group.dimensions[name])),
          count: group.count,
          bytes: group.sum.edgeResponseBytes,
          average: group.avg.edgeDurationMs,
          ...(hasEach ? { middle: group.quantiles.edgeDurationMsP50, addresses: group.uniq.clientIPs } : {}),
        }));
        assert.deepEqual(byKey(got), byKey(expected));
        assert.ok(found.every((group) => group.avg.sampleInterval === 1));
      }),
      { numRuns: 120 },
    );
  });

  test("rows are ordered by time and contain only the requested fields", async () => {
    const found = await node(
      'firewallEventsAdaptive(limit: 50, filter: { action: "block" }, orderBy: [datetime_ASC]) { rule: ruleId datetime clientIP }',
    );
    const blocked = events.filter((row) => row.action === "block").toSorted((a, b) => a.at_ms - b.at_ms);
    assert.deepEqual(
      found,
      blocked.slice(0, 50).map((row) => ({ rule: row.rule_id, datetime: iso(row.at_ms), clientIP: row.client_ip })),
    );
  });

  test("groups are ordered by counts, sums and percentiles", async () => {
    const by = async (order: string, selection: string) =>
      node(`httpRequestsAdaptiveGroups(limit: 3, orderBy: [${order}]) { count ${selection} dimensions { clientRequestPath } }`);
    const paths = (found: { dimensions: { clientRequestPath: string } }[]) => found.map(({ dimensions }) => dimensions.clientRequestPath);
    const groups = [...Map.groupBy(requests, (row) => row.path)];
    const ranked = (value: (rows: readonly RequestRow[]) => number) =>
      groups.toSorted((a, b) => value(b[1]) - value(a[1])).map(([path]) => path);
    assert.deepEqual(
      paths(await by("count_DESC", "")),
      ranked((rows) => rows.length),
    );
    assert.deepEqual(
      paths(await by("sum_edgeResponseBytes_DESC", "")),
      ranked((rows) => total(rows.map((row) => row.bytes_out))),
    );
    assert.deepEqual(paths(await by("clientRequestPath_ASC", "")), ["/", "/a_b", "/login"]);
    assert.deepEqual(
      paths(await by("avg_edgeDurationMs_DESC", "")),
      ranked((rows) => total(rows.map((row) => row.duration_ms)) / rows.length),
    );
    assert.deepEqual(
      paths(await by("avg_edgeDurationMs_ASC", "quantiles { edgeDurationMsP50 }")),
      ranked((rows) => total(rows.map((row) => row.duration_ms)) / rows.length).toReversed(),
    );
    assert.deepEqual(paths(await by("uniq_rayNames_DESC, clientRequestPath_DESC", "")), ["/login", "/a_b", "/"]);
  });

  test("totals by the hour and by the day", async () => {
    const [all] = await node(
      "httpRequests1dGroups(limit: 1) { sum { requests bytes cachedRequests encryptedBytes pageViews threats responseStatusMap { edgeResponseStatus requests } countryMap { clientCountryName requests bytes } } }",
    );
    const of = (holds: (row: RequestRow) => boolean): RequestRow[] => requests.filter(holds);
    assert.equal(all.sum.requests, requests.length);
    assert.equal(all.sum.bytes, total(requests.map((row) => row.bytes_out)));
    assert.equal(all.sum.cachedRequests, of((row) => row.cache_status === "HIT").length);
    assert.equal(all.sum.encryptedBytes, total(of((row) => row.scheme === "https").map((row) => row.bytes_out)));
    assert.equal(all.sum.pageViews, of((row) => row.content_type === "text/html" && row.status === 200).length);
    assert.equal(all.sum.threats, events.filter((row) => row.action !== "log").length);
    const statuses = all.sum.responseStatusMap.map((part: any) => [part.edgeResponseStatus, part.requests]);
    assert.deepEqual(
      Object.fromEntries(statuses),
      Object.fromEntries([200, 404, 503].map((status) => [status, of((row) => row.status === status).length])),
    );
    const hours = await node(
      "httpRequests1hGroups(limit: 100, filter: $filter, orderBy: [datetime_DESC]) { dimensions { datetime date } sum { requests } }",
      { filter: { datetime_geq: iso(START_MS + HOUR_MS), datetime_lt: iso(START_MS + 4 * HOUR_MS) } },
      ", $filter: ZoneHttpRequests1hGroupsFilter_InputObject",
    );
    assert.deepEqual(
      hours,
      [3, 2, 1].map((n) => ({
        dimensions: { datetime: iso(START_MS + n * HOUR_MS), date: iso(START_MS + n * HOUR_MS).slice(0, 10) },
        sum: { requests: of((row) => Math.floor((row.at_ms - START_MS) / HOUR_MS) === n).length },
      })),
    );
    const addresses = (rows: readonly RequestRow[]): number => new Set(rows.map((row) => row.client_ip)).size;
    const [visitors] = await node("httpRequests1dGroups(limit: 1) { uniq { uniques } }");
    assert.equal(visitors.uniq.uniques, addresses(requests));
    const hourly = await node("httpRequests1hGroups(limit: 100) { dimensions { datetime } uniq { uniques } sum { requests } }");
    for (const { dimensions, uniq, sum } of hourly) {
      const within = of((row) => iso(Math.floor(row.at_ms / HOUR_MS) * HOUR_MS) === dimensions.datetime);
      assert.deepEqual([uniq.uniques, sum.requests], [addresses(within), within.length]);
    }
    const days = await node('httpRequests1dGroups(limit: 9, filter: { date_gt: "2020-01-01" }) { dimensions { date } sum { requests } }');
    assert.equal(total(days.map((day: any) => day.sum.requests)), requests.length);
  });

  test("groups of an account's gateways", async () => {
    const { data, errors } = await query(
      `{ viewer { accounts(filter: { accountTag: "${server.account_id}" }) { aiGatewayRequestsAdaptiveGroups(limit: 9, orderBy: [sum_cost_DESC]) { count sum { cost tokensIn } dimensions { cached gateway } } httpRequestsAdaptiveGroups(limit: 9) { count } } } }`,
    );
    assert.equal(errors, null, JSON.stringify(errors));
    assert.deepEqual(data.viewer.accounts[0], {
      aiGatewayRequestsAdaptiveGroups: [
        { count: 1, sum: { cost: 0.5, tokensIn: 3 }, dimensions: { cached: true, gateway: "gateway" } },
        { count: 1, sum: { cost: 0.25, tokensIn: 3 }, dimensions: { cached: false, gateway: "gateway" } },
      ],
      httpRequestsAdaptiveGroups: [{ count: requests.length + 1 }],
    });
  });

  test("introspection and limits", async () => {
    const { data } = await query(
      `{ described: __type(name: "HttpRequestsFilter") { inputFields { name } } viewer { zones(filter: { zoneTag: "${zone}" }) { settings { firewallEventsAdaptive { enabled maxPageSize } } } } }`,
    );
    assert.ok(data.described.inputFields.some((field: { name: string }) => field.name === "edgeResponseStatus_geq"));
    assert.deepEqual(data.viewer.zones[0].settings.firewallEventsAdaptive, { enabled: true, maxPageSize: 10_000 });
  });

  test("a token sees only what it may read, and cannot tell whether anything else exists", async () => {
    const groups = await ask(server, "GET", "/user/tokens/permission_groups");
    const reads = groups.body.result.find((group: { name: string; scopes: string[] }) => group.name === "Analytics Read");
    const policies = [
      { effect: "allow", resources: { [`com.cloudflare.api.account.zone.${zone}`]: "*" }, permission_groups: [{ id: reads.id }] },
    ];
    const made = await ask(server, "POST", "/user/tokens", { body: { name: "one zone", policies } });
    const codeFor = async (scope: string): Promise<unknown> => {
      const { body } = await ask(server, "POST", "/graphql", {
        token: made.body.result.value,
        body: {
          query: `{ viewer { ${scope} { httpRequestsAdaptive(limit: 1) { clientIP } httpRequests1dGroups(limit: 1) { sum { requests } } } } }`,
        },
      });
      const { data, errors } = body as unknown as { data: unknown; errors: readonly { extensions: { code: unknown } }[] | null };
      if (errors !== null) assert.equal(data, null, "nothing beside the refusal");
      return errors?.[0]?.extensions.code ?? "none";
    };
    assert.equal(await codeFor(`zones(filter: { zoneTag: "${zone}" })`), "none");
    const foreign = await codeFor(`zones(filter: { zoneTag: "${other}" })`);
    assert.equal(foreign, await codeFor(`zones(filter: { zoneTag: "${"0".repeat(32)}" })`));
    assert.equal(foreign, "authz");
    assert.notEqual(await codeFor(`zones(filter: { zoneTag_in: ["${zone}", "${other}"] })`), "none");
    assert.notEqual(await codeFor(`accounts(filter: { accountTag: "${server.account_id}" })`), "none");
  });

  test("null or empty values are not errors", async () => {
    assert.equal(
      (
        await node(
          "httpRequestsAdaptiveGroups(limit: 1, filter: $filter) { count }",
          { filter: { clientIP: null, AND: null } },
          ", $filter: ZoneHttpRequestsAdaptiveGroupsFilter_InputObject",
        )
      )[0].count,
      requests.length,
    );
    assert.equal(
      (await node('httpRequestsAdaptiveGroups(limit: 1, filter: { clientIP_in: [], OR: [{ clientIP: "192.0.2.1" }] }) { count }')).length,
      0,
    );
    assert.equal((await node("httpRequestsAdaptiveGroups(limit: 1, filter: { AND: [] }) { count }"))[0].count, requests.length);
    assert.match((await query("{ viewer { zones(filter: {}) { zoneTag } } }")).errors?.[0]?.message ?? "", /filter must name/);
    assert.match(await refusal('httpRequestsAdaptive(limit: 1, filter: { datetime_geq: "yesterday" }) { clientIP }'), /must be a time/);
  });

  const refusal = async (inner: string): Promise<string> => {
    const { errors } = await query(`{ viewer { zones(filter: { zoneTag: "${zone}" }) { ${inner} } } }`);
    return errors?.[0]?.message ?? "none";
  };
  const nested = (depth: number): string => (depth === 0 ? 'clientIP: "192.0.2.1"' : `AND: [{ ${nested(depth - 1)} }]`);

  test("queries that are too large, too deep or invalid get an error, and the rest of the response is complete", async () => {
    assert.match(await refusal("httpRequestsAdaptiveGroups(limit: 10001) { count }"), /limit must be between/);
    assert.match(await refusal("httpRequestsAdaptiveGroups { count }"), /limit must be between/);
    assert.match(await refusal(`httpRequestsAdaptive(limit: 1, filter: { ${nested(6)} }) { clientIP }`), /at most 5 levels deep/);
    const many = Array.from({ length: 101 }, (_, n) => `a${n}: httpRequestsAdaptive(limit: 1) { clientIP }`).join(" ");
    assert.match(await refusal(many), /at most 100 data nodes/);
    const wide = Array.from({ length: 201 }, (_, n) => `a${n}: clientIP`).join(" ");
    assert.match(await refusal(`httpRequestsAdaptive(limit: 1) { ${wide} }`), /200 values of each row/);
    const each = Array.from({ length: 190 }, (_, n) => `a${n}: clientIP`).join(" ");
    const much = Array.from({ length: 5 }, (_, n) => `a${n}: httpRequestsAdaptive(limit: 10000) { ...Each }`).join(" ");
    const { errors: tooMuch } = await query(
      `{ viewer { zones(filter: { zoneTag: "${zone}" }) { ${much} } } } fragment Each on HttpRequestsRow { ${each} }`,
    );
    assert.match(tooMuch?.[0]?.message ?? "none", /at most 500000 values/);
    assert.match(await refusal("httpRequestsAdaptiveGroups(limit: 1, orderBy: [clientIP_ASC]) { count }"), /orderBy clientIP requires/);
    const deep = `{ viewer { ${"zones(filter: {}) { ".repeat(20)} zoneTag ${"} ".repeat(20)} } }`;
    assert.match((await query(deep)).errors?.map(({ message }) => message).join() ?? "", /at most 15 levels deep/);
    const { data, errors } = await query(
      `{ viewer { zones(filter: { zoneTag_in: ["${zone}", "${"0".repeat(32)}"] }) { zoneTag } mine: zones(filter: { zoneTag: "${zone}" }) { events: firewallEventsAdaptiveGroups(limit: 1) { count } } } }`,
    );
    assert.equal(errors, null);
    assert.equal(data.viewer.mine[0].events[0].count, events.length);
  });
});

const hourOf = ({ at_ms }: { readonly at_ms: number }): number => Math.floor((at_ms - START_MS) / HOUR_MS);

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const byKey = <T extends { readonly key: string }>(groups: readonly T[]): readonly T[] =>
  groups.toSorted((a, b) => (a.key < b.key ? -1 : 1));

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0 ? 0 : (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}
