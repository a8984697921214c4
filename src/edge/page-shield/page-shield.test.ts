import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { exchangeRaw, httpOrigin, routeOp, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { recordOp, zoneOp } from "#edge/testing/entries.ts";
import { compilePagePolicies } from "#control/previous-waf/compile-tools.ts";
import { PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
import type { PageSighting, SeenResource } from "#kernel/process/page-sighting.ts";
import type { RulesetEntry } from "#snapshot/entries.ts";
import { fixedClock } from "#kernel/clock.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { fc } from "../../../test/support/property.ts";
import { readCspReports } from "./csp-reports.ts";
import { readSetCookie } from "./set-cookie.ts";
import { createSightings } from "./sightings.ts";

const HOST = "www.example.com";
const PATH = "/cdn-cgi/script_monitor/report";
const old = (blocked: string, directive = "script-src-elem", page = `http://${HOST}/shop?card=4111`) =>
  JSON.stringify({
    "csp-report": { "document-uri": page, "blocked-uri": blocked, "effective-directive": directive, "violated-directive": directive },
  });

describe("Page Shield at the edge", () => {
  let origin: TestOrigin;
  let edge: TestEdge;
  const asked: string[] = [];
  const zone = (id: string, name: string, page_shield: object | null) => zoneOp(id, name, { edge: { page_shield } as never });
  const policy = { description: "", expression: 'http.request.uri.path eq "/guarded"', enabled: true, value: "script-src 'self'" };
  const { phase, service } = PREVIOUS_SLOTS.page_shield;
  const rules = compilePagePolicies(
    (["allow", "log", "add_reporting_directives"] as const).map((action) => ({ ...policy, id: action, action })),
    true,
  );
  const slot: RulesetEntry = {
    level: "zone",
    owner_id: "zone",
    account_id: "account",
    kind: "zone",
    phase,
    slot: "page_shield",
    name: service,
    version: "1",
    rules,
  };

  before(async () => {
    origin = await httpOrigin((req, res) => {
      asked.push(req.url ?? "");
      const type = req.url === "/data" ? "application/json" : "text/html; charset=utf-8";
      const own = req.url === "/guarded" ? { "content-security-policy": "img-src *" } : {};
      const cookies = ["id=secret-value; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60", "=nameless"];
      res.writeHead(200, { "content-type": type, "set-cookie": cookies, ...own }).end("<p>page</p>");
    });
    edge = await startEdge([
      zone("zone", "example.com", { connection_paths: false }),
      recordOp("www", "zone", HOST, "A", "127.0.0.1"),
      routeOp(origin.port),
      { kind: "ruleset", id: "zone/page_shield", value: slot },
    ]);
  });
  after(async () => {
    assert.deepEqual(edge.errors, []);
    await edge.close();
    origin.close();
  });

  const get = (path: string) => exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
  const post = (path: string, body: string) =>
    exchangeRaw(
      edge.http,
      `POST ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  const urls = (): string[] => edge.sightings.filter((one): one is SeenResource => one.kind !== "cookie").map(({ url }) => url);

  test("pages ask browsers for reports, and other responses do not", async () => {
    assert.match(
      await get("/"),
      /\r\nContent-Security-Policy-Report-Only: script-src 'unsafe-inline' 'unsafe-eval'; connect-src 'none'; report-uri \/cdn-cgi\//,
    );
    assert.doesNotMatch(await get("/data"), /Content-Security-Policy/);
  });

  test("a report becomes a sighting without queries, and the origin does not get it", async () => {
    const before = asked.length;
    assert.match(await post(PATH, old("https://cdn.example/lib.js?key=s3cret")), /^HTTP\/1\.1 204 /);
    assert.match(await post(PATH, old("wss://live.example/feed?token=s3cret", "connect-src")), /^HTTP\/1\.1 204 /);
    const modern = [
      {
        type: "csp-violation",
        body: { documentURL: `http://${HOST}/a`, blockedURL: "https://new.example/x.js", effectiveDirective: "script-src-elem" },
      },
    ];
    await post(PATH, JSON.stringify(modern));
    await eventually(() => urls().length === 3);
    assert.deepEqual(urls(), ["https://cdn.example/lib.js", "wss://live.example/", "https://new.example/x.js"]);
    assert.ok(!JSON.stringify(edge.sightings).includes("s3cret") && !JSON.stringify(edge.sightings).includes("4111"));
    assert.equal(asked.length, before);
  });

  test("reports about other names, other directives, inline scripts and other content are answered and ignored", async () => {
    const before = urls().length;
    const bad = [
      old("https://a.example/x.js", "script-src", "https://other.example/"),
      old("https://a.example/x.png", "img-src"),
      old("inline"),
    ];
    for (const body of [...bad, "", "[]", "null", "{", '{"csp-report":7}', "[".repeat(10_000)])
      assert.match(await post(PATH, body), /^HTTP\/1\.1 204 /, body.slice(0, 40));
    assert.match(await post(PATH, "x".repeat(70_000)), /^HTTP\/1\.1 413 /);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    assert.equal(urls().length, before);
  });

  test("cookies are seen with their attributes and without their values", async () => {
    await get("/");
    await eventually(() => edge.sightings.some(({ kind }) => kind === "cookie"));
    const cookies = edge.sightings.filter(({ kind }) => kind === "cookie");
    assert.equal(cookies.length, 1);
    const { name, attributes } = cookies[0] as Extract<PageSighting, { kind: "cookie" }>;
    assert.deepEqual([name, attributes], ["id", { path: "/", max_age: 60, secure: true, http_only: true, same_site: "lax" }]);
    assert.ok(!JSON.stringify(edge.sightings).includes("secret-value"));
  });

  test("the target of OPTIONS and odd paths are passed on", async () => {
    const asking = (line: string) => exchangeRaw(edge.http, `${line} HTTP/1.1\r\nHost: ${HOST}:8080\r\nConnection: close\r\n\r\n`);
    for (const line of ["OPTIONS *", "GET /%ff%00x", "GET //", "GET /a:b@c", "GET /" + "x".repeat(7_000), "HEAD /"])
      assert.match(await asking(line), /^HTTP\/1\.1 [24]/, line.slice(0, 20));
  });

  test("policies are sent with the pages that match, and violations are events of their policy", async () => {
    const head = (await get("/guarded")).split("\r\n\r\n", 1)[0]!;
    const fields = head.split("\r\n").filter((line) => /^content-security-policy: /i.test(line));
    assert.deepEqual(
      fields.map((line) => line.replace(/^[^:]*: /, "")),
      [`img-src *; report-uri ${PATH}?policy=add_reporting_directives`, `script-src 'self'; report-uri ${PATH}?policy=allow`],
    );
    assert.match(head, new RegExp(`Content-Security-Policy-Report-Only: script-src 'self'; report-uri ${PATH}\\?policy=log`));
    assert.doesNotMatch(await get("/free"), /policy=/);

    const before = edge.security.length;
    await post(`${PATH}?policy=log`, old("https://evil.example/x.js?id=1"));
    await post(`${PATH}?policy=unknown`, old("https://evil.example/x.js"));
    await eventually(() => edge.security.length > before);
    const events = edge.security.slice(before);
    assert.deepEqual(
      events.map((event) => [event.rule_id, event.action, event.service, event.matches[0]?.part, event.matches[0]?.name]),
      [["log", "log", "Page Shield", "script-src-elem", "https://evil.example"]],
    );
  });

  test("without the setting, the origin gets the request, and pages stay as they are", async () => {
    edge.replica.apply([zone("zone", "example.com", null)]);
    assert.doesNotMatch(await get("/"), /script-src 'unsafe-inline'/);
    const before = asked.length;
    assert.match(await post(PATH, old("https://late.example/x.js")), /^HTTP\/1\.1 200 /);
    assert.equal(asked.length, before + 1);
    edge.replica.apply([zone("zone", "example.com", { connection_paths: false })]);
  });
});

