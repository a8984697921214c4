import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { text } from "node:stream/consumers";
import { openEventQueries } from "#events/read/queries.ts";
import type { DnsQueryRow, EventTable, EventTables, GatewayLogRow, RequestRow, SecurityEventRow } from "#events/rows/rows.ts";
import { apiCaller, type ApiCall, succeed } from "../support/api.ts";
import { readUntil } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
const cut = (ms: number, intervalMs: number): string => iso(Math.floor(ms / intervalMs) * intervalMs);
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Each visit, and the rows that it makes. */
const VISITS: readonly Visit[] = [
  { path: "/", agent: "Mozilla/5.0 Firefox/140.0" },
  { path: "/", agent: "Mozilla/5.0 Firefox/140.0" },
  { path: "/kept", agent: "curl/8.5" },
  { path: "/kept", agent: "curl/8.5" },
  { path: "/kept", agent: "curl/8.5" },
  { path: "/missing", agent: "scanner/1", logs: 1 },
  { path: "/admin", agent: "curl/8.5", blocks: 1 },
  { path: "/admin", agent: "scanner/1", logs: 1, blocks: 1 },
  { path: "/picture", agent: "Mozilla/5.0 Firefox/140.0" },
];

interface Visit {
  readonly path: string;
  readonly agent: string;
  readonly logs?: number;
  readonly blocks?: number;
}

