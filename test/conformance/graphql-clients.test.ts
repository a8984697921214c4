import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, validateSchema } from "graphql";
import { openEventDatabase } from "#events/database/database.ts";
import type { RequestRow, SecurityEventRow } from "#events/rows/rows.ts";
import { packed, testGatewayRow, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { type ApiServer, ask, OWNER_EMAIL, OWNER_KEY, startApi } from "../support/api-server.ts";

const HOUR_MS = 3_600_000;
const START_MS = 490_000 * HOUR_MS;
const iso = (ms: number): string => new Date(ms).toISOString();

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0";

/** Queries in the forms in which exporters, panels and scripts send them. */
describe("GraphQL analytics with the queries of clients", () => {
  let server: ApiServer;
  const zones: string[] = [];
  const requests: RequestRow[] = [];
  const events: SecurityEventRow[] = [];
  before(async () => {
    server = await startApi();
    for (let n = 0; n < 10; n++) {
      const { body } = await ask(server, "POST", "/zones", { body: { name: `z${n}.example`, account: { id: server.account_id } } });
      zones.push(body.result.id);
    }
    for (let n = 0; n < 200; n++) {
      const site = { account_id: server.account_id, zone_id: zones[n % 4] ?? "", at_ms: START_MS + n * 37_000 };
      const country = ["PT", "NZ", ""][n % 3] ?? "";
      const seen = { ...site, country, user_agent: n % 5 === 0 ? EDGE : FIREFOX, status: n % 7 === 0 ? 404 : 200, bytes_out: n };
      requests.push(
        testRequestRow({ ...seen, cache_status: ["HIT", "MISS", ""][n % 3] ?? "", content_type: n % 2 === 0 ? "text/html" : "image/png" }),
      );
      if (n % 9 === 0) events.push(testSecurityRow({ ...site, country, action: n % 2 === 0 ? "block" : "log" }));
    }
    const database = openEventDatabase(server.eventsPath);
    database.insert([packed("requests", requests), packed("security_events", events)]);
    database.close();
  });
  after(() => server.close());

  const send = async (body: object, path = "/graphql", headers: Record<string, string> = {}) => {
    const { status, body: answer, text } = await ask(server, "POST", path, { body, headers });
    assert.equal(status, 200, text);
    return answer as { data: any; errors: readonly { message: string; path: unknown; extensions: Record<string, unknown> }[] | null };
  };
  const given = async (body: object, path?: string, headers?: Record<string, string>): Promise<any> => {
    const { data, errors } = await send(body, path, headers);
    assert.equal(errors, null, JSON.stringify(errors));
    return data.viewer;
  };
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

  const EXPORTER = `query ($zoneIDs: [String!], $mintime: Time!, $maxtime: Time!, $limit: Int!) {
    viewer { zones(filter: { zoneTag_in: $zoneIDs }) {
      zoneTag
      httpRequests1mGroups(limit: $limit, filter: { datetime_geq: $mintime, datetime_lt: $maxtime }) {
        uniq { uniques }
        sum {
          requests bytes cachedRequests cachedBytes encryptedRequests encryptedBytes pageViews threats
          browserMap { pageViews uaBrowserFamily }
          clientHTTPVersionMap { clientHTTPProtocol requests }
          clientSSLMap { clientSSLProtocol requests }
          contentTypeMap { edgeResponseContentTypeName bytes requests }
          countryMap { clientCountryName bytes requests threats }
          ipClassMap { ipType requests }
          responseStatusMap { edgeResponseStatus requests }
          threatPathingMap { threatPathingName requests }
        }
        dimensions { datetime }
      }
      firewallEventsAdaptiveGroups(limit: $limit, filter: { datetime_geq: $mintime, datetime_lt: $maxtime }) {
        count dimensions { action source ruleId clientRequestHTTPHost clientCountryName }
      }
      httpRequestsAdaptiveGroups(limit: $limit, filter: { datetime_geq: $mintime, datetime_lt: $maxtime, cacheStatus_notin: ["hit"] }) {
        count
        quantiles { originResponseDurationMsP50 originResponseDurationMsP95 originResponseDurationMsP99 }
        dimensions { originResponseStatus clientCountryName clientRequestHTTPHost }
      }
      edge: httpRequestsAdaptiveGroups(limit: $limit, filter: { datetime_geq: $mintime, datetime_lt: $maxtime, requestSource_in: ["eyeball"] }) {
        count sum { edgeResponseBytes visits } avg { sampleInterval } dimensions { edgeResponseStatus coloCode cacheStatus requestSource }
      }
      healthCheckEventsAdaptiveGroups(limit: $limit, filter: { datetime_geq: $mintime, datetime_lt: $maxtime }) {
        count dimensions { healthStatus originIP region fqdn }
      }
    } } }`;

  test("an exporter queries ten zones at once with key and e-mail, on a path with a trailing slash", async () => {
    const minute = START_MS + 60_000;
    const [from, to] = [minute, minute + 3 * HOUR_MS];
    const variables = { zoneIDs: zones, mintime: iso(from), maxtime: iso(to), limit: 9999 };
    const headers = {
      "x-auth-email": OWNER_EMAIL,
      "x-auth-key": OWNER_KEY,
      "content-type": "application/json; charset=utf-8",
      accept: "application/json; charset=utf-8",
    };
    const { status, body } = await ask(server, "POST", "/graphql/", { token: null, headers, body: { query: EXPORTER, variables } });
    assert.equal(status, 200);
    const answer = body as unknown as { data: any; errors: unknown };
    assert.equal(answer.errors, null, JSON.stringify(answer.errors));
    const found: any[] = answer.data.viewer.zones;
    assert.deepEqual(
      found.map(({ zoneTag }) => zoneTag),
      zones,
    );
    for (const zone of found) {
      const of = <T extends { zone_id: string; at_ms: number }>(rows: readonly T[]): T[] =>
        rows.filter((row) => row.zone_id === zone.zoneTag && row.at_ms >= from && row.at_ms < to);
      const [rows, stopped] = [of(requests), of(events).filter(({ action }) => action === "block")];
      const entries = (map: string): any[] => zone.httpRequests1mGroups.flatMap(({ sum }: any) => sum[map]);
      const by = (map: string, key: string, what: string): object =>
        Object.fromEntries(
          [...Map.groupBy(entries(map), (entry) => entry[key])]
            .map(([name, group]) => [name, total(group.map((entry) => entry[what]))])
            .toSorted(),
        );
      const counted = <T>(all: readonly T[], key: (row: T) => string): object =>
        Object.fromEntries([...Map.groupBy(all, key)].map(([name, group]) => [name, group.length]).toSorted());
      const pages = rows.filter((row) => row.content_type === "text/html" && row.status === 200);
      assert.equal(total(zone.httpRequests1mGroups.map(({ sum }: any) => sum.requests)), rows.length);
      assert.equal(
        total(zone.httpRequests1mGroups.map(({ sum }: any) => sum.cachedBytes)),
        total(rows.filter((row) => row.cache_status === "HIT").map((row) => row.bytes_out)),
      );
      assert.deepEqual(
        by("browserMap", "uaBrowserFamily", "pageViews"),
        counted(pages, (row) => (row.user_agent === EDGE ? "Edge" : "Firefox")),
      );
      assert.deepEqual(
        by("responseStatusMap", "edgeResponseStatus", "requests"),
        counted(rows, (row) => String(row.status)),
      );
      assert.deepEqual(
        by("ipClassMap", "ipType", "requests"),
        counted(rows, () => "noRecord"),
      );
      assert.deepEqual(
        by("threatPathingMap", "threatPathingName", "requests"),
        counted(stopped, ({ action }) => action),
      );
      assert.equal(total(entries("countryMap").map(({ threats }) => threats)), stopped.length);
      assert.equal(total(zone.firewallEventsAdaptiveGroups.map(({ count }: any) => count)), of(events).length);
      assert.equal(
        total(zone.httpRequestsAdaptiveGroups.map(({ count }: any) => count)),
        rows.filter((row) => row.cache_status !== "HIT").length,
      );
      assert.deepEqual(
        Object.fromEntries(
          [...Map.groupBy(zone.edge as any[], ({ dimensions }) => dimensions.cacheStatus)]
            .map(([name, group]) => [name, total(group.map(({ count }) => count))])
            .toSorted(),
        ),
        counted(rows, (row) => row.cache_status!.toLowerCase() || "none"),
      );
      for (const { sum, dimensions } of zone.edge)
        assert.deepEqual([sum.visits, dimensions.coloCode, dimensions.requestSource], [null, "local", "eyeball"]);
      assert.deepEqual(zone.healthCheckEventsAdaptiveGroups, []);
    }
  });

  const FIRST = `zones(filter: { zoneTag: $zoneTag }) { groups: httpRequestsAdaptiveGroups(filter: $filter, limit: $limit, orderBy: $order) { count } }`;
  const filter = { datetime_geq: iso(START_MS), datetime_leq: iso(START_MS + HOUR_MS) };
  const expected = () => requests.filter((row) => row.zone_id === zones[0] && row.at_ms < START_MS + HOUR_MS + 1000).length;

  test("variables may be declared with any type names, or not at all", async () => {
    const variables = { zoneTag: zones[0], filter, limit: 10, order: ["count_DESC"], unused: 1 };
    for (const declared of [
      "",
      "query",
      "query Traffic($zoneTag: string)",
      "query ($zoneTag: String!, $filter: ZoneHttpRequestsAdaptiveGroupsFilter_InputObject!, $limit: uint64!, $order: [ZoneHttpRequestsAdaptiveGroupsOrderBy!])",
      "query ($zoneTag: string!, $limit: Int, $unused: AnythingAtAll)",
      "query ($order: [count_DESC])",
    ]) {
      const { zones: found } = await given({ query: `${declared} { viewer { ${FIRST} } }`, variables });
      assert.deepEqual(found, [{ groups: [{ count: expected() }] }], declared);
    }
    const inFragment = `{ viewer { ...Zones } } fragment Zones on Viewer { ${FIRST} }`;
    assert.equal((await given({ query: inFragment, variables })).zones[0].groups[0].count, expected());
    const { errors } = await send({ query: `{ viewer { ${FIRST} } }`, variables: { ...variables, limit: "many" } });
    assert.match(errors?.[0]?.message ?? "none", /\$limit.*many/);
    const missing = await send({ query: `query ($zoneTag: string!) { viewer { ${FIRST} } }`, variables: {} });
    assert.match(missing.errors?.[0]?.message ?? "none", /\$zoneTag/);
  });

  test("directives, several operations, fragments and aliases work", async () => {
    const query = `query One($zoneTag: string, $by: Boolean!) { viewer { zones(filter: { zoneTag: $zoneTag }) { g: httpRequestsAdaptiveGroups(limit: 100) { count ...By @include(if: $by) dimensions @skip(if: true) { clientRequestPath } } } } }
      query Two($zoneTag: string) { viewer { zones(filter: { zoneTag: $zoneTag }) { zoneTag } } }
      fragment By on HttpRequestsAdaptiveGroup { dimensions { status: edgeResponseStatus } }`;
    const variables = { zoneTag: zones[0], by: false };
    const whole = await given({ query, variables, operationName: "One" });
    assert.deepEqual(whole.zones[0].g, [{ count: requests.filter((row) => row.zone_id === zones[0]).length }]);
    const byStatus = await given({ query, variables: { ...variables, by: true }, operationName: "One" });
    assert.deepEqual(byStatus.zones[0].g.map(({ dimensions }: any) => dimensions.status).toSorted(), [200, 404]);
    assert.deepEqual((await given({ query, variables, operationName: "Two" })).zones, [{ zoneTag: zones[0] }]);
    assert.match((await send({ query, variables })).errors?.[0]?.message ?? "none", /operation name/);
    assert.match((await send({ query, variables, operationName: "Three" })).errors?.[0]?.message ?? "none", /Three/);
  });

  test("totals by any time unit, with AND, and ordered by their sums", async () => {
    const all = requests.filter((row) => row.zone_id === zones[1]);
    const byHour = Map.groupBy(all, (row) => iso(Math.floor(row.at_ms / HOUR_MS) * HOUR_MS).replace(".000", ""));
    const node = async (selection: string): Promise<any[]> =>
      (await given({ query: `{ viewer { zones(filter: { zoneTag: "${zones[1]}" }) { g: ${selection} } } }` })).zones[0].g;
    const hours = await node(
      "httpRequests1mGroups(limit: 10, orderBy: [sum_bytes_DESC]) { dimensions { datetimeHour } sum { bytes requests } }",
    );
    assert.deepEqual(
      hours,
      [...byHour]
        .map(([datetimeHour, rows]) => ({
          dimensions: { datetimeHour },
          sum: { bytes: total(rows.map((row) => row.bytes_out)), requests: rows.length },
        }))
        .toSorted((a, b) => b.sum.bytes - a.sum.bytes),
    );
    const [from, to] = [START_MS, START_MS + HOUR_MS].map(iso);
    const inAnd = await node(
      `httpRequests1hGroups(limit: 10, filter: { AND: [{ datetime_geq: "${from}" }, { datetime_lt: "${to}" }] }) { sum { requests } }`,
    );
    assert.deepEqual(inAnd, [{ sum: { requests: all.filter((row) => row.at_ms < START_MS + HOUR_MS).length } }]);
    const elsewhere = iso(START_MS + 2 * HOUR_MS).replace(".000Z", "+02:00");
    assert.deepEqual(await node(`httpRequests1hGroups(limit: 10, filter: { datetime: "${elsewhere}" }) { sum { requests } }`), inAnd);
    assert.deepEqual(
      await node(
        'httpRequests1dGroups(limit: 10, filter: { date: "2001-01-01" }, orderBy: [date_ASC]) { dimensions { date } sum { requests } }',
      ),
      [],
    );
  });

  test("costs of gateways, with and without cached requests", async () => {
    const rows = Array.from({ length: 24 }, (_, n) =>
      testGatewayRow({
        ...{ id: `01HF00000000000000000000${n + 10}`, account_id: server.account_id, gateway_id: n % 4 === 0 ? "b" : "a" },
        ...{ at_ms: START_MS + n * 900_000, model: n % 2 === 0 ? "m" : "n", cached: n % 3 === 0, success: n % 5 !== 0 },
        ...{ tokens_in: n, tokens_out: n % 6 === 0 ? null : 2, cost: n / 8, metadata: JSON.stringify({ team: n % 3 }) },
      }),
    );
    const database = openEventDatabase(server.eventsPath);
    database.insert([packed("gateway_logs", rows)]);
    database.close();
    const query = `{ viewer { scope: accounts(filter: { accountTag: $accountTag }) { g: aiGatewayRequestsAdaptiveGroups(limit: $limit, orderBy: [model_ASC],
      filter: { gateway: $gateway, datetimeHour_geq: $start, datetimeHour_leq: $end, metadataRaw_like: "%team%" }) {
        count dimensions { model __typename } __typename
        sum { cost cachedRequests erroredRequests uncachedTokensIn uncachedTokensOut cachedTokensIn cachedTokensOut totalTokens }
      } } } }`;
    const variables = { accountTag: server.account_id, gateway: "a", start: iso(START_MS), end: iso(START_MS + 3 * HOUR_MS), limit: 10 };
    const { scope } = await given({ query, variables, operationName: null as unknown as string });
    const inTime = rows.filter((row) => row.gateway_id === "a" && row.at_ms < START_MS + 4 * HOUR_MS);
    const tokens = (all: typeof rows, of: "tokens_in" | "tokens_out", cached?: boolean): number =>
      total(all.filter((row) => cached === undefined || row.cached === cached).map((row) => row[of] ?? 0));
    assert.deepEqual(
      scope[0].g.map(({ count, dimensions, sum }: any) => ({ count, model: dimensions.model, ...sum })),
      ["m", "n"].flatMap((model) => {
        const all = inTime.filter((row) => row.model === model);
        if (all.length === 0) return [];
        return [
          {
            count: all.length,
            model,
            cost: total(all.map((row) => row.cost ?? 0)),
            cachedRequests: all.filter((row) => row.cached).length,
            erroredRequests: all.filter((row) => !row.success).length,
            uncachedTokensIn: tokens(all, "tokens_in", false),
            uncachedTokensOut: tokens(all, "tokens_out", false),
            cachedTokensIn: tokens(all, "tokens_in", true),
            cachedTokensOut: tokens(all, "tokens_out", true),
            totalTokens: tokens(all, "tokens_in") + tokens(all, "tokens_out"),
          },
        ];
      }),
    );
    assert.equal(scope[0].g.length, 2);
  });

  test("the introspected schema builds a client", async () => {
    for (const options of [{}, { descriptions: false, specifiedByUrl: true, inputValueDeprecation: true, oneOf: true }]) {
      const { data, errors } = await send({ query: getIntrospectionQuery(options), operationName: "IntrospectionQuery" });
      assert.equal(errors, null);
      assert.deepEqual(validateSchema(buildClientSchema(data as IntrospectionQuery)), []);
    }
  });

  test("the cost of a document is bounded by its length", async () => {
    const spread = (n: number): string =>
      `fragment F${n} on HttpRequestsAdaptiveGroup { ...F${n + 1} a: ...on HttpRequestsAdaptiveGroup { ...F${n + 1} } }`.replace("a: ", "");
    const chain = Array.from({ length: 60 }, (_, n) => spread(n)).join(" ");
    const bomb = `{ viewer { zones(filter: { zoneTag: "${zones[0]}" }) { g: httpRequestsAdaptiveGroups(limit: 1) { ...F0 } } } } ${chain} fragment F60 on HttpRequestsAdaptiveGroup { count }`;
    assert.equal((await given({ query: bomb })).zones[0].g[0].count, requests.filter((row) => row.zone_id === zones[0]).length);
    const refused = async (query: string): Promise<string> => (await send({ query })).errors?.[0]?.message ?? "none";
    assert.match(
      await refused("{ viewer { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { ...A }"),
      /Cannot spread fragment/,
    );
    assert.match(await refused(`{ ${"a ".repeat(5000)} }`), /tokens/i);
    assert.match(await refused(`{ viewer { zones(filter: ${"{ a: ".repeat(900)}1${" }".repeat(900)}) { zoneTag } } }`), /./);
    const lists = Array.from({ length: 2 }, (_, n) => `clientIP${["_in", "_notin"][n]}: $ips`).join(", ");
    const { errors } = await send({
      query: `{ viewer { zones(filter: { zoneTag: "${zones[0]}" }) { httpRequestsAdaptiveGroups(limit: 1, filter: { ${lists} }) { count } } } }`,
      variables: { ips: Array.from({ length: 501 }, (_, n) => `192.0.2.${n}`) },
    });
    assert.match(errors?.[0]?.message ?? "none", /1000 values/);
    const patterns = (count: number, pattern: string): string => {
      const all = Array.from({ length: count }, () => `{ userAgent_like: "${pattern}" }`).join(" ");
      return `{ viewer { zones(filter: { zoneTag: "${zones[0]}" }) { httpRequestsAdaptiveGroups(limit: 1, filter: { OR: [${all}] }) { count } } } }`;
    };
    assert.equal((await send({ query: patterns(32, "%a%b%c%") })).errors ?? null, null);
    assert.match(await refused(patterns(33, "%a%b%c%")), /32 conditions/);
    assert.match(await refused(patterns(32, "%a".repeat(200))), /10000 characters/);
  });

  test("an error names its path and time next to null data", async () => {
    const { data, errors } = await send({
      query: `{ viewer { zones(filter: { zoneTag: "${zones[0]}" }) { httpRequestsAdaptive(limit: 0) { clientIP } } } }`,
    });
    assert.equal(data, null);
    const [error] = errors ?? [];
    assert.deepEqual(error?.path, ["viewer", "zones", 0, "httpRequestsAdaptive"]);
    assert.equal(error?.extensions["code"], "invalid_input");
    assert.ok(Date.parse(String(error?.extensions["timestamp"])) > 0);
  });

  // The last, since it deletes the rows of all others.
  test("whole hours give the same totals after retention has deleted their rows", async () => {
    const whole = `filter: { datetime_geq: "${iso(START_MS)}", datetime_lt: "${iso(START_MS + 2 * HOUR_MS)}" }`;
    const query = `{ viewer { zones(filter: { zoneTag: "${zones[2]}" }) {
      hours: httpRequests1hGroups(limit: 10, ${whole}) { dimensions { datetime } sum { requests bytes cachedRequests threats countryMap { clientCountryName requests threats } } }
      groups: httpRequestsAdaptiveGroups(limit: 100, ${whole}, orderBy: [datetimeHour_ASC, cacheStatus_DESC, edgeResponseStatus_ASC]) {
        count sum { edgeResponseBytes } avg { edgeResponseBytes } dimensions { datetimeHour cacheStatus edgeResponseStatus requestSource }
      }
      events: firewallEventsAdaptiveGroups(limit: 100, ${whole}, orderBy: [action_ASC, datetimeMinute_ASC]) { count dimensions { action datetimeMinute } }
      rows: httpRequestsAdaptive(limit: 1, ${whole}) { rayName }
    } } }`;
    const [before] = (await given({ query })).zones;
    assert.equal(before.rows.length, 1);
    assert.ok(before.hours.length === 2 && before.groups.length > 4 && before.events.length > 1);
    const database = openEventDatabase(server.eventsPath);
    while (database.deleteBefore(START_MS + 10 * HOUR_MS, 5000) > 0);
    database.close();
    const [after] = (await given({ query })).zones;
    assert.deepEqual(after, { ...before, rows: [] });
  });
});
