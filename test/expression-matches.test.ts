import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openEventDatabase } from "#events/database/database.ts";
import { packed, testRequestRow } from "#events/testing/rows.ts";
import { type ApiServer, ask, startApi } from "./support/api-server.ts";

const START_MS = Date.parse("2026-01-31T08:00:00Z");
const PHASE = "http_request_firewall_custom";

describe("an expression against recent requests", () => {
  let server: ApiServer;
  let zone = "";
  let other = "";
  before(async () => {
    server = await startApi();
    const made = async (name: string): Promise<string> =>
      (await ask(server, "POST", "/zones", { body: { name, account: { id: server.account_id } } })).body.result.id;
    [zone, other] = [await made("one.example"), await made("two.example")];
    const database = openEventDatabase(server.eventsPath);
    const rows = Array.from({ length: 60 }, (_, i) =>
      testRequestRow({
        ...{ account_id: server.account_id, zone_id: zone, at_ms: START_MS + i * 1000, ray_id: i.toString(16).padStart(16, "0") },
        ...{ method: i % 2 === 0 ? "GET" : "POST", host: "www.one.example", path: i < 30 ? "/login" : "/shop", query: `page=${i}` },
        ...{
          client_ip: `192.0.2.${i}`,
          country: i % 3 === 0 ? "DE" : "FR",
          user_agent: i === 7 ? "Caf\u00e9/1" : "curl/8",
          status: i === 9 ? 500 : 200,
        },
      }),
    );
    const ofOther = testRequestRow({ account_id: server.account_id, zone_id: other, at_ms: START_MS, path: "/login" });
    database.insert([packed("requests", [...rows, ofOther])]);
    database.close();
  });
  after(() => server.close());

  const matches = async (expression: string, more: object = {}) =>
    ask(server, "POST", `/zones/${zone}/rulesets/expressions/matches`, { body: { expression, phase: PHASE, ...more } });

  test("counts the matching requests of this zone, newest examples first", async () => {
    const { status, body } = await matches('http.request.uri.path eq "/login" and http.request.method eq "POST"');
    assert.equal(status, 200);
    const { evaluated, matched, since, unrecorded_fields: unrecorded, examples } = body.result;
    assert.deepEqual([evaluated, matched, since, unrecorded], [60, 15, new Date(START_MS).toISOString(), []]);
    assert.equal(examples.length, 15);
    assert.deepEqual(
      [examples[0].query, examples[0].client_ip, examples[0].method, examples[0].host],
      ["page=29", "192.0.2.29", "POST", "www.one.example"],
    );
  });

  test("reads addresses, countries, arguments, times, bytes of a user agent and the response like the edge", async () => {
    for (const [expression, matched] of [
      ["ip.src in {192.0.2.0/29}", 8],
      ['ip.src.country eq "DE"', 20],
      ['http.request.uri.args["page"][0] eq "12"', 1],
      [`http.request.timestamp.sec ge ${START_MS / 1000 + 50}`, 10],
      ['http.user_agent contains "Caf\\xe9"', 1],
      ['http.host matches "^www\\." and http.request.full_uri contains "/shop?page=3"', 10],
    ] as const)
      assert.equal((await matches(expression)).body.result?.matched, matched, expression);
    const response = await matches("http.response.code eq 500", { phase: "http_response_firewall_managed" });
    assert.equal(response.body.result?.matched, 1);
  });

  test("evaluates as many of the newest requests as requested", async () => {
    const { evaluated, matched, since } = (await matches('http.request.uri.path eq "/login"', { requests: 31 })).body.result;
    assert.deepEqual([evaluated, matched, since], [31, 1, new Date(START_MS + 29_000).toISOString()]);
    assert.equal((await matches("ssl", { requests: 5001 })).status, 400);
  });

  test("lists the fields that the request log lacks, and returns at most 20 examples", async () => {
    const { body } = await matches(
      'http.request.method in {"GET" "POST"} and not http.request.headers["x-a"][0] eq "1" and not http.cookie contains "s="',
    );
    assert.deepEqual(body.result.unrecorded_fields, ["http.cookie", "http.request.headers"]);
    assert.deepEqual([body.result.matched, body.result.examples.length], [60, 20]);
  });

  test("refuses an expression that takes too many steps for one request", async () => {
    const database = openEventDatabase(server.eventsPath);
    const long = { account_id: server.account_id, zone_id: other, at_ms: START_MS, ray_id: "f".repeat(16), query: "a=b&".repeat(7500) };
    database.insert([packed("requests", [testRequestRow(long)])]);
    database.close();
    const costly = Array.from({ length: 40 }, (_, i) => `any(http.request.uri.args.values[*] matches "(?:a|b|ab){1,9}x${i}$")`).join(
      " or ",
    );
    const path = `/zones/${other}/rulesets/expressions/matches`;
    const { status, body } = await ask(server, "POST", path, { body: { expression: costly, phase: PHASE } });
    assert.deepEqual([status, body.errors[0].source?.pointer], [400, "/expression"]);
    assert.match(body.errors[0].message, /takes too many steps for the request f{16}/);
  });

  test("refuses an invalid expression, a phase without zone rules, and a caller who may not read logs", async () => {
    const broken = await matches("http.host eq");
    assert.deepEqual([broken.status, broken.body.errors[0].source?.pointer], [400, "/expression"]);
    assert.equal((await matches("ssl", { phase: "nothing" })).status, 400);
    const groups = (await ask(server, "GET", "/user/tokens/permission_groups")).body.result as { id: string; name: string }[];
    const policies = [
      {
        effect: "allow",
        resources: { [`com.cloudflare.api.account.zone.${zone}`]: "*" },
        permission_groups: groups.filter(({ name }) => name === "Zone WAF Write").map(({ id }) => ({ id })),
      },
    ];
    const { value } = (await ask(server, "POST", "/user/tokens", { body: { name: "waf only", policies } })).body.result;
    const path = `/zones/${zone}/rulesets/expressions/matches`;
    const refused = await ask(server, "POST", path, { token: value, body: { expression: "ssl", phase: PHASE } });
    assert.equal(refused.status, 403);
  });
});