/** Real visits, questions and calls of models, asked about in the forms of exporters, and held against the rows that lie in the file. */
describe("queries of exporters to a server with traffic", () => {
  let selvedge: Selvedge;
  let call: ApiCall;
  let origin: Server;
  let provider: Server;
  let account = "";
  const zones: string[] = [];
  const rows = {
    requests: [] as readonly RequestRow[],
    security_events: [] as readonly SecurityEventRow[],
    dns_queries: [] as readonly DnsQueryRow[],
    gateway_logs: [] as readonly GatewayLogRow[],
  };
  // The hour begins before the traffic, and the last minute ends behind it.
  const startMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
  let endMs = 0;

  before(async () => {
    origin = await listening((req, res) => {
      const types: Readonly<Record<string, string>> = { "/picture": "image/png" };
      res.writeHead(req.url === "/missing" ? 404 : 200, {
        "content-type": types[req.url ?? ""] ?? "text/html; charset=utf-8",
        ...(req.url === "/kept" ? { "cache-control": "public, max-age=600" } : {}),
      });
      res.end(`<p>${req.url}</p>`.repeat(20));
    });
    provider = await listening((req, res) => {
      req.resume().on("end", () => {
        res.writeHead(req.url?.includes("fail") ? 500 : 200, { "content-type": "application/json" });
        res.end(JSON.stringify({ id: "1", choices: [], usage: { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 } }));
      });
    });
    const address = `http://127.0.0.1:${portOf(provider)}/v1`;
    selvedge = await startSelvedge({ args: ["--provider", `openai=${address}`, "--provider", `groq=${address}`] });
    call = apiCaller(selvedge.ready);
    account = selvedge.ready.account_id;
    for (const name of ["first.test", "second.test"]) zones.push(await makeZone(name));
    await visitAll("first.test", VISITS);
    await visitAll("second.test", VISITS.slice(0, 3));
    await askNames();
    await callModels();
    rows.requests = await written("requests", VISITS.length + 3);
    rows.security_events = await written("security_events", total(VISITS.map(stepsOf)));
    rows.dns_queries = await written("dns_queries", 7);
    rows.gateway_logs = await written("gateway_logs", 5);
    endMs = Math.ceil(Date.now() / MINUTE_MS + 1) * MINUTE_MS;
  });
  after(async () => {
    const stopped = await selvedge?.stop();
    for (const server of [origin, provider]) server?.closeAllConnections();
    for (const server of [origin, provider]) server?.close();
    assert.equal(stopped?.code, 0);
  });

  async function makeZone(name: string): Promise<string> {
    const { id } = await succeed(call("POST", "/zones", { name, account: { id: account } }));
    await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true }));
    await succeed(call("POST", `/zones/${id}/dns_records`, { type: "TXT", name: "note", content: '"hello"', ttl: 60 }));
    const rules = (phase: string, given: readonly object[]) =>
      succeed(call("PUT", `/zones/${id}/rulesets/phases/${phase}/entrypoint`, { rules: given }));
    await rules("http_request_origin", [{ action: "route", expression: "true", action_parameters: { origin: { port: portOf(origin) } } }]);
    await rules("http_request_cache_settings", [
      { action: "set_cache_settings", expression: 'http.request.uri.path eq "/kept"', action_parameters: { cache: true } },
    ]);
    await rules("http_request_firewall_custom", [
      { action: "log", expression: 'http.user_agent contains "scanner"' },
      { action: "block", expression: 'http.request.uri.path eq "/admin"' },
    ]);
    return id;
  }

  async function visitAll(name: string, visits: readonly Visit[]): Promise<void> {
    const { hostname, port } = new URL(selvedge.ready.http);
    for (const { path, agent } of visits) {
      const req = request({ hostname, port, path, agent: false, headers: { host: `www.${name}`, "user-agent": agent } }).end();
      const [res] = (await once(req, "response")) as [IncomingMessage];
      await text(res);
    }
  }

  async function askNames(): Promise<void> {
    const resolver = new Resolver({ timeout: 20_000, tries: 1 });
    resolver.setServers([selvedge.ready.dns]);
    for (let n = 0; n < 3; n++) await resolver.resolve4("www.first.test");
    await resolver.resolveTxt("note.first.test");
    for (let n = 0; n < 2; n++) await assert.rejects(resolver.resolve4("missing.first.test"));
    await resolver.resolve4("www.second.test");
  }

  async function callModels(): Promise<void> {
    const gateway = { cache_invalidate_on_update: false, cache_ttl: 600, rate_limiting_interval: null, rate_limiting_limit: null };
    await succeed(call("POST", `/accounts/${account}/ai-gateway/gateways`, { id: "models", collect_logs: true, ...gateway }));
    const ask = async (path: string, model: string, content: string): Promise<void> => {
      const res = await fetch(`${selvedge.ready.gateway}/v1/${account}/models/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "svc-aig-metadata": '{"team":"blue"}' },
        body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
      });
      await res.arrayBuffer();
    };
    await ask("openai/chat/completions", "gpt-4o-mini", "one");
    await ask("openai/chat/completions", "gpt-4o-mini", "one");
    await ask("openai/chat/completions", "gpt-4o", "two");
    await ask("groq/chat/completions", "llama-3.1-8b-instant", "three");
    await ask("openai/fail", "gpt-4o", "four");
  }

  /** The rows themselves, as soon as all of them are there. */
  async function written<T extends EventTable>(table: T, count: number): Promise<readonly EventTables[T][]> {
    const queries = openEventQueries(join(selvedge.dataDir, "events.db"));
    try {
      const found = await readUntil(
        () => queries.list(table, { where: [], direction: "asc", limit: 1_000 }),
        (all) => all.length >= count,
      );
      assert.equal(found.length, count, table);
      return found;
    } finally {
      queries.close();
    }
  }

  async function viewer(query: string, variables: object = {}): Promise<any> {
    const res = await fetch(`${selvedge.ready.api}/graphql`, {
      method: "POST",
      headers: { authorization: `Bearer ${selvedge.ready.token}`, "content-type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await res.json()) as { data: any; errors: unknown };
    assert.equal(errors, null, JSON.stringify(errors));
    return data.viewer;
  }

  const ofZone = <T extends { readonly zone_id: string }>(of: readonly T[], zone: string): readonly T[] =>
    of.filter(({ zone_id }) => zone_id === zone);
  /** How many there are of each, by what they are told apart by. */
  const counted = <T>(of: readonly T[], ...keys: readonly ((row: T) => unknown)[]): Record<string, number> =>
    Object.fromEntries([...Map.groupBy(of, (row) => JSON.stringify(keys.map((key) => key(row))))].map(([key, all]) => [key, all.length]));
  const groups = (found: readonly any[], ...names: readonly string[]): Record<string, number> =>
    Object.fromEntries(found.map(({ count, dimensions }) => [JSON.stringify(names.map((name) => dimensions[name])), count]));

  test("a metrics exporter gets totals of zones by minute, with events and groups", async () => {
    const found = await viewer(
      `query ($zones: [String!], $from: Time!, $to: Time!, $limit: Int!) { viewer { zones(filter: { zoneTag_in: $zones }) {
        zoneTag
        httpRequests1mGroups(limit: $limit, filter: { datetime_geq: $from, datetime_lt: $to }, orderBy: [datetime_ASC]) {
          dimensions { datetime } uniq { uniques }
          sum { requests bytes cachedRequests cachedBytes encryptedRequests pageViews threats
            responseStatusMap { edgeResponseStatus requests } contentTypeMap { edgeResponseContentTypeName requests bytes }
            countryMap { clientCountryName requests bytes threats } browserMap { uaBrowserFamily pageViews }
            clientHTTPVersionMap { clientHTTPProtocol requests } threatPathingMap { threatPathingName requests } }
        }
        events: firewallEventsAdaptiveGroups(limit: $limit, filter: { datetime_geq: $from, datetime_lt: $to }) {
          count dimensions { action source ruleId clientRequestHTTPHost clientCountryName }
        }
        hosts: httpRequestsAdaptiveGroups(limit: $limit, filter: { datetime_geq: $from, datetime_lt: $to, requestSource_in: ["eyeball"] }) {
          count sum { edgeResponseBytes } dimensions { clientCountryName edgeResponseStatus cacheStatus clientSSLProtocol clientRequestHTTPHost }
        }
        uncached: httpRequestsAdaptiveGroups(limit: $limit, filter: { datetime_geq: $from, datetime_lt: $to, cacheStatus_notin: ["hit"] }) {
          count dimensions { originResponseStatus clientRequestHTTPHost }
        }
        health: healthCheckEventsAdaptiveGroups(limit: $limit, filter: { datetime_geq: $from, datetime_lt: $to }) { count dimensions { fqdn } }
      } } }`,
      { zones, from: iso(startMs), to: iso(endMs), limit: 9_999 },
    );
    for (const [n, zone] of zones.entries()) {
      const [requests, events] = [ofZone(rows.requests, zone), ofZone(rows.security_events, zone)];
      assert.equal(requests.length, n === 0 ? VISITS.length : 3);
      const { zoneTag, httpRequests1mGroups: minutes, events: stopped, hosts, uncached, health } = found.zones[n];
      assert.equal(zoneTag, zone);
      const sum = (name: string): number => total(minutes.map((minute: any) => minute.sum[name]));
      const inMap = (map: string, key: string, what: string): Record<string, number> => {
        const entries: any[] = minutes.flatMap((minute: any) => minute.sum[map]);
        return Object.fromEntries(
          [...Map.groupBy(entries, (entry) => JSON.stringify([entry[key]]))].map(([name, all]) => [
            name,
            total(all.map((one) => one[what])),
          ]),
        );
      };
      const cached = requests.filter((row) => row.cache_status === "HIT");
      const blocked = events.filter((row) => row.action === "block");
      const pages = requests.filter((row) => row.content_type === "text/html" && row.status === 200);
      assert.equal(cached.length, n === 0 ? 2 : 0);
      assert.equal(blocked.length, n === 0 ? 2 : 0);
      assert.deepEqual(["requests", "bytes", "cachedRequests", "cachedBytes", "encryptedRequests", "pageViews", "threats"].map(sum), [
        requests.length,
        bytesOf(requests),
        cached.length,
        bytesOf(cached),
        0,
        pages.length,
        blocked.length,
      ]);
      assert.deepEqual(
        minutes.map((minute: any) => [minute.dimensions.datetime, minute.sum.requests, minute.uniq.uniques]),
        [...Map.groupBy(requests, (row) => cut(row.at_ms, MINUTE_MS))].map(([at, all]) => [at, all.length, 1]),
      );
      assert.deepEqual(
        inMap("responseStatusMap", "edgeResponseStatus", "requests"),
        counted(requests, (row) => row.status),
      );
      assert.deepEqual(
        inMap("contentTypeMap", "edgeResponseContentTypeName", "requests"),
        counted(requests, (row) => row.content_type),
      );
      assert.deepEqual(
        inMap("clientHTTPVersionMap", "clientHTTPProtocol", "requests"),
        counted(requests, (row) => row.http_version),
      );
      assert.deepEqual(
        inMap("browserMap", "uaBrowserFamily", "pageViews"),
        counted(pages, (row) => (row.user_agent.startsWith("curl") ? "Curl" : "Firefox")),
      );
      assert.deepEqual(
        inMap("threatPathingMap", "threatPathingName", "requests"),
        counted(blocked, (row) => row.action),
      );
      assert.equal(total(Object.values(inMap("countryMap", "clientCountryName", "threats"))), blocked.length);
      assert.deepEqual(
        groups(stopped, "action", "source", "ruleId", "clientRequestHTTPHost"),
        counted(
          events,
          (row) => row.action,
          (row) => row.service,
          (row) => row.rule_id,
          (row) => row.host,
        ),
      );
      assert.deepEqual(
        groups(hosts, "edgeResponseStatus", "cacheStatus", "clientSSLProtocol", "clientRequestHTTPHost"),
        counted(
          requests,
          (row) => row.status,
          (row) => row.cache_status?.toLowerCase() || "none",
          () => "none",
          (row) => row.host,
        ),
      );
      assert.equal(total(hosts.map((group: any) => group.sum.edgeResponseBytes)), bytesOf(requests));
      assert.deepEqual(
        groups(uncached, "originResponseStatus", "clientRequestHTTPHost"),
        counted(
          requests.filter((row) => row.cache_status !== "HIT"),
          (row) => row.origin_status,
          (row) => row.host,
        ),
      );
      assert.deepEqual(health, []);
    }
  });

  test("charts of an account: overviews, top lists and a probe of the retention", async () => {
    const found = await viewer(
      `{ viewer { accounts(filter: { accountTag: $account }) {
        days: httpRequestsOverviewAdaptiveGroups(filter: $time, limit: 2000) { sum { requests bytes cachedRequests pageViews visits } dimensions { ts: date } }
        kinds: httpRequestsOverviewAdaptiveGroups(filter: $time, limit: 5, orderBy: [sum_requests_DESC]) { sum { requests } dimensions { metric: edgeResponseContentTypeName } }
        errors: httpRequestsOverviewAdaptiveGroups(filter: { AND: [$clientError, $time] }, limit: 1) { sum { requests } }
        shares: httpRequestsOverviewAdaptiveGroups(filter: $time, limit: 1) { ratio { status4xx cachedBytes encryptedRequests } }
        paths: httpRequestsAdaptiveGroups(filter: $time, limit: 3, orderBy: [count_DESC, clientRequestPath_ASC]) { count dimensions { clientRequestPath } }
        agents: httpRequestsAdaptiveGroups(filter: { AND: [$time, { OR: [{ userAgent_like: "%scanner%" }, { userAgent_like: "curl/%" }] }] }, limit: 9) { count dimensions { userAgent } }
        empty: httpRequestsAdaptiveGroups(filter: { datetimeHour_geq: $past, datetimeHour_leq: $past }, limit: 1) { count }
      } } }`,
      {
        account,
        time: { datetime_geq: iso(startMs), datetime_lt: iso(endMs) },
        clientError: { edgeResponseStatus_geq: 400, edgeResponseStatus_leq: 499 },
        past: iso(startMs - 48 * HOUR_MS),
      },
    );
    const [scope] = found.accounts;
    const refused = rows.requests.filter((row) => row.status >= 400 && row.status < 500);
    const cached = rows.requests.filter((row) => row.cache_status === "HIT");
    assert.deepEqual(
      scope.days.map(({ sum, dimensions }: any) => [dimensions.ts, sum.requests, sum.bytes, sum.cachedRequests, sum.visits]),
      [...Map.groupBy(rows.requests, (row) => iso(row.at_ms).slice(0, 10))].map(([day, all]) => [
        ...[day, all.length, bytesOf(all)],
        ...[all.filter((row) => row.cache_status === "HIT").length, null],
      ]),
    );
    assert.deepEqual(
      Object.fromEntries(scope.kinds.map(({ sum, dimensions }: any) => [JSON.stringify([dimensions.metric]), sum.requests])),
      counted(rows.requests, (row) => row.content_type),
    );
    assert.deepEqual(scope.errors, [{ sum: { requests: refused.length } }]);
    assert.deepEqual(scope.shares, [
      {
        ratio: {
          status4xx: refused.length / rows.requests.length,
          cachedBytes: bytesOf(cached) / bytesOf(rows.requests),
          encryptedRequests: 0,
        },
      },
    ]);
    assert.deepEqual(scope.paths, [
      { count: 4, dimensions: { clientRequestPath: "/" } },
      { count: 4, dimensions: { clientRequestPath: "/kept" } },
      { count: 2, dimensions: { clientRequestPath: "/admin" } },
    ]);
    assert.deepEqual(groups(scope.agents, "userAgent"), { '["scanner/1"]': 2, '["curl/8.5"]': 5 });
    assert.deepEqual(scope.empty, []);
  });

  test("a feed of security events, and their totals by time", async () => {
    const [zone] = (
      await viewer(
        `query Feed($zone: string!, $filter: FirewallEventsAdaptiveFilter_InputObject) { viewer { zones(filter: { zoneTag: $zone }) {
          rows: firewallEventsAdaptive(filter: $filter, limit: 10000, orderBy: [datetime_ASC, ruleId_ASC]) {
            action clientIP clientRequestHTTPHost clientRequestHTTPMethodName clientRequestPath clientRequestQuery datetime rayName ruleId source userAgent kind
          }
          total: firewallEventsAdaptiveByTimeGroups(filter: $filter, limit: 1) { count }
          quarters: firewallEventsAdaptiveByTimeGroups(filter: $filter, limit: 10, orderBy: [datetimeFifteenMinutes_ASC]) { count dimensions { ts: datetimeFifteenMinutes } }
          solved: firewallEventsAdaptiveByTimeGroups(limit: 1, filter: { action: "managed_challenge_interactive_solved", OR: [{ datetime_geq: "${iso(startMs)}" }] }) { count }
        } } }`,
        { zone: zones[0], filter: { datetime_gt: iso(startMs), datetime_leq: iso(endMs) } },
      )
    ).zones;
    const events = ofZone(rows.security_events, zones[0]!);
    const key = (rule: string, ray: string): string => `${rule} ${ray}`;
    assert.deepEqual(
      zone.rows.map((row: any) => key(row.ruleId, row.rayName)).toSorted(),
      events.map((row) => key(row.rule_id, row.ray_id)).toSorted(),
    );
    for (const row of zone.rows) {
      const event = events.find(({ ray_id, rule_id }) => ray_id === row.rayName && rule_id === row.ruleId)!;
      assert.deepEqual(
        [row.action, row.clientIP, row.clientRequestPath, row.userAgent, row.datetime, row.source, row.kind],
        [event.action, event.client_ip, event.path, event.user_agent, cut(event.at_ms, 1000), event.service, "firewall"],
      );
    }
    assert.deepEqual(zone.total, [{ count: events.length }]);
    assert.deepEqual(
      zone.quarters.map(({ count, dimensions }: any) => [dimensions.ts, count]),
      [...Map.groupBy(events, (row) => cut(row.at_ms, 15 * MINUTE_MS))].map(([at, all]) => [at, all.length]),
    );
    assert.deepEqual(zone.solved, []);
  });

  test("DNS queries by type, response code and time", async () => {
    const found = await viewer(
      `query Dns($zone: String!, $account: string, $from: Date!, $to: Date!) { viewer {
        zones(filter: { zoneTag: $zone }) {
          byType: dnsAnalyticsAdaptiveGroups(limit: 20, filter: { date_geq: $from, date_leq: $to }, orderBy: [count_DESC]) { count dimensions { queryName queryType responseCode } }
          minutes: dnsAnalyticsAdaptiveGroups(limit: 500, filter: { date_in: [$from, $to] }, orderBy: [datetimeFiveMinutes_ASC]) { count dimensions { datetimeFiveMinutes } }
          rows: dnsAnalyticsAdaptive(limit: 10, filter: { date_geq: $from, queryType: "A" }, orderBy: [datetime_ASC]) { queryName responseCode querySize responseSize sampleInterval coloName responseCached }
          like: dnsAnalyticsAdaptiveGroups(limit: 1, filter: { date_geq: $from, queryName_like: "%sing.first.test" }) { count avg { sampleInterval } }
        }
        accounts(filter: { accountTag: $account }) {
          missing: dnsAnalyticsAdaptive(limit: 10, filter: { responseCode: "NXDOMAIN", date_geq: $from }, orderBy: [datetime_DESC]) { zoneTag queryName datetime }
          all: dnsAnalyticsAdaptiveGroups(limit: 1, filter: { date_geq: $from, date_leq: $to }) { count sum { queryBytes responseBytes } }
        }
      } }`,
      { zone: zones[0], account, from: iso(startMs).slice(0, 10), to: iso(endMs).slice(0, 10) },
    );
    const [zone] = found.zones;
    const asked = ofZone(rows.dns_queries, zones[0]!);
    assert.deepEqual(groups(zone.byType, "queryName", "queryType", "responseCode"), {
      '["www.first.test","A","NOERROR"]': 3,
      '["missing.first.test","A","NXDOMAIN"]': 2,
      '["note.first.test","TXT","NOERROR"]': 1,
    });
    assert.deepEqual(
      groups(zone.minutes, "datetimeFiveMinutes"),
      counted(asked, (row) => cut(row.at_ms, 5 * MINUTE_MS)),
    );
    assert.deepEqual(
      zone.rows.map((row: any) => [row.queryName, row.responseCode, row.querySize, row.responseSize, row.sampleInterval]),
      asked
        .filter((row) => row.query_type === "A")
        .map((row) => [row.query_name, row.response_code, row.query_bytes, row.response_bytes, row.sample_interval]),
    );
    assert.deepEqual([zone.rows[0].coloName, zone.rows[0].responseCached], ["local", null]);
    assert.deepEqual(zone.like, [{ count: 2, avg: { sampleInterval: null } }]);
    const [scope] = found.accounts;
    assert.deepEqual(
      scope.missing.map(({ zoneTag, queryName }: any) => [zoneTag, queryName]),
      [1, 2].map(() => [zones[0], "missing.first.test"]),
    );
    assert.deepEqual(scope.all, [
      {
        count: rows.dns_queries.length,
        sum: {
          queryBytes: total(rows.dns_queries.map((row) => row.query_bytes)),
          responseBytes: total(rows.dns_queries.map((row) => row.response_bytes)),
        },
      },
    ]);
  });

  test("costs of models by gateway, model and time", async () => {
    const found = await viewer(
      `{ viewer { scope: accounts(filter: { accountTag: $account }) {
        spend: aiGatewayRequestsAdaptiveGroups(limit: $limit, filter: { gateway: "models", datetimeHour_geq: $from, datetimeHour_leq: $to }) {
          count sum { cost cachedRequests erroredRequests tokensIn tokensOut totalTokens uncachedTokensIn uncachedTokensOut cachedTokensIn cachedTokensOut __typename }
        }
        models: aiGatewayRequestsAdaptiveGroups(limit: 200, filter: { gateway: "models", datetime_geq: $from, datetime_leq: $end, metadataRaw_like: "%blue%" }, orderBy: [model_ASC, provider_ASC]) {
          count sum { cost } dimensions { model provider }
        }
        last: aiGatewayRequestsAdaptiveGroups(limit: 1, orderBy: [datetimeMinute_DESC], filter: { gateway: "models" }) { dimensions { ts: datetimeMinute } }
        slow: aiGatewayRequestsAdaptiveGroups(limit: 9, orderBy: [avg_cost_DESC, model_ASC]) { avg { cost durationMs } dimensions { model } }
        elsewhere: aiGatewayRequestsAdaptiveGroups(limit: 1, filter: { gateway: "another" }) { sum { cost } }
      } } }`,
      { account, from: iso(startMs), to: iso(startMs + 2 * HOUR_MS), end: iso(endMs), limit: 1 },
    );
    const [scope] = found.scope;
    const sum = (of: readonly GatewayLogRow[], column: "cost" | "tokens_in" | "tokens_out"): number =>
      total(of.map((row) => row[column] ?? 0));
    const [cached, fresh] = [rows.gateway_logs.filter((row) => row.cached), rows.gateway_logs.filter((row) => !row.cached)];
    assert.deepEqual([cached.length, rows.gateway_logs.filter((row) => !row.success).length], [1, 1]);
    const [{ count, sum: spent }] = scope.spend;
    assert.equal(count, rows.gateway_logs.length);
    assert.ok(Math.abs(spent.cost - sum(rows.gateway_logs, "cost")) < 1e-12);
    assert.deepEqual(
      [spent.cachedRequests, spent.erroredRequests, spent.tokensIn, spent.tokensOut, spent.totalTokens],
      [
        ...[1, 1, sum(rows.gateway_logs, "tokens_in"), sum(rows.gateway_logs, "tokens_out")],
        sum(rows.gateway_logs, "tokens_in") + sum(rows.gateway_logs, "tokens_out"),
      ],
    );
    assert.deepEqual(
      [spent.uncachedTokensIn, spent.uncachedTokensOut, spent.cachedTokensIn, spent.cachedTokensOut],
      [sum(fresh, "tokens_in"), sum(fresh, "tokens_out"), sum(cached, "tokens_in"), sum(cached, "tokens_out")],
    );
    assert.deepEqual(
      groups(scope.models, "model", "provider"),
      counted(
        rows.gateway_logs,
        (row) => row.model,
        (row) => row.provider,
      ),
    );
    assert.equal(scope.last[0].dimensions.ts, cut(Math.max(...rows.gateway_logs.map((row) => row.at_ms)), MINUTE_MS));
    const averages = scope.slow.map(({ avg }: any) => avg.cost);
    assert.deepEqual(
      averages,
      averages.toSorted((a: number, b: number) => b - a),
    );
    assert.deepEqual(scope.elsewhere, []);
  });
});

const bytesOf = (rows: readonly RequestRow[]): number => total(rows.map((row) => row.bytes_out));
const stepsOf = (visit: Visit): number => (visit.logs ?? 0) + (visit.blocks ?? 0);
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listening(answer: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(answer as never).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
