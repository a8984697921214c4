import assert from "node:assert/strict";
import { createServer, request, type Server } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { readUntil } from "../support/eventually.ts";
import { buildMmdb } from "../support/mmdb.ts";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";

/** Visitors by their address on loopback. */
const [OFFICE, FRANCE, BRAZIL] = ["127.0.0.2", "127.0.0.3", "127.0.0.4"] as const;
const PLACES = { [OFFICE]: ["DE", 64496], [FRANCE]: ["FR", 64497], [BRAZIL]: ["BR", 64498] } as const;

/** From the API to what visitors meet, and to the events that say why. */
describe("access rules, lockdowns and user-agent rules at the edge", () => {
  let selvedge: Selvedge;
  let origin: Server;
  let zone: string;
  let account: string;
  let call: ReturnType<typeof apiCaller>;
  const directory = mkdtempSync(join(tmpdir(), "selvedge-tools-"));
  const made: string[] = [];

  before(async () => {
    const places = Object.entries(PLACES).map(([ip, [iso_code, autonomous_system_number]]) => [
      `${ip}/32`,
      { country: { iso_code }, autonomous_system_number },
    ]);
    writeFileSync(join(directory, "places.mmdb"), buildMmdb(Object.fromEntries(places)));
    origin = createServer((_req, res) => res.end("origin"));
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    selvedge = await startSelvedge({ env: { SELVEDGE_EDGE_GEOIP_DATABASES: join(directory, "places.mmdb") } });
    call = apiCaller(selvedge.ready, selvedge.ready.token ?? "");
    account = `/accounts/${selvedge.ready.account_id}`;
    const { id } = await succeed(call("POST", "/zones", { account: { id: selvedge.ready.account_id }, name: "tools.test" }));
    zone = `/zones/${id}`;
    await succeed(call("POST", `${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
    const { port } = origin.address() as AddressInfo;
    await put("http_request_origin", [{ action: "route", expression: "true", action_parameters: { origin: { port } } }]);
  });
  after(async () => {
    const stopped = await selvedge?.stop();
    origin?.close();
    rmSync(directory, { recursive: true, force: true });
    assert.equal(stopped?.code, 0);
  });
  afterEach(async () => {
    for (const path of made.splice(0)) await succeed(call("DELETE", path));
    await put("http_request_firewall_custom", []);
  });

  const put = (phase: string, rules: object[]) => succeed(call("PUT", `${zone}/rulesets/phases/${phase}/entrypoint`, { rules }));
  /** Makes an object that the test's end deletes. */
  const make = async (path: string, body: object): Promise<string> => {
    const { id } = await succeed(call("POST", path, body));
    made.push(`${path}/${id}`);
    return id;
  };
  const access = (owner: string, mode: string, target: string, value: string): Promise<string> =>
    make(`${owner}/firewall/access_rules/rules`, { mode, configuration: { target, value }, notes: `${mode} ${value}` });
  const visit = (ip: string, path = "/", agent = "test"): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { host: "www.tools.test", "user-agent": agent };
      const sent = request(new URL(path, selvedge.ready.http), { agent: false, localAddress: ip, headers }, (res) => {
        res.resume().on("end", () => resolve(res.statusCode ?? 0));
      });
      sent.on("error", reject).end();
    });
  const visits = async (path = "/"): Promise<readonly number[]> => [
    await visit(OFFICE, path),
    await visit(FRANCE, path),
    await visit(BRAZIL, path),
  ];

  test("access rules of zone and account block an address, a range, an AS and a country", async () => {
    for (const owner of [zone, account]) {
      for (const [target, value] of [
        ["ip", FRANCE],
        ["ip_range", `${FRANCE}/32`],
        ["asn", "as64497"],
        ["country", "fr"],
      ] as const) {
        await access(owner, "block", target, value);
        assert.deepEqual(await visits(), [200, 403, 200], `${owner} ${target}`);
        await succeed(call("DELETE", made.pop() ?? ""));
        assert.deepEqual(await visits(), [200, 200, 200]);
      }
    }
  });

  test("an allowed visitor skips the other rules, and a challenge rule challenges", async () => {
    const custom = { action: "block", expression: "true", description: "everybody" };
    await put("http_request_firewall_custom", [custom]);
    await access(zone, "block", "ip_range", "127.0.0.0/8");
    await access(account, "block", "country", "FR");
    await access(zone, "whitelist", "asn", "AS64496");
    await access(zone, "managed_challenge", "ip", BRAZIL);
    assert.deepEqual(await visits(), [200, 403, 403]);
    await put("http_request_firewall_custom", []);
    const id = await access(account, "whitelist", "ip", FRANCE);
    assert.deepEqual(await visits(), [200, 200, 403]);
    await succeed(call("PATCH", `${account}/firewall/access_rules/rules/${id}`, { mode: "js_challenge" }));
    assert.deepEqual(await visits(), [200, 403, 403]);
  });

  test("managed rules apply to an allowed country, and not to an allowed address", async () => {
    await put("http_request_firewall_managed", [
      { action: "execute", action_parameters: { id: "efb7b8c949ac4650a09736fc376e9aee" }, expression: "true" },
    ]);
    const attack = `/?q=${encodeURIComponent("1' union select password from users--")}`;
    assert.deepEqual(await visits(attack), [403, 403, 403]);
    await access(zone, "whitelist", "country", "FR");
    await access(zone, "whitelist", "ip", BRAZIL);
    assert.deepEqual(await visits(attack), [403, 403, 200]);
    await put("http_request_firewall_managed", []);
  });

  test("a lockdown admits only its addresses to its URLs, even if other rules are skipped", async () => {
    const urls = ["www.tools.test/admin*"];
    await make(`${zone}/firewall/lockdowns`, { urls, configurations: [{ target: "ip", value: OFFICE }] });
    assert.deepEqual(
      [await visits("/admin/x"), await visits("/")],
      [
        [200, 403, 403],
        [200, 200, 200],
      ],
    );
    await access(zone, "whitelist", "ip", FRANCE);
    await put("http_request_firewall_custom", [{ action: "skip", expression: "true", action_parameters: { phase: "current" } }]);
    assert.deepEqual(await visits("/admin/x"), [200, 403, 403]);
    await put("http_request_firewall_custom", [
      { action: "skip", expression: `ip.src eq ${BRAZIL}`, action_parameters: { products: ["zoneLockdown"] } },
    ]);
    assert.deepEqual(await visits("/admin/x"), [200, 403, 200]);
  });

  test("the lockdown with the lowest priority decides alone, and without priorities each one must admit", async () => {
    const lock = (url: string, ip: string, more: object = {}) =>
      make(`${zone}/firewall/lockdowns`, { urls: [url], configurations: [{ target: "ip_range", value: `${ip}/32` }], ...more });
    await lock("www.tools.test/*", OFFICE);
    await lock("www.tools.test/team*", FRANCE);
    assert.deepEqual(
      [await visits("/"), await visits("/team")],
      [
        [200, 403, 403],
        [403, 403, 403],
      ],
    );
    await lock("www.tools.test/team*", BRAZIL, { priority: 5 });
    assert.deepEqual(await visits("/team"), [403, 403, 200]);
    const paused = await lock("www.tools.test/team*", FRANCE, { priority: 1, paused: true });
    assert.deepEqual(await visits("/team"), [403, 403, 200]);
    const body = { urls: ["www.tools.test/team*"], configurations: [{ target: "ip", value: FRANCE }], priority: 1 };
    await succeed(call("PUT", `${zone}/firewall/lockdowns/${paused}`, body));
    assert.deepEqual(await visits("/team"), [403, 200, 403]);
  });

  test("a user agent is blocked by its exact text", async () => {
    const agent = String.raw`Bad "bot" \1`;
    const id = await make(`${zone}/firewall/ua_rules`, { mode: "block", configuration: { target: "ua", value: agent } });
    assert.deepEqual(
      [await visit(OFFICE, "/", agent), await visit(OFFICE, "/", `${agent} `.trim().toLowerCase()), await visit(OFFICE)],
      [403, 200, 200],
    );
    await put("http_request_firewall_custom", [{ action: "skip", expression: "true", action_parameters: { products: ["uaBlock"] } }]);
    assert.equal(await visit(OFFICE, "/", agent), 200);
    await put("http_request_firewall_custom", []);
    const body = { mode: "block", configuration: { target: "ua", value: agent }, paused: true };
    await succeed(call("PUT", `${zone}/firewall/ua_rules/${id}`, body));
    assert.equal(await visit(OFFICE, "/", agent), 200);
  });

  test("events name the service and the rule, and a filter by the vendor's source finds them", async () => {
    const rules = {
      ip: await access(zone, "block", "ip", BRAZIL),
      country: await access(account, "block", "country", "FR"),
      zonelockdown: await make(`${zone}/firewall/lockdowns`, {
        urls: ["www.tools.test/locked"],
        configurations: [{ target: "ip", value: FRANCE }],
      }),
      uablock: await make(`${zone}/firewall/ua_rules`, { mode: "block", configuration: { target: "ua", value: "noted" } }),
    };
    await visits("/locked");
    await visit(OFFICE, "/", "noted");
    for (const [source, id] of Object.entries(rules)) {
      const query = `query ($zone: string!, $source: string!) { viewer { zones(filter: { zoneTag: $zone }) {
        firewallEventsAdaptive(limit: 10, filter: { datetime_gt: "2020-01-01T00:00:00Z", source: $source, ruleId: "${id}" }) { ruleId action source } } } }`;
      const read = async (): Promise<any[]> => {
        const answer: any = await call("POST", "/graphql", { query, variables: { zone: zone.slice("/zones/".length), source } });
        return answer.body.data.viewer.zones[0].firewallEventsAdaptive;
      };
      const found = await readUntil(read, (events) => events.length === 1);
      assert.deepEqual([found[0].ruleId, found[0].action], [id, "block"], source);
    }
  });

  test("a duplicate or invalid address, network or country is refused", async () => {
    const path = `${zone}/firewall/access_rules/rules`;
    const rule = (target: string, value: string) => ({ mode: "block", configuration: { target, value } });
    await access(zone, "block", "ip", "2001:DB8:0::1");
    const refused = async (target: string, value: string) => {
      const { body } = await call("POST", path, rule(target, value));
      return (body as any).errors[0]?.code;
    };
    assert.equal(await refused("ip6", "2001:db8::1"), 10009);
    for (const [target, value] of [
      ["ip", "127.0.0.0/8"],
      ["ip_range", "127.0.0.1/33"],
      ["asn", "ASX"],
      ["asn", "AS4294967296"],
      ["country", "DEU"],
    ] as const)
      assert.equal(await refused(target, value), 10451, value);
    const list = (await call("GET", `${path}?configuration.target=ip6`)).body as any;
    assert.deepEqual(
      list.result.map(({ configuration }: any) => configuration),
      [{ target: "ip6", value: "2001:db8::1" }],
    );
  });
});
