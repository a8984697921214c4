import assert from "node:assert/strict";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import Cloudflare from "cloudflare";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";
import { eventually } from "../support/eventually.ts";

/** Rules from the vendor's client to what visitors and the origin see: no restart, and no wait, in between. */
describe("rules saved through the API run at the edge", () => {
  let selvedge: Selvedge;
  let client: Cloudflare;
  let origin: Server;
  let zone_id: string;
  let account_id: string;
  const asked: IncomingMessage[] = [];

  before(async () => {
    origin = createServer((req, res) => {
      asked.push(req);
      res.statusCode = req.url === "/missing" ? 404 : 200;
      res.setHeader("x-powered-by", "origin");
      res.end(`origin: ${req.url}`);
    });
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    selvedge = await startSelvedge({ env: { SELVEDGE_EDGE_WORKERS: "2" } });
    client = new Cloudflare({ apiToken: selvedge.ready.token ?? "", baseURL: selvedge.ready.api, maxRetries: 0 });
    account_id = selvedge.ready.account_id;
    zone_id = (await client.zones.create({ account: { id: account_id }, name: "rules.test" })).id;
    await client.dns.records.create({ zone_id, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
    const { port } = origin.address() as AddressInfo;
    await put("http_request_origin", [{ action: "route", expression: "true", action_parameters: { origin: { port } } }]);
  });

  after(async () => {
    const stopped = await selvedge?.stop();
    origin?.close();
    assert.equal(stopped?.code, 0);
  });

  type Rules = Parameters<Cloudflare["rulesets"]["phases"]["update"]>[1]["rules"];
  const put = async (phase: string, rules: object[], owner: object = { zone_id }): Promise<Ruleset> =>
    (await client.rulesets.phases.update(phase as never, { ...owner, rules: rules as NonNullable<Rules> } as never)) as unknown as Ruleset;

  const get = (
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: IncomingMessage["headers"]; body: string }> =>
    new Promise((resolve, reject) => {
      const url = new URL(path, selvedge.ready.http);
      // A new connection each time, so that both workers have some.
      const req = request(url, { agent: false, headers: { host: "www.rules.test", ...headers } }, (res) => {
        let body = "";
        res.setEncoding("utf8");
        res.on("data", (text: string) => void (body += text));
        res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
      });
      req.on("error", reject);
      req.end();
    });

  test("redirects, transforms and custom errors apply to the next request", async () => {
    const to = {
      from_value: {
        target_url: { expression: 'concat("https://new.rules.test", http.request.uri.path)' },
        status_code: 308,
        preserve_query_string: true,
      },
    };
    await put("http_request_dynamic_redirect", [
      { action: "redirect", expression: 'starts_with(http.request.uri.path, "/moved/")', action_parameters: to },
    ]);
    const moved = await get("/moved/page?a=1");
    assert.deepEqual([moved.status, moved.headers.location], [308, "https://new.rules.test/moved/page?a=1"]);

    await put("http_request_transform", [
      {
        action: "rewrite",
        expression: 'http.request.uri.path eq "/Index"',
        action_parameters: { uri: { path: { value: "/index.html" } } },
      },
    ]);
    const set = (name: string, value: string) => ({ headers: { [name]: { operation: "set", value } } });
    await put("http_request_late_transform", [{ action: "rewrite", expression: "true", action_parameters: set("X-Level", "account") }], {
      account_id,
    });
    await put("http_request_late_transform", [{ action: "rewrite", expression: "true", action_parameters: set("X-Level", "zone") }]);
    await put("http_response_headers_transform", [
      { action: "rewrite", expression: "true", action_parameters: { headers: { "X-Powered-By": { operation: "remove" } } } },
    ]);
    const rewritten = await get("/Index?q");
    assert.deepEqual([rewritten.body, rewritten.headers["x-powered-by"]], ["origin: /index.html?q", undefined]);
    assert.equal(asked.at(-1)?.headers["x-level"], "zone");

    await put("http_custom_errors", [
      { action: "serve_error", expression: "http.response.code eq 404", action_parameters: { content: "<h1>Lost?</h1>" } },
    ]);
    assert.deepEqual([(await get("/missing")).status, (await get("/missing")).body], [404, "<h1>Lost?</h1>"]);
  });

  test("a list and a custom ruleset of the account run with an exception, and write events", async () => {
    const phase = "http_request_firewall_custom";
    const list = await client.rules.lists.create({ account_id, name: "agents", kind: "hostname" });
    const operation = await client.rules.lists.items.create(list.id ?? "", {
      account_id,
      body: [{ hostname: { url_hostname: "*.rules.test" } }],
    });
    for (let status = ""; status !== "completed";) {
      status = String((await client.rules.lists.bulkOperations.get(operation.operation_id ?? "", { account_id }))?.status);
      assert.notEqual(status, "failed");
    }
    const custom = (await client.rulesets.create({
      account_id,
      kind: "custom",
      name: "shared",
      phase,
      rules: [{ action: "block", expression: 'http.host in $agents and http.request.uri.path eq "/secret"', description: "no secrets" }],
    })) as unknown as Ruleset;
    await put(phase, [{ action: "execute", expression: "true", action_parameters: { id: custom.id } }], { account_id });
    // The operation's end and the planes' news of it are apart by a moment.
    await eventually(async () => (await get("/secret")).status === 403);
    assert.equal((await get("/open")).status, 200);
    await put(
      phase,
      [
        { action: "skip", expression: 'http.user_agent eq "friend"', action_parameters: { rules: { [custom.id]: [custom.rules[0]?.id] } } },
        { action: "execute", expression: "true", action_parameters: { id: custom.id } },
      ],
      { account_id },
    );
    assert.equal((await get("/secret", { "user-agent": "friend" })).status, 200);
    assert.equal((await get("/secret", { "user-agent": "foe" })).status, 403);
    const trace = (await client.post(`/zones/${zone_id}/rulesets/trace`, { body: { url: "http://www.rules.test/secret" } })) as {
      result: { terminated_by: { rule_id: string } };
    };
    assert.equal(trace.result.terminated_by.rule_id, custom.rules[0]?.id);
    const blockedBy = async (): Promise<string[]> => {
      const { result } = (await client.get(`/zones/${zone_id}/security/events`)) as {
        result: { rule_id: string; action: string; deployed_by: string }[];
      };
      return result.filter(({ action }) => action === "block").map(({ rule_id }) => rule_id);
    };
    await eventually(async () => (await blockedBy()).includes(custom.rules[0]?.id ?? ""));
  });

  test("the threads of the edge count rate limits together", async () => {
    const ratelimit = { characteristics: ["cf.colo.id", "ip.src"], period: 3600, requests_per_period: 20, mitigation_timeout: 3600 };
    await put("http_ratelimit", [{ action: "block", expression: 'http.request.uri.path eq "/often"', ratelimit }]);
    const statuses: number[] = [];
    for (let n = 0; n < 40; n++) statuses.push((await get("/often")).status);
    assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [20, 429]);
    assert.equal((await get("/seldom")).status, 200);
  });
});
