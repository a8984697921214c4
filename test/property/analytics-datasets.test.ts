import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openEventDatabase } from "#events/database/database.ts";
import type { DnsQueryRow, EventTable, EventTables } from "#events/rows/rows.ts";
import { packed, testGatewayRow, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { ANALYTICS_DATASETS, ANALYTICS_OPERATORS, type AnalyticsDataset, type AnalyticsField } from "#model/events/analytics.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";
import { fc } from "../support/property.ts";

const SEED = 20_261_123;
const HOUR_MS = 3_600_000;
const START_MS = 489_999 * HOUR_MS;
const SPAN_MS = 30 * HOUR_MS;
const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

type Row = Readonly<Record<string, unknown>> & { readonly at_ms: number };

const at_ms = fc.oneof(
  fc.integer({ min: START_MS, max: START_MS + SPAN_MS }),
  // Some at the very ends of intervals.
  fc.nat(30).map((hour) => START_MS + hour * HOUR_MS),
  fc.nat(30).map((hour) => START_MS + hour * HOUR_MS - 1),
);
const visited = {
  at_ms,
  ...{ method: fc.constantFrom("GET", "POST"), host: fc.constantFrom("a.example", "b.example"), path: fc.constantFrom("/", "/A_b", "/%") },
  ...{ client_ip: fc.constantFrom("192.0.2.1", "2001:db8::1"), status: fc.constantFrom(200, 404, 503), country: fc.constantFrom("PT", "") },
  ...{ scheme: fc.constantFrom("http" as const, "https" as const), user_agent: fc.constantFrom("", "curl/8", "Émile") },
  ...{ ray_id: fc.constantFrom("00aa", "00bb", "00cc") },
};

/** Rows of few values, so that groups have many members. */
const ROWS: Readonly<Record<string, (site: object) => fc.Arbitrary<Row>>> = {
  firewallEvents: (site) =>
    fc
      .record({
        ...visited,
        action: fc.constantFrom("block", "log", "managed_challenge"),
        service: fc.constantFrom("WAF", "Data Loss Protection"),
        rule_id: fc.constantFrom("r1", "r2"),
        rule_description: fc.constantFrom("", "None of this"),
      })
      .map((changes) => testSecurityRow({ ...changes, ...site }) as unknown as Row),
  httpRequests: (site) =>
    fc
      .record({
        ...visited,
        cache_status: fc.constantFrom("HIT", "MISS", ""),
        tls_version: fc.constantFrom("", "TLSv1.3"),
        origin_status: fc.constantFrom(null, 200, 500),
        content_type: fc.constantFrom("", "text/html"),
        bytes_in: fc.nat(50),
        bytes_out: fc.nat(5_000),
        duration_ms: fc.nat(400),
      })
      .map((changes) => testRequestRow({ ...changes, ...site }) as unknown as Row),
  dnsAnalytics: (site) =>
    fc
      .record({
        ...{ at_ms, query_name: fc.constantFrom("a.example", "www.a.example"), query_type: fc.constantFrom("A", "TXT") },
        ...{
          response_code: fc.constantFrom("NOERROR", "NXDOMAIN"),
          protocol: fc.constantFrom("udp", "doh"),
          ip_version: fc.constantFrom(4, 6),
        },
        ...{ source_ip: fc.constantFrom("192.0.2.1", "192.0.2.2"), query_bytes: fc.nat(99), response_bytes: fc.nat(500) },
        ...{ sample_interval: fc.constantFrom(1, 1, 7), account_id: fc.constant(""), zone_id: fc.constant("") },
      })
      .map((row): Row => ({ ...row, ...site }) satisfies DnsQueryRow as unknown as Row),
  aiGatewayRequests: (site) =>
    fc
      .record({
        ...{ at_ms, gateway_id: fc.constantFrom("g", "h"), provider: fc.constantFrom("openai", "groq"), model: fc.constantFrom("m", "N") },
        ...{
          status_code: fc.constantFrom(200, 500),
          success: fc.boolean(),
          cached: fc.boolean(),
          metadata: fc.constantFrom("", '{"team":"blue"}'),
        },
        ...{ tokens_in: fc.option(fc.nat(50)), tokens_out: fc.option(fc.nat(50)), cost: fc.option(fc.nat(64).map((n) => n / 64)) },
        ...{ duration_ms: fc.nat(900), first_byte_ms: fc.option(fc.nat(300)) },
      })
      .map((changes) => testGatewayRow({ ...changes, ...site }) as unknown as Row),
};

/** Columns that are made of others. */
const COMPUTED: Readonly<Record<string, (row: Row) => number>> = {
  errored: (row) => Number(!row["success"]),
  tokens_all: (row) => Number(row["tokens_in"]) + Number(row["tokens_out"]),
  tokens_in_cached: (row) => (row["cached"] ? Number(row["tokens_in"]) : 0),
  tokens_out_cached: (row) => (row["cached"] ? Number(row["tokens_out"]) : 0),
  tokens_in_uncached: (row) => (row["cached"] ? 0 : Number(row["tokens_in"])),
  tokens_out_uncached: (row) => (row["cached"] ? 0 : Number(row["tokens_out"])),
};
const numberIn = (row: Row, column: string): number => COMPUTED[column]?.(row) ?? Number(row[column] ?? 0);
const weightOf = (row: Row): number => Number(row["sample_interval"] ?? 1);

/** A field of a row as an answer shows it. */
function shown(field: AnalyticsField, row: Row): string | number | boolean | null {
  if (field.kind === "unknown" || "of" in field) return null;
  if (field.kind === "constant") return field.value;
  const cell = row[field.column] as string | number | boolean | null;
  if (field.intervalMs !== undefined) {
    const time = iso(Math.floor(row.at_ms / field.intervalMs) * field.intervalMs);
    return field.kind === "date" ? time.slice(0, 10) : time;
  }
  if (field.kind === "negated") return cell ? 0 : 1;
  if (typeof cell !== "string") return cell;
  return cell === "" ? (field.emptyAs ?? "") : field.isLowerCase ? cell.toLowerCase() : cell;
}

type Shown = string | number | boolean;
const isLike = (value: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.*+?^$()[\]\\{}|/]/g, "\\$&")
      .replaceAll("%", ".*")
      .replaceAll("_", ".")}$`,
    "is",
  ).test(value);

const HOLDS: Readonly<Record<string, (value: Shown, given: any) => boolean>> = {
  eq: (value, given) => value === given,
  ne: (value, given) => value !== given,
  in: (value, given) => given.includes(value),
  not_in: (value, given) => !given.includes(value),
  like: (value, given) => isLike(String(value), given),
  not_like: (value, given) => !isLike(String(value), given),
  gt: (value, given) => value > given,
  ge: (value, given) => value >= given,
  lt: (value, given) => value < given,
  le: (value, given) => value <= given,
};

interface Condition {
  readonly text: string;
  holds(row: Row): boolean;
}

const PATTERNS = ["%", "%a%", "_", "no%", "%E", "n_n_", "curl/%", "/\\_%", ""];

/** Any comparison of any field, with values that rows have, and some that they do not. */
function anyCondition(dataset: AnalyticsDataset, rows: readonly Row[]): fc.Arbitrary<Condition> {
  const fields = Object.entries(dataset.fields).filter(([, field]) => field.kind !== "unknown" && !("of" in field));
  const comparisons = fields.flatMap(([name, field]) =>
    Object.entries(ANALYTICS_OPERATORS[field.kind]).map(([suffix, operator]) => ({ name, field, suffix, operator })),
  );
  return fc.constantFrom(...comparisons).chain(({ name, field, suffix, operator }) => {
    const isTime = "intervalMs" in field && field.intervalMs !== undefined;
    const time = fc.oneof(
      fc.constantFrom(...rows).map((row) => String(shown(field, row))),
      at_ms.map(iso),
    );
    const known = fc.constantFrom(...rows).map((row) => shown(field, row) ?? 0);
    const value: fc.Arbitrary<Shown> = isTime ? time.map((text) => (field.kind === "date" ? text.slice(0, 10) : text)) : known;
    const given: fc.Arbitrary<Shown | readonly Shown[]> = operator.endsWith("like")
      ? fc.constantFrom(...PATTERNS)
      : operator === "in" || operator === "not_in"
        ? fc.array(value, { maxLength: 3 })
        : value;
    return given.map((wanted) => ({
      text: `${name}${suffix}: ${JSON.stringify(wanted)}`,
      holds: (row) => {
        const cell = shown(field, row);
        // Unknown values match no condition, except an empty one.
        return cell === null ? operator === "not_in" && [wanted].flat().length === 0 : HOLDS[operator]!(cell, wanted);
      },
    }));
  });
}

/** As many patterns as one filter may have. */
const hasFewPatterns = ({ text }: Condition): boolean => (text.match(/like:/g) ?? []).length <= 10;

/** Conditions in `AND` and `OR`; one object names each of them once. */
function anyFilter(condition: fc.Arbitrary<Condition>, depth = 2): fc.Arbitrary<Condition> {
  const plain = fc.uniqueArray(condition, { maxLength: 3, selector: ({ text }) => text.split(":", 1)[0] }).map((parts) => joined(parts));
  if (depth === 0) return plain;
  const inner = fc.array(anyFilter(condition, depth - 1), { maxLength: 3 });
  return fc.record({ plain, and: fc.option(inner, { freq: 3 }), or: fc.option(inner, { freq: 2 }) }).map(({ plain: own, and, or }) => ({
    text: [own.text, ...(and ? [`AND: [${and.map(braced).join(", ")}]`] : []), ...(or ? [`OR: [${or.map(braced).join(", ")}]`] : [])]
      .filter((text) => text !== "")
      .join(", "),
    holds: (row) => own.holds(row) && (and ?? []).every((part) => part.holds(row)) && (or === null || or.some((part) => part.holds(row))),
  }));
}
const braced = ({ text }: Condition): string => `{ ${text} }`;
const joined = (parts: readonly Condition[]): Condition => ({
  text: parts.map(({ text }) => text).join(", "),
  holds: (row) => parts.every((part) => part.holds(row)),
});

interface Measure {
  readonly kind: "sum" | "avg" | "uniq" | "quantiles";
  readonly name: string;
  of(rows: readonly Row[]): number;
}

function measuresOf(dataset: AnalyticsDataset): readonly Measure[] {
  const sum = (column: string) => (rows: readonly Row[]) => total(rows.map((row) => numberIn(row, column) * weightOf(row)));
  const list = (kind: Measure["kind"], columns: Readonly<Record<string, string>>, of: (column: string) => Measure["of"]) =>
    Object.entries(columns).map(([name, column]) => ({ kind, name, of: of(column) }));
  return [
    ...list("sum", dataset.sums, sum),
    ...list("avg", dataset.averages, (column) => (rows) => sum(column)(rows) / total(rows.map(weightOf))),
    ...list("uniq", dataset.uniques, (column) => (rows) => new Set(rows.map((row) => row[column])).size),
    ...list("quantiles", dataset.quantiles, (column) => (rows) => percentile(rows, column, 50)).map((m) => ({
      ...m,
      name: `${m.name}P50`,
    })),
    ...list("quantiles", dataset.quantiles, (column) => (rows) => percentile(rows, column, 95)).map((m) => ({
      ...m,
      name: `${m.name}P95`,
    })),
  ];
}

/** Between the two nearest, in proportion. */
function percentile(rows: readonly Row[], column: string, percent: number): number {
  const values = rows.flatMap((row) => (row[column] === null ? [] : [Number(row[column])])).toSorted((a, b) => a - b);
  if (values.length === 0) return 0;
  const place = ((values.length - 1) * percent) / 100;
  const [low, high] = [values[Math.floor(place)]!, values[Math.ceil(place)]!];
  return low + (high - low) * (place - Math.floor(place));
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

describe("GraphQL analytics of every dataset", () => {
  let server: ApiServer;
  const zones: string[] = [];
  const kept = new Map<string, readonly Row[]>();
  before(async () => {
    server = await startApi();
    for (const name of ["one.example", "two.example"])
      zones.push((await ask(server, "POST", "/zones", { body: { name, account: { id: server.account_id } } })).body.result.id);
    const database = openEventDatabase(server.eventsPath);
    for (const [name, make] of Object.entries(ROWS)) {
      const table = ANALYTICS_DATASETS[name as "dnsAnalytics"].table as EventTable;
      const rows = zones.flatMap((zone_id, n) => {
        const site = name === "aiGatewayRequests" ? { account_id: server.account_id } : { account_id: server.account_id, zone_id };
        return fc.sample(make(site), { seed: SEED + n, numRuns: 250 });
      });
      kept.set(
        name,
        rows.map((row, n) => (table === "gateway_logs" || table === "security_events" ? { ...row, id: `01HF${n}` } : row)),
      );
      // In blocks and row by row.
      const written = kept.get(name)! as unknown as EventTables[EventTable][];
      const ends = [0, 40, 240, 280, written.length];
      for (const [i, end] of ends.slice(1).entries()) database.insert([packed(table, written.slice(ends[i], end) as never)]);
    }
    database.close();
  });
  after(() => server.close());

  async function node(scope: "zone" | "account", selection: string): Promise<any[]> {
    const named =
      scope === "zone" ? `zones(filter: { zoneTag: "${zones[0]}" })` : `accounts(filter: { accountTag: "${server.account_id}" })`;
    const { status, body } = await ask(server, "POST", "/graphql", {
      body: { query: `{ viewer { scope: ${named} { node: ${selection} } } }` },
    });
    assert.equal(status, 200);
    assert.equal(body.errors, null as never, `${selection}: ${JSON.stringify(body.errors)}`);
    return (body as unknown as { data: any }).data.viewer.scope[0].node;
  }

  const inScope = (rows: readonly Row[], scope: "zone" | "account"): readonly Row[] =>
    scope === "account" ? rows : rows.filter((row) => row["zone_id"] === zones[0]);

  const { fields: httpFields }: AnalyticsDataset = ANALYTICS_DATASETS.httpRequests;
  const TIMES = [
    "datetimeMinute",
    "datetimeFifteenMinutes",
    "datetimeHalfOfHour",
    "datetimeHour",
    "datetimeSixHours",
    "datetimeDay",
    "date",
  ];

  /** Compares groups by key, each with every sum. */
  const sameSums = (found: readonly any[], rows: readonly Row[], dimensions: readonly string[], text: string): void => {
    const expected = Map.groupBy(rows, (row) => JSON.stringify(dimensions.map((field) => shown(httpFields[field]!, row))));
    const sums = (of: readonly Row[]) => Object.fromEntries(Object.entries(HTTP_SUMS).map(([field, sum]) => [field, sum(of)]));
    assert.deepEqual(
      Object.fromEntries(found.map((group) => [JSON.stringify(dimensions.map((field) => group.dimensions[field])), group.sum])),
      Object.fromEntries(Array.from(expected, ([key, of]) => [key, sums(of)])),
      text,
    );
    assert.equal(found.length, expected.size);
  };

  test("overviews equal sums over the rows", async () => {
    const rows = kept.get("httpRequests")!;
    const dimensions = [...TIMES, "clientCountryName", "cacheStatus", "clientSSLProtocol", "edgeResponseStatus", "zoneTag"];
    const asked = fc.record({
      filter: anyFilter(anyCondition(ANALYTICS_DATASETS.httpRequests, rows)).filter(hasFewPatterns),
      by: fc.subarray(dimensions, { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ filter, by }) => {
        const shape = `${by.length === 0 ? "" : `dimensions { ${by.join(" ")} }`} sum { ${Object.keys(HTTP_SUMS).join(" ")} }`;
        const text = `httpRequestsOverviewAdaptiveGroups(limit: 10000, filter: { ${filter.text} }) { ${shape} }`;
        sameSums(
          await node("account", text),
          rows.filter((row) => filter.holds(row)),
          by,
          text,
        );
      }),
      { numRuns: 60 },
    );
  });

  test("totals by minute, hour and day equal sums over the rows", async () => {
    const rows = kept.get("httpRequests")!;
    // By the day, times stand for their dates: what is compared with is a date.
    const nodes = { httpRequests1mGroups: 0, httpRequests1hGroups: 3, httpRequests1dGroups: 6 };
    const named = fc.constantFrom(...Object.entries(nodes)).chain(([name, first]) => {
      // Fields of shorter times mean the intervals of the node.
      const times = Object.fromEntries(TIMES.slice(first).map((field) => [field, httpFields[field]!]));
      return fc.record({
        name: fc.constant(name),
        filter: anyFilter(anyCondition({ ...ANALYTICS_DATASETS.httpRequests, fields: times }, rows)),
        by: fc.subarray(Object.keys(times)),
      });
    });
    await fc.assert(
      fc.asyncProperty(named, async ({ name, filter, by }) => {
        const shape = `${by.length === 0 ? "" : `dimensions { ${by.join(" ")} }`} sum { ${Object.keys(HTTP_SUMS).join(" ")} }`;
        const text = `${name}(limit: 10000, filter: { ${filter.text} }) { ${shape} }`;
        sameSums(
          await node("zone", text),
          inScope(rows, "zone").filter((row) => filter.holds(row)),
          by,
          text,
        );
      }),
      { numRuns: 60 },
    );
  });

  for (const name of Object.keys(ROWS)) {
    const dataset: AnalyticsDataset = ANALYTICS_DATASETS[name as "dnsAnalytics"];
    const scopes = dataset.zonePermissions.length === 0 ? (["account"] as const) : (["zone", "account"] as const);
    const fields = Object.entries(dataset.fields).filter(([, field]) => !(field.kind === "unknown" && field.entries) && !("of" in field));

    test(`groups of ${name} equal groups over the rows`, async () => {
      const rows = kept.get(name)!;
      const measures = measuresOf(dataset);
      const asked = fc.record({
        scope: fc.constantFrom<"zone" | "account">(...scopes),
        filter: anyFilter(anyCondition(dataset, rows)).filter(hasFewPatterns),
        dimensions: fc.subarray(fields, { maxLength: 3 }),
        wanted: fc.oneof(fc.subarray([...measures]), fc.subarray(measures.filter(({ kind }) => kind === "sum"))),
        order: fc.nat(100),
        isDescending: fc.boolean(),
        limit: fc.constantFrom(1, 3, 10_000),
      });
      await fc.assert(
        fc.asyncProperty(asked, async ({ scope, filter, dimensions, wanted, order, isDescending, limit }) => {
          const orders = ["count", ...dimensions.map(([field]) => field), ...wanted.map((m) => `${m.kind}_${m.name}`)];
          const by = orders[order % orders.length]!;
          const shape = [
            dimensions.length === 0 ? "" : `dimensions { ${dimensions.map(([field]) => field).join(" ")} }`,
            ...[...Map.groupBy(wanted, ({ kind }) => kind)].map(([kind, of]) => `${kind} { ${of.map((m) => m.name).join(" ")} }`),
          ].join(" ");
          const given = `limit: ${limit}, filter: { ${filter.text} }, orderBy: [${by}_${isDescending ? "DESC" : "ASC"}]`;
          const found = await node(scope, `${name}AdaptiveGroups(${given}) { count ${shape} }`);
          const fitting = inScope(rows, scope).filter((row) => filter.holds(row));
          const expected = [...Map.groupBy(fitting, (row) => JSON.stringify(dimensions.map(([, field]) => shown(field, row))))].map(
            ([key, of]) => ({ key, count: total(of.map(weightOf)), values: wanted.map((measure) => measure.of(of)) }),
          );
          const got = found.map((group) => ({
            key: JSON.stringify(dimensions.map(([field]) => group.dimensions[field])),
            count: group.count,
            values: wanted.map((measure) => group[measure.kind][measure.name]),
          }));
          assert.equal(got.length, Math.min(limit, expected.length));
          for (const group of got) {
            const same = expected.find(({ key }) => key === group.key);
            assert.equal(group.count, same?.count, `${group.key} of ${given}`);
            for (const [i, value] of group.values.entries())
              assert.ok(
                Math.abs(value - same!.values[i]!) < 1e-6,
                `${wanted[i]?.kind} ${wanted[i]?.name} of ${group.key}: ${value}, ${same!.values[i]}`,
              );
          }
          // The order, and that what the limit left out is behind it.
          const place = orders.indexOf(by);
          const orderOf = (group: (typeof got)[number]): any =>
            place === 0
              ? group.count
              : place <= dimensions.length
                ? JSON.parse(group.key)[place - 1]
                : group.values[place - 1 - dimensions.length];
          const ranked = (of: typeof got): any[] => {
            const values = of.map(orderOf).map((value) => (typeof value === "number" ? Math.round(value * 1e6) : value));
            return values.toSorted((a, b) => compared(a, b) * (isDescending ? -1 : 1));
          };
          const inAnswer = got.map(orderOf).map((value) => (typeof value === "number" ? Math.round(value * 1e6) : value));
          // Orders of texts are those of what is stored.
          const field = dataset.fields[by];
          if (field === undefined || !("emptyAs" in field)) assert.deepEqual(inAnswer, ranked(expected).slice(0, limit), given);
        }),
        { numRuns: 150 },
      );
    });

    test(`a query for rows of ${name} returns exactly the matching rows, newest or oldest first`, async () => {
      const rows = kept.get(name)!;
      const asked = fc.record({
        scope: fc.constantFrom<"zone" | "account">(...scopes),
        filter: anyFilter(anyCondition(dataset, rows)).filter(hasFewPatterns),
        chosen: fc.subarray(fields, { minLength: 1, maxLength: 5 }),
        isDescending: fc.boolean(),
        limit: fc.constantFrom(1, 7, 10_000),
      });
      await fc.assert(
        fc.asyncProperty(asked, async ({ scope, filter, chosen, isDescending, limit }) => {
          const names = [...new Set(["datetime", ...chosen.map(([field]) => field)])];
          const given = `limit: ${limit}, filter: { ${filter.text} }, orderBy: [datetime_${isDescending ? "DESC" : "ASC"}]`;
          const found = await node(scope, `${name}Adaptive(${given}) { ${names.join(" ")} }`);
          const fitting = inScope(rows, scope)
            .filter((row) => filter.holds(row))
            .toSorted((a, b) => (isDescending ? b.at_ms - a.at_ms : a.at_ms - b.at_ms));
          const cells = (row: Row): string => JSON.stringify(names.map((field) => shown(dataset.fields[field]!, row)));
          const got = found.map((row) => JSON.stringify(names.map((field) => row[field])));
          assert.equal(got.length, Math.min(limit, fitting.length), given);
          assert.deepEqual(
            found.map((row) => row.datetime),
            fitting.slice(0, limit).map((row) => iso(row.at_ms)),
          );
          const open = fitting.map(cells);
          for (const row of got) {
            const at = open.indexOf(row);
            assert.ok(at >= 0, `${row} is no row that fits ${given}`);
            open.splice(at, 1);
          }
        }),
        { numRuns: 60 },
      );
    });
  }
});

/** Sums of requests as overviews and totals have them. */
const HTTP_SUMS: Readonly<Record<string, (rows: readonly Row[]) => number>> = {
  requests: (rows) => rows.length,
  bytes: (rows) => total(rows.map((row) => numberIn(row, "bytes_out"))),
  cachedRequests: (rows) => rows.filter((row) => row["cache_status"] === "HIT").length,
  cachedBytes: (rows) => HTTP_SUMS["bytes"]!(rows.filter((row) => row["cache_status"] === "HIT")),
  encryptedRequests: (rows) => rows.filter((row) => row["scheme"] === "https").length,
  encryptedBytes: (rows) => HTTP_SUMS["bytes"]!(rows.filter((row) => row["scheme"] === "https")),
  pageViews: (rows) => rows.filter((row) => row["content_type"] === "text/html" && row["status"] === 200).length,
};

function compared(a: any, b: any): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a < b ? -1 : 1;
}