test("readers of reports and cookies take any text", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      for (const { blocked, page } of readCspReports(text)) assert.ok(blocked.host !== "" && page.host !== "");
      const cookie = readSetCookie(text);
      assert.ok(cookie === null || (cookie.name !== "" && !cookie.name.includes("=")));
    }),
  );
});

test("a zone's made-up reports reach control at a bounded rate, and repeated ones rarely", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const sent: PageSighting[] = [];
  const sightings = createSightings(clock, (some) => void sent.push(...some));
  const seen = (zone_id: string, n: number) =>
    ({ kind: "script", zone_id, host: "a", url: `https://a/${n}`, page_url: "", at_ms: 0 }) as const;
  for (let n = 0; n < 1_000; n++) sightings.add(seen("flood", n));
  for (let n = 0; n < 3; n++) sightings.add(seen("calm", 7));
  t.mock.timers.tick(1_000);
  assert.deepEqual(
    [sent.filter(({ zone_id }) => zone_id === "flood").length, sent.filter(({ zone_id }) => zone_id === "calm").length],
    [20, 1],
  );
  clock.advance(600_000);
  sightings.add(seen("calm", 7));
  t.mock.timers.tick(1_000);
  assert.equal(sent.filter(({ zone_id }) => zone_id === "calm").length, 2);
  const allowed = Array.from({ length: 50 }, () => sightings.may("flood", "page")).filter(Boolean).length;
  assert.deepEqual([allowed, sightings.may("calm", "page")], [10, true]);
  sightings.close();
});
