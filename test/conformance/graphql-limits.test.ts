import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openEventDatabase } from "#events/database/database.ts";
import { packed, testRequestRow } from "#events/testing/rows.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

const ROWS = 2_000;
const START_MS = 1_764_028_800_000;
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const text = (count: number, make: (n: number) => string): string => times(count, make).join(" ");
const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Small queries with large effects: every answer is short, names the error and leaves the server unchanged. */
describe("GraphQL analytics under hostile queries", () => {
  let server: ApiServer;
  let zone = "";
  before(async () => {
    server = await startApi();
    const { body } = await ask(server, "POST", "/zones", { body: { name: "limits.example", account: { id: server.account_id } } });
    zone = body.result.id;
    const database = openEventDatabase(server.eventsPath);
    const rows = times(ROWS, (n) =>
      testRequestRow({
        ...{ account_id: server.account_id, zone_id: zone, at_ms: START_MS + n * 20_000, country: "PT" },
        user_agent: n % 2 === 0 ? "a".repeat(500) : "b",
      }),
    );
    database.insert([packed("requests", rows)]);
    database.close();
  });
  after(() => server.close());

  const inZone = (inner: string): string => `{ viewer { zones(filter: { zoneTag: "${zone}" }) { ${inner} } } }`;
  const filtered = (filter: string): string => inZone(`g: httpRequestsAdaptiveGroups(limit: 10, filter: ${filter}) { count }`);
  const send = async (body: object) => {
    const answer = await ask(server, "POST", "/graphql", { body });
    return { status: answer.status, size: answer.text.length, body: answer.body as { data: any; errors: { message: string }[] | null } };
  };

  const alternatives = (count: number): string =>
    text(
      count,
      (n) => `{ datetime_geq: "${iso(START_MS + n * 3_600_000 + 1000)}", datetime_lt: "${iso(START_MS + n * 3_600_000 + 1_801_000)}" }`,
    );

  /** With the beginning of what the first error says. */
  const REFUSED: Readonly<Record<string, () => readonly [object, RegExp]>> = {
    "ten thousand aliases": () => [{ query: inZone(text(10_000, (n) => `a${n}:zoneTag`)) }, /must have at most/],
    "as many as fit": () => [{ query: inZone(text(4_000, (n) => `a${n}:zoneTag`)) }, /2000 tokens/],
    "101 nodes": () => [
      { query: inZone(text(101, (n) => `a${n}: httpRequests1hGroups(limit: 1) { sum { requests } }`)) },
      /at most 100 data nodes/,
    ],
    "101 overviews": () => [
      { query: inZone(text(101, (n) => `a${n}: httpRequestsOverviewAdaptiveGroups(limit: 1) { count }`)) },
      /at most 100 data nodes/,
    ],
    "fragments in a circle": () => [
      { query: `${inZone("...A0")} ${text(100, (n) => `fragment A${n} on Zone { ...A${(n + 1) % 100} }`)}` },
      /Cannot spread fragment/,
    ],
    "a fragment in itself": () => [{ query: `${inZone("...A")} fragment A on Zone { zoneTag ...A }` }, /Cannot spread fragment/],
    "fragments in each other, with nodes in the last": () => [
      {
        query: `${inZone("...A0")} ${text(30, (n) => `fragment A${n} on Zone { ...A${n + 1} }`)} fragment A30 on Zone { ${text(101, (n) => `a${n}: httpRequestsAdaptive(limit: 1) { rayName }`)} }`,
      },
      /at most 100 data nodes/,
    ],
    "inline fragments in each other": () => [{ query: inZone(`${"... on Zone { ".repeat(480)} zoneTag ${"}".repeat(480)}`) }, /tokens/],
    "fields that there are not": () => [{ query: inZone(text(1_900, (n) => `field${n}`)) }, /Cannot query field "field0"/],
    "a long name": () => [{ query: inZone("x".repeat(60_000)) }, /Cannot query field "xxx/],
    "arguments that differ": () => [
      { query: inZone(text(20, (n) => `a: httpRequestsAdaptiveGroups(limit: ${n + 1}) { count }`)) },
      /conflict/,
    ],
    "many arguments that differ": () => [
      { query: inZone(text(100, (n) => `a: httpRequestsAdaptiveGroups(limit: ${n + 1}) { count }`)) },
      /too complex/,
    ],
    "a variable of 40,000 values": () => [
      { query: filtered("{ clientIP_in: $ips }"), variables: { ips: times(40_000, String) } },
      /variables can contain/,
    ],
    "a list of 1,001 values": () => [{ query: filtered("{ clientIP_in: $ips }"), variables: { ips: times(1_001, String) } }, /1000 values/],
    "a variable of 30,000 objects": () => [
      { query: filtered("$f"), variables: { f: { OR: times(30_000, () => ({})) } } },
      /variables can contain/,
    ],
    "a variable of 9,000 names": () => [
      { query: filtered("$f"), variables: { f: Object.fromEntries(times(9_000, (n) => [`name${n}`, 1])) } },
      /invalid value/,
    ],
    "1,000 times": () => [
      { query: filtered("{ datetimeMinute_in: $times }"), variables: { times: times(1_000, (n) => iso(START_MS + n * 60_000)) } },
      /200 conditions/,
    ],
    "201 times not": () => [
      { query: filtered("{ datetime_notin: $times }"), variables: { times: times(201, (n) => iso(START_MS + n * 60_000)) } },
      /200 conditions/,
    ],
    "alternatives of nothing": () => [
      { query: filtered("{ OR: $f }"), variables: { f: times(30, () => ({ OR: times(30, () => ({})) })) } },
      /200 conditions/,
    ],
    "a variable in many places": () => [
      { query: filtered(`{ AND: [${"$f ".repeat(800)}] }`), variables: { f: { OR: times(900, () => ({ clientIP: null })) } } },
      /200 conditions/,
    ],
    "alternatives in each other": () => [
      { query: filtered(`${"{ OR: [".repeat(6)} { clientIP: "192.0.2.1" } ${"] }".repeat(6)}`) },
      /at most 5 levels deep/,
    ],
    "a long pattern": () => [{ query: filtered("{ userAgent_like: $l }"), variables: { l: "%a".repeat(40_000) } }, /1000 characters/],
    "more rows than there can be": () => [{ query: inZone("httpRequestsAdaptive(limit: 10001) { rayName }") }, /limit must be between/],
    "no rows": () => [{ query: inZone("httpRequestsOverviewAdaptiveGroups(limit: 0) { count }") }, /limit must be between/],
    "a limit that is no integer": () => [{ query: inZone("httpRequestsAdaptive(limit: 99999999999) { rayName }") }, /32-bit/],
    "21 zones": () => [{ query: `{ viewer { zones(filter: { zoneTag_in: [${`"${zone}" `.repeat(21)}] }) { zoneTag } } }` }, /from 1 to 20/],
    "names for what the schema tells": () => [
      { query: `{ __schema { types { fields { args { type { inputFields { ${text(600, (n) => `a${n}: name`)} } } } } } } }` },
      /cannot have an alias/,
    ],
    "names for it in a fragment": () => [
      { query: `{ __schema { types { ...T } } } fragment T on __Type { inputFields { ${text(300, (n) => `a${n}: name`)} } }` },
      /cannot have an alias/,
    ],
    "the schema many times": () => [{ query: `{ ${text(90, (n) => `a${n}: __schema { types { name fields { name } } }`)} }` }, /5 times/],
    "the schema in itself": () => [
      { query: "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }" },
      /introspection depth/,
    ],
    "lists of names many times": () => [
      { query: inZone(text(101, (n) => `s${n}: settings { firewallEventsAdaptive { availableFields } }`)) },
      /at most 100 data nodes/,
    ],
    "more operations than can be meant": () => [{ query: "{ __typename } ".repeat(300) }, /only defined operation/],
  };

  for (const [name, make] of Object.entries(REFUSED)) {
    test(`${name}: the query is refused`, async () => {
      const [body, message] = make();
      const answer = await send(body);
      assert.match(answer.body.errors?.map((error) => error.message).join("\n") ?? "none", message);
      assert.ok(answer.status === 200 || answer.status === 400, String(answer.status));
      assert.ok(answer.size < 100_000, `${answer.size} bytes`);
    });
  }

  test("a long answer is sent in slices, and as many after each other as you like", async () => {
    const query = inZone(text(2, (n) => `a${n}: httpRequestsAdaptive(limit: ${ROWS}) { datetime clientCountryName rayName userAgent }`));
    const answers = await Promise.all(times(3, async () => send({ query })));
    for (const { status, body, size } of answers) {
      assert.equal(status, 200);
      assert.equal(body.errors, null);
      const [found] = body.data.viewer.zones;
      for (const name of ["a0", "a1"]) assert.equal(found[name].length, ROWS);
      assert.deepEqual(found.a0[0], {
        datetime: iso(START_MS + (ROWS - 1) * 20_000),
        clientCountryName: "PT",
        rayName: "00000000000000aa",
        userAgent: "b",
      });
      assert.equal(size, JSON.stringify(body).length);
    }
  });

  test("large queries within the limits are answered", async () => {
    const counted = async (body: object): Promise<number> => {
      const { status, body: answer } = await send(body);
      assert.equal(status, 200);
      assert.equal(answer.errors, null, JSON.stringify(answer.errors));
      return answer.data.viewer.zones[0].g[0]?.count ?? 0;
    };
    const inAlternatives = times(ROWS, (n) => n * 20_000).filter((ms) => (ms - 1000 + 3_600_000) % 3_600_000 < 1_800_000).length;
    // 2,000 rows end in the twelfth hour: ten alternatives leave out the last of them.
    const ofTen = times(ROWS, (n) => n * 20_000).filter(
      (ms) => ms < 10 * 3_600_000 && (ms - 1000 + 3_600_000) % 3_600_000 < 1_800_000,
    ).length;
    assert.ok(ofTen < inAlternatives);
    assert.equal(await counted({ query: filtered(`{ OR: [${alternatives(10)}] }`) }), ofTen);
    const countries = times(980, (n) => `c${n}`);
    assert.equal(
      await counted({ query: filtered(`{ clientCountryName_notin: $c, OR: [${alternatives(12)}] }`), variables: { c: countries } }),
      inAlternatives,
    );
    const everyMinute = times(199, (n) => iso(START_MS + n * 120_000));
    assert.equal(await counted({ query: filtered("{ datetimeMinute_in: $t }"), variables: { t: everyMinute } }), 199 * 3);
    assert.equal(await counted({ query: filtered("{ datetimeMinute_notin: $t }"), variables: { t: everyMinute } }), ROWS - 199 * 3);
    assert.equal(await counted({ query: filtered("{ userAgent_like: $l }"), variables: { l: `${"%a".repeat(400)}%b` } }), 0);
    assert.equal(await counted({ query: filtered("{ userAgent_like: $l }"), variables: { l: "%a".repeat(400) } }), ROWS / 2);
    assert.equal(await counted({ query: filtered('{ datetime_geq: "0001-01-01T00:00:00Z", datetime_lt: "9999-12-31T23:59:59Z" }') }), ROWS);
    const spread = `${inZone("g: httpRequestsAdaptiveGroups(limit: 1) { ...F0 }")} ${text(
      40,
      (n) => `fragment F${n} on HttpRequestsAdaptiveGroup { ${text(Math.min(12, 40 - n), (m) => `...F${n + m + 1}`)} }`,
    )} fragment F40 on HttpRequestsAdaptiveGroup { count }`;
    assert.equal(await counted({ query: spread }), ROWS);
    assert.ok(
      server.logged.every((line) => !line.startsWith("request failed")),
      "no failure of the server's own",
    );
  });
});
