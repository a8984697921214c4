import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openEventDatabase } from "#events/database/database.ts";
import type { EventMatch, RequestRow, SecurityEventRow } from "#events/rows/rows.ts";
import { packed, testGatewayRow, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

const HOUR_MS = 3_600_000;
const START_MS = 490_008 * HOUR_MS;
const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Queries in the forms of dashboards, of whole accounts and of one zone. */
describe("GraphQL analytics with the queries of dashboards", () => {
  let server: ApiServer;
  const zones: string[] = [];
  const requests: RequestRow[] = [];
  const events: SecurityEventRow[] = [];
  before(async () => {
    server = await startApi();
    for (let n = 0; n < 3; n++) {
      const { body } = await ask(server, "POST", "/zones", { body: { name: `d${n}.example`, account: { id: server.account_id } } });
      zones.push(body.result.id);
    }
    for (let n = 0; n < 300; n++) {
      const site = { account_id: server.account_id, zone_id: zones[n % 3]!, at_ms: START_MS + n * 877_000 };
      const seen = { ...site, bytes_out: n * 3, status: [200, 404, 200, 503, 301][n % 5]!, country: ["PT", "NZ"][n % 2]! };
      const tls = n % 4 === 0 ? { scheme: "http" as const, tls_version: "" } : { scheme: "https" as const, tls_version: "TLSv1.3" };
      requests.push(
        testRequestRow({ ...seen, ...tls, cache_status: ["HIT", "MISS", ""][n % 3]!, http_version: ["HTTP/1.1", "HTTP/2"][n % 2]! }),
      );
    }
    for (let n = 0; n < 40; n++) {
      const ray_id = `00000000000000${String((n * 7) % 40).padStart(2, "0")}`;
      // Several in one second.
      const at_ms = START_MS + Math.floor(n / 4) * 60_000 + (n % 4);
      events.push(
        testSecurityRow({
          account_id: server.account_id,
          zone_id: zones[0]!,
          at_ms,
          ray_id,
          action: ["block", "log", "challenge"][n % 3]!,
        }),
      );
    }
    const database = openEventDatabase(server.eventsPath);
    database.insert([packed("requests", requests), packed("security_events", events)]);
    database.close();
  });
  after(() => server.close());

  interface Answer {
    readonly data: any;
    readonly errors: readonly { message: string; path: unknown; extensions: Record<string, unknown> }[] | null;
  }
  const send = async (body: object, token?: string): Promise<Answer> => {
    const { status, body: answer, text } = await ask(server, "POST", "/graphql", { body, ...(token === undefined ? {} : { token }) });
    assert.equal(status, 200, text);
    return answer as Answer;
  };
  const viewer = async (query: string, variables: object = {}): Promise<any> => {
    const { data, errors } = await send({ query, variables });
    assert.equal(errors, null, JSON.stringify(errors));
    return data.viewer;
  };
  const bytes = (rows: readonly RequestRow[]): number => rows.reduce((sum, row) => sum + row.bytes_out, 0);
  const dayOf = (row: RequestRow): string => iso(row.at_ms).slice(0, 10);

  test("sensitive values with their first and last event", async () => {
    const [card, key] = ["a".repeat(32), "b".repeat(32)];
    const match = (value_hash: string, rule_id: string): EventMatch => ({
      ...{ rule_id, detector: "fin.card_visa", offset: 0, count: 1, confidence: "high", value_hash, json_path: "$.pan" },
    });
    const [, , zone] = zones;
    const site = { account_id: server.account_id, zone_id: zone! };
    const rows = [
      testSecurityRow({ ...site, id: "v1", at_ms: START_MS + 1_000, path: "/a", matches: [match(card, "r1")] }),
      testSecurityRow({ ...site, id: "v2", at_ms: START_MS + 5_000, path: "/b", matches: [match(card, "r2"), match(key, "r2")] }),
    ];
    const database = openEventDatabase(server.eventsPath);
    database.insert([packed("security_events", rows)]);
    database.close();
    const node = (args: string): string =>
      `{ viewer { zones(filter: { zoneTag: "${zone}" }) { sensitiveDataValues(${args}) { count firstSeen lastSeen ruleIds detectors isComplete dimensions { valueHash confidence clientRequestPath jsonPath } } } } }`;
    const values = async (args: string): Promise<any[]> => {
      const { data, errors } = await send({ query: node(args) });
      assert.equal(errors, null);
      return data.viewer.zones[0].sensitiveDataValues;
    };
    const since = `datetime_geq: "${iso(START_MS)}"`;
    const [first, ...others] = await values(`limit: 10, filter: { ${since} }, orderBy: [count_DESC]`);
    assert.deepEqual(first, {
      ...{ count: 2, firstSeen: iso(START_MS + 1_000), lastSeen: iso(START_MS + 5_000), ruleIds: ["r1", "r2"] },
      ...{ detectors: ["fin.card_visa"], isComplete: true },
      dimensions: { valueHash: card, confidence: "high", clientRequestPath: "/b", jsonPath: "$.pan" },
    });
    assert.deepEqual(
      others.map(({ count, dimensions }) => [count, dimensions.valueHash]),
      [[1, key]],
    );
    assert.deepEqual(
      (await values(`limit: 10, filter: { ${since}, clientRequestPath: "/b", valueHash: "${card}" }`)).map(({ count }) => count),
      [1],
    );
    assert.equal((await values(`limit: 1, filter: { ${since} }, orderBy: [firstSeen_ASC]`))[0].dimensions.valueHash, card);
  });

  test("an account overview, with filters from several variables", async () => {
    const [from, to] = [START_MS + 10 * HOUR_MS, START_MS + 40 * HOUR_MS];
    const query = `query Glance { viewer { accounts(filter: { accountTag: $account }) {
      days: httpRequestsOverviewAdaptiveGroups(filter: $time, limit: 2000) {
        sum { requests bytes pageViews cachedRequests cachedBytes visits } dimensions { day: date }
      }
      encrypted: httpRequestsOverviewAdaptiveGroups(filter: { AND: [$encrypted, $time] }, limit: 2000) { sum { requests bytes } dimensions { day: date } }
      missing: httpRequestsOverviewAdaptiveGroups(filter: { AND: [$clientError, $time] }, limit: 1) { sum { requests } }
      before: httpRequestsOverviewAdaptiveGroups(filter: $past, limit: 1) { sum { requests bytes } ratio { cachedRequests status4xx } }
      protocols: httpRequestsOverviewAdaptiveGroups(filter: $time, limit: 5, orderBy: [sum_requests_DESC, clientRequestHTTPProtocol_ASC]) {
        sum { requests } dimensions { metric: clientRequestHTTPProtocol }
      }
      all: httpRequestsOverviewAdaptiveGroups(filter: $time, limit: 1) {
        count sum { requests } avg { sampleInterval } ratio { cachedRequests cachedBytes encryptedRequests encryptedBytes status4xx status5xx }
      }
      countries: httpRequestsOverviewAdaptiveGroups(filter: $time, limit: 5000, orderBy: [clientCountryName_ASC, datetimeHour_DESC]) {
        sum { requests bytes } dimensions { clientCountryName ts: datetimeHour }
      }
    } } }`;
    const found = (
      await viewer(query, {
        account: server.account_id,
        time: { datetime_geq: iso(from), datetime_lt: iso(to) },
        past: { datetime_geq: iso(0), datetime_lt: iso(START_MS) },
        encrypted: { clientSSLProtocol_neq: "none" },
        clientError: { edgeResponseStatus_geq: 400, edgeResponseStatus_leq: 499 },
      })
    ).accounts[0];
    const rows = requests.filter((row) => row.at_ms >= from && row.at_ms < to);
    const cached = (of: readonly RequestRow[]) => of.filter((row) => row.cache_status === "HIT");
    const secure = (of: readonly RequestRow[]) => of.filter((row) => row.tls_version !== "");
    const days = [...Map.groupBy(rows, dayOf)];
    assert.deepEqual(
      found.days,
      days.map(([day, of]) => ({
        sum: {
          requests: of.length,
          bytes: bytes(of),
          pageViews: of.filter((row) => row.status === 200).length,
          cachedRequests: cached(of).length,
          cachedBytes: bytes(cached(of)),
          visits: null,
        },
        dimensions: { day },
      })),
    );
    assert.deepEqual(
      found.encrypted,
      days.map(([day, of]) => ({ sum: { requests: secure(of).length, bytes: bytes(secure(of)) }, dimensions: { day } })),
    );
    assert.deepEqual(found.missing, [{ sum: { requests: rows.filter((row) => row.status === 404).length } }]);
    assert.deepEqual(found.before, [], "of no requests there is no share");
    assert.deepEqual(
      found.protocols,
      [...Map.groupBy(rows, (row) => row.http_version)]
        .map(([metric, of]) => ({ sum: { requests: of.length }, dimensions: { metric } }))
        .toSorted((a, b) => b.sum.requests - a.sum.requests || (a.dimensions.metric! < b.dimensions.metric! ? -1 : 1)),
    );
    const share = (of: readonly RequestRow[]): number => of.length / rows.length;
    assert.deepEqual(found.all, [
      {
        count: rows.length,
        sum: { requests: rows.length },
        avg: { sampleInterval: 1 },
        ratio: {
          cachedRequests: share(cached(rows)),
          cachedBytes: bytes(cached(rows)) / bytes(rows),
          encryptedRequests: share(secure(rows)),
          encryptedBytes: bytes(secure(rows)) / bytes(rows),
          status4xx: share(rows.filter((row) => row.status === 404)),
          status5xx: share(rows.filter((row) => row.status === 503)),
        },
      },
    ]);
    const key = (row: RequestRow): string => `${row.country} ${iso(Math.floor(row.at_ms / HOUR_MS) * HOUR_MS)}`;
    assert.deepEqual(
      found.countries.map(({ sum, dimensions }: any) => [`${dimensions.clientCountryName} ${dimensions.ts}`, sum.requests, sum.bytes]),
      [...Map.groupBy(rows, key)]
        .map(([name, of]) => [name, of.length, bytes(of)] as const)
        .toSorted(([a], [b]) => (a.slice(0, 2) === b.slice(0, 2) ? (a < b ? 1 : -1) : a < b ? -1 : 1)),
    );
  });

  test("the activity log of a zone, newest first, and by ray within a second", async () => {
    const query = `query Activity($zone: string, $filter: FirewallEventsAdaptiveGroupsFilter_InputObject, $limit: int64!) {
      viewer { zones(filter: { zoneTag: $zone }) {
        total: firewallEventsAdaptiveByTimeGroups(limit: 1, filter: $filter) { count avg { sampleInterval } }
        byMinute: firewallEventsAdaptiveByTimeGroups(limit: 100, filter: $filter, orderBy: [datetimeMinute_ASC]) { count dimensions { datetimeMinute } }
        activity: firewallEventsAdaptive(filter: $filter, limit: $limit, orderBy: [datetime_DESC, rayName_DESC, matchIndex_ASC]) {
          action clientASNDescription clientAsn clientCountryName clientIP clientRequestHTTPHost clientRequestHTTPMethodName
          clientRequestHTTPProtocol clientRequestPath clientRequestQuery datetime rayName ruleId rulesetId source userAgent kind
          matchIndex metadata { key value } sampleInterval
        }
      } } }`;
    const filter = {
      OR: [{ action: "block" }, { action: "challenge" }],
      datetime_geq: iso(START_MS),
      datetime_leq: iso(START_MS + HOUR_MS),
    };
    const [found] = (await viewer(query, { zone: zones[0], filter, limit: 100 })).zones;
    const stopped = events.filter(({ action }) => action !== "log");
    assert.deepEqual(found.total, [{ count: stopped.length, avg: { sampleInterval: 1 } }]);
    assert.deepEqual(
      found.byMinute.map(({ count, dimensions }: any) => [dimensions.datetimeMinute, count]),
      [...Map.groupBy(stopped, (row) => iso(Math.floor(row.at_ms / 60_000) * 60_000))].map(([minute, of]) => [minute, of.length]),
    );
    const second = (row: SecurityEventRow): number => Math.floor(row.at_ms / 1000);
    assert.deepEqual(
      found.activity.map(({ datetime, rayName }: any) => [datetime, rayName]),
      stopped
        .toSorted((a, b) => second(b) - second(a) || (a.ray_id < b.ray_id ? 1 : -1))
        .map((row) => [iso(second(row) * 1000), row.ray_id]),
    );
    const [first] = found.activity;
    assert.deepEqual([first.kind, first.clientRequestHTTPProtocol, first.matchIndex, first.metadata], ["firewall", null, null, null]);
    const { errors } = await send({
      query: `{ viewer { zones(filter: { zoneTag: "${zones[0]}" }) { firewallEventsAdaptive(limit: 1, orderBy: [rayName_ASC]) { rayName } } } }`,
    });
    assert.match(errors?.[0]?.message ?? "none", /must start with a time/);
  });

  test("fields that are not measured are null in rows, groups and orders", async () => {
    const query = `query ($zone: string, $filter: FirewallEventsAdaptiveFilter_InputObject) { viewer { zones(filter: { zoneTag: $zone }) {
      events: firewallEventsAdaptive(filter: $filter, limit: 1, orderBy: [datetime_DESC]) {
        action botScore botScoreSrcName clientIPClass clientRefererHost clientRefererPath clientRefererQuery clientRefererScheme
        clientRequestHTTPProtocol description httpApplicationVersion ja3Hash ja4 kind originatorRayName ref ruleId rulesetId
        verifiedBotCategory wafAttackScore wafAttackScoreClass wafMlAttackScore wafMlSqliAttackScore wafMlXssAttackScore
        wafRceAttackScore wafSqliAttackScore wafXssAttackScore
      }
      devices: httpRequestsAdaptiveGroups(limit: 9, orderBy: [sum_visits_DESC]) {
        count sum { visits edgeTimeToFirstByteMs originResponseDurationMs edgeDnsResponseTimeMs }
        dimensions {
          clientDeviceType clientRefererHost userAgentBrowser userAgentOS securityAction securitySource upperTierColoName originIP originASN
          originASNDescription edgeDnsResponseTimeMs edgeTimeToFirstByteMs originResponseDurationMs zoneVersion httpApplicationVersion
        }
      }
      browsers: httpRequestsOverviewAdaptiveGroups(limit: 9, orderBy: [userAgentBrowser_ASC]) {
        count avg { originResponseDurationMs } dimensions { userAgentBrowser zoneVersion httpApplicationVersion }
      }
      countries: httpRequestsAdaptiveGroups(limit: 9, orderBy: [sum_visits_DESC]) { count dimensions { edgeResponseStatus } }
      overview: httpRequestsOverviewAdaptiveGroups(limit: 9, orderBy: [sum_visits_ASC]) { count dimensions { edgeResponseStatus } }
      dns: dnsAnalyticsAdaptiveGroups(limit: 9, orderBy: [avg_processingTimeUs_DESC]) {
        count avg { processingTimeUs } quantiles { processingTimeUsP50 processingTimeUsP95 } dimensions { queryName }
      }
    } } }`;
    const [found] = (await viewer(query, { zone: zones[0] })).zones;
    const { action, clientIPClass, description, kind, ruleId, rulesetId, ...others } = found.events[0];
    const last = events.at(-1);
    assert.deepEqual([action, ruleId, rulesetId, description], [last?.action, last?.rule_id, last?.ruleset_id, ""]);
    assert.deepEqual([clientIPClass, kind], ["noRecord", "firewall"]);
    assert.deepEqual(new Set(Object.values(others)), new Set([null]));
    const own = requests.filter((row) => row.zone_id === zones[0]);
    assert.equal(found.devices[0].count, own.length);
    assert.deepEqual(new Set([...Object.values(found.devices[0].sum), ...Object.values(found.devices[0].dimensions)]), new Set([null]));
    assert.deepEqual(found.browsers, [
      {
        count: own.length,
        avg: { originResponseDurationMs: null },
        dimensions: { userAgentBrowser: null, zoneVersion: null, httpApplicationVersion: null },
      },
    ]);
    const counts = [...Map.groupBy(own, (row) => row.status).values()].map((of) => of.length).toSorted((a, b) => b - a);
    assert.deepEqual(
      found.countries.map(({ count }: any) => count),
      counts,
      "the largest first",
    );
    assert.deepEqual(
      found.overview.map(({ count }: any) => count),
      counts.toReversed(),
    );
    assert.deepEqual(found.dns, []);
  });

  test("totals for lists of dates, half hours and days", async () => {
    const node = async (selection: string): Promise<any[]> =>
      (await viewer(`{ viewer { accounts(filter: { accountTag: "${server.account_id}" }) { g: ${selection} } } }`)).accounts[0].g;
    const all = [...Map.groupBy(requests, dayOf)].map(([date, rows]) => ({ date, requests: rows.length }));
    const wanted = [all[0]!.date, all[2]!.date];
    for (const filter of [
      `date_in: ["${wanted.join('", "')}"]`,
      `datetime_in: ["${wanted.join('T00:00:00Z", "')}T00:00:00Z"]`,
      `OR: [{ date: "${wanted[0]}" }, { datetime: "${wanted[1]}T02:00:00+02:00" }]`,
      `date_notin: ["${all
        .filter(({ date }) => !wanted.includes(date))
        .map(({ date }) => date)
        .join('", "')}"]`,
    ]) {
      const found = await node(
        `httpRequests1dGroups(limit: 10, filter: { ${filter} }, orderBy: [date_ASC]) { dimensions { date datetimeDay } sum { requests } }`,
      );
      assert.deepEqual(
        found.map(({ dimensions: { date, datetimeDay }, sum }) => ({ date, datetimeDay, requests: sum.requests })),
        all.filter(({ date }) => wanted.includes(date)).map((day) => ({ ...day, datetimeDay: `${day.date}T00:00:00Z` })),
        filter,
      );
    }
    const halves = await node(
      "httpRequests1mGroups(limit: 10000, orderBy: [uniq_uniques_DESC, datetimeHalfOfHour_ASC]) { dimensions { datetimeHalfOfHour } sum { requests } }",
    );
    assert.deepEqual(
      halves.map(({ dimensions, sum }) => [dimensions.datetimeHalfOfHour, sum.requests]),
      [...Map.groupBy(requests, (row) => iso(Math.floor(row.at_ms / 1_800_000) * 1_800_000))].map(([time, rows]) => [time, rows.length]),
    );
    const { errors } = await send({
      query: `{ viewer { zones(filter: { zoneTag: "${zones[0]}" }) { httpRequests1mGroups(limit: 9, orderBy: [date_ASC]) { dimensions { datetimeHour } } } } }`,
    });
    assert.match(errors?.[0]?.message ?? "none", /orderBy date requires the dimension date/);
  });

  test("requests of gateways by names and values of their metadata", async () => {
    const metadata: readonly Readonly<Record<string, string | number | boolean>>[] = [
      { team: "blue" },
      { user: "team", n: 7 },
      { a: 'x","team":"blue', paid: true },
      { 'q"team': "green", team: 'b"lue' },
      { n: 77, t: "7" },
    ];
    const rows = [...metadata.map((each) => JSON.stringify(each)), ""].map((text, n) =>
      testGatewayRow({ id: `01HG${n}`, account_id: server.account_id, at_ms: START_MS + n, metadata: text, success: n % 2 === 0 }),
    );
    const database = openEventDatabase(server.eventsPath);
    database.insert([packed("gateway_logs", rows)]);
    database.close();
    const count = async (filter: string): Promise<number> => {
      const query = `{ viewer { accounts(filter: { accountTag: $account }) { g: aiGatewayRequestsAdaptiveGroups(limit: 1, filter: { ${filter} }) { count } } } }`;
      return (await viewer(query, { account: server.account_id })).accounts[0].g[0]?.count ?? 0;
    };
    const entries = metadata.map((each) => Object.entries(each));
    for (const key of ["team", "user", "n", 'q"team', "x", "tea", '","team', ""])
      assert.equal(
        await count(`metadataKeys_has: ${JSON.stringify(key)}`),
        entries.filter((each) => each.some(([name]) => name === key)).length,
        key,
      );
    for (const value of ["blue", "team", "7", "77", "true", "false", 'b"lue', 'x","team":"blue', "green", "lue", ""])
      assert.equal(
        await count(`metadataValues_has: ${JSON.stringify(value)}`),
        entries.filter((each) => each.some(([, known]) => String(known) === value)).length,
        value,
      );
    assert.equal(await count('metadataKeys_has: "team", error: 0, rateLimited: 0'), 1);
    assert.equal(await count("error: 1"), 3);
  });

  test("a query without a filter covers everything that the token may read", async () => {
    const found = await viewer(
      "{ viewer { zones { zoneTag g: httpRequestsAdaptiveGroups(limit: 1) { count } } two: zones(limit: 2) { zoneTag } accounts { accountTag } } }",
    );
    assert.deepEqual(
      found.zones,
      zones.map((zoneTag) => ({ zoneTag, g: [{ count: requests.filter((row) => row.zone_id === zoneTag).length }] })),
    );
    assert.equal(found.two.length, 2);
    assert.deepEqual(found.accounts, [{ accountTag: server.account_id }]);
    const groups = await ask(server, "GET", "/user/tokens/permission_groups");
    const named = (name: string) => ({ id: groups.body.result.find((group: { name: string }) => group.name === name).id });
    const resources = { [`com.cloudflare.api.account.zone.${zones[1]}`]: "*" };
    // Lists have separate permissions: a token for analytics only sees no zone there.
    const all = { [`com.cloudflare.api.account.zone.*`]: "*" };
    const policies = [
      { effect: "allow", resources, permission_groups: [named("Analytics Read")] },
      { effect: "allow", resources: all, permission_groups: [named("Zone Read")] },
    ];
    for (const given of [policies, policies.slice(0, 1)]) {
      const made = await ask(server, "POST", "/user/tokens", { body: { name: "one", policies: given } });
      const { data, errors } = await send(
        { query: "{ viewer { zones { zoneTag httpRequestsAdaptive(limit: 1) { rayName } } accounts { accountTag } } }" },
        made.body.result.value,
      );
      assert.equal(errors, null);
      assert.deepEqual(
        data.viewer.zones.map(({ zoneTag }: any) => zoneTag),
        [zones[1]],
      );
      assert.deepEqual(data.viewer.accounts, []);
    }
  });

  test("settings of a node show its fields and limits", async () => {
    const [{ settings }] = (
      await viewer(`{ viewer { zones(filter: { zoneTag: "${zones[0]}" }) { settings {
        firewallEventsAdaptiveByTimeGroups { enabled maxPageSize maxDuration maxNumberOfFields notOlderThan availableFields }
        httpRequestsOverviewAdaptiveGroups { availableFields } httpRequests1mGroups { notOlderThan }
        firewallEventsAdaptive { notOlderThan maxDuration availableFields } } } } }`)
    ).zones;
    const {
      firewallEventsAdaptiveByTimeGroups: byTime,
      httpRequestsOverviewAdaptiveGroups: overview,
      firewallEventsAdaptive: rows,
    } = settings;
    assert.deepEqual([byTime.enabled, byTime.maxPageSize], [true, 10_000]);
    // Rows, counts by the minute and counts by the hour are kept for different times.
    const days = [rows, settings.httpRequests1mGroups, byTime].map(({ notOlderThan }) => notOlderThan / 86_400);
    assert.deepEqual([...days, rows.maxDuration / 86_400], [30, 14, 400, 30]);
    assert.ok(["count", "datetimeMinute", "avg_sampleInterval"].every((name) => byTime.availableFields.includes(name)));
    assert.ok(["sum_requests", "ratio_status4xx", "date"].every((name) => overview.availableFields.includes(name)));
    assert.ok(["rayName", "clientIPClass"].every((name) => rows.availableFields.includes(name)));
    assert.ok(!["matchIndex", "metadata", "botScore"].some((name) => rows.availableFields.includes(name)), "what is always null");
    assert.ok(!overview.availableFields.includes("sum_visits"));
  });

  test("a query in the URL", async () => {
    const query =
      "query One($zone: String!) { viewer { zones(filter: { zoneTag: $zone }) { httpRequestsAdaptiveGroups(limit: 1) { count } } } }";
    const get = async (parameters: Record<string, string>) => ask(server, "GET", `/graphql?${new URLSearchParams(parameters)}`);
    const { status, body } = await get({ query, variables: JSON.stringify({ zone: zones[2] }), operationName: "One" });
    assert.equal(status, 200);
    assert.deepEqual(body.data.viewer.zones, [{ httpRequestsAdaptiveGroups: [{ count: 100 }] }]);
    for (const variables of ["{", "[]", "1"]) {
      const refused = await get({ query, variables });
      assert.equal(refused.status, 400);
      assert.match(refused.text, /JSON object/);
    }
    assert.equal((await get({})).status, 400);
  });

  test("an error names the unknown name", async () => {
    const within = (inner: string): string => `{ viewer { zones(filter: { zoneTag: "${zones[0]}" }) { ${inner} } } }`;
    const refused: Readonly<Record<string, RegExp>> = {
      "workersInvocationsAdaptive(limit: 1) { sum { requests } }": /workersInvocationsAdaptive/,
      "httpRequests1mByColoGroups(limit: 1) { sum { requests } }": /httpRequests1mByColoGroups/,
      "httpRequestsAdaptiveGroups(limit: 1) { dimensions { clientMood } }": /clientMood/,
      "httpRequestsAdaptiveGroups(limit: 1, filter: { botScore_lt: 30 }) { count }": /botScore_lt/,
      "firewallEventsAdaptive(limit: 1, filter: { matchIndex: 0 }) { rayName }": /matchIndex/,
      "httpRequestsAdaptiveGroups(limit: 1, orderBy: [clientMood_ASC]) { count }": /clientMood_ASC/,
      'httpRequests1dGroups(limit: 1, filter: { clientCountryName: "PT" }) { sum { requests } }': /clientCountryName/,
      "firewallEventsAdaptiveGroups(limit: 1) { dimensions { metadata { key } } }": /metadata/,
    };
    for (const [inner, message] of Object.entries(refused)) {
      const { data, errors } = await send({ query: within(inner) });
      assert.equal(data, null, inner);
      assert.match(errors?.[0]?.message ?? "none", message, inner);
      assert.equal(errors?.[0]?.extensions["code"], "invalid_input");
    }
    assert.match((await send({ query: "mutation { anything }" })).errors?.[0]?.message ?? "none", /mutation/i);
    assert.match((await send({ query: "subscription { anything }" })).errors?.[0]?.message ?? "none", /subscription/i);
    const batch = await ask(server, "POST", "/graphql", { body: [{ query: "{ viewer { zones { zoneTag } } }" }] });
    assert.equal(batch.status, 400, "one request asks one thing");
    assert.equal(batch.body.success, false);
  });
});
