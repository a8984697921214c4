import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { LLMock } from "@copilotkit/aimock";
import Cloudflare from "cloudflare";
import OpenAI from "openai";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";
import { readUntil } from "../support/eventually.ts";

const run = promisify(execFile);
const SENSITIVE_DATA_RULESET = "e22d83c647c64a3eae91b71b499d988e";
const RESPONSE_PHASE = "http_response_firewall_managed";
const CARD_PAGE = "<html><body>Paid with 4012 8888 8888 1881, thank you.</body></html>";

/** The first story a user lives through, on real sockets, without a restart in between. */
describe("story: from an empty directory to every plane", () => {
  let selvedge: Selvedge;
  let client: Cloudflare;
  let origin: Server;
  let originPort: number;
  let provider: LLMock;
  let zoneId: string;
  let recordId: string;
  const originSaw: { host: string | undefined; path: string | undefined }[] = [];

  const dig = async (...args: string[]): Promise<string[]> => {
    const [host, port] = selvedge.ready.dns.split(":") as [string, string];
    const { stdout } = await run("dig", [`@${host}`, "-p", port, "+short", "+tries=1", "+time=30", ...args]);
    return stdout.trim().split("\n").filter(Boolean);
  };

  const call = async (path: string, init: RequestInit = {}): Promise<{ status: number; headers: Headers; body: any }> => {
    const res = await fetch(selvedge.ready.api + path, {
      ...init,
      headers: { authorization: `Bearer ${selvedge.ready.token}`, "content-type": "application/json", ...init.headers },
    });
    return { status: res.status, headers: res.headers, body: await res.json() };
  };

  before(async () => {
    origin = createServer((req, res) => {
      originSaw.push({ host: req.headers.host, path: req.url });
      res.setHeader("content-type", "text/html; charset=utf-8");
      res.end(req.url === "/card" ? CARD_PAGE : "<p>hello from the origin</p>");
    });
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    originPort = (origin.address() as AddressInfo).port;
    provider = new LLMock({ port: 0 });
    provider.onMessage("hello", { content: "Hi there!" });
    await provider.start();
    selvedge = await startSelvedge({ args: ["--provider", `openai=${provider.url}/v1`, "--deprecations-negotiate"] });
    client = new Cloudflare({ apiToken: selvedge.ready.token, baseURL: selvedge.ready.api, maxRetries: 0 });
  });

  after(async () => {
    const stopped = await selvedge?.stop();
    await provider?.stop();
    origin?.close();
    origin?.closeAllConnections();
    assert.equal(stopped?.code, 0, "SIGTERM drains and exits 0");
  });

  test("the first start prints its addresses, and once the token and the account", () => {
    assert.match(selvedge.ready.api, /^http:\/\/127\.0\.0\.1:\d+\/client\/v4$/);
    assert.match(selvedge.ready.gateway, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.match(selvedge.ready.dns, /^127\.0\.0\.1:\d+$/);
    assert.match(selvedge.ready.account_id, /^[0-9a-f]{32}$/);
    assert.match(selvedge.ready.token ?? "", /^[A-Za-z0-9_-]{40}$/);
    assert.equal(typeof selvedge.ready.took_ms, "number");
  });

  test("1: the SDK creates a zone and a proxied A record with a loopback origin", async () => {
    const zone = await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "shop.example", type: "full" });
    zoneId = zone.id;
    assert.equal(zone.name, "shop.example");
    const record = await client.dns.records.create({
      zone_id: zoneId,
      type: "A",
      name: "www",
      content: "127.0.0.1",
      ttl: 1,
      proxied: true,
    });
    recordId = record.id;
    assert.equal(record.name, "www.shop.example");
    assert.equal(record.proxied, true);
  });

  test("2: dig gets edge addresses for a proxied record and the stored address otherwise, over UDP and TCP", async (t) => {
    const skip = toolOrSkip("dig");
    if (skip) return t.skip(skip);
    await client.dns.records.create({ zone_id: zoneId, type: "A", name: "direct", content: "192.0.2.7", ttl: 120, proxied: false });
    for (const transport of ["+notcp", "+tcp"]) {
      assert.deepEqual(await dig(transport, "www.shop.example", "A"), ["127.0.0.1"]);
      assert.deepEqual(await dig(transport, "direct.shop.example", "A"), ["192.0.2.7"]);
    }
    await client.dns.records.edit(recordId, { zone_id: zoneId, type: "A", name: "www", content: "192.0.2.9", ttl: 1, proxied: true });
    assert.deepEqual(await dig("www.shop.example", "A"), ["127.0.0.1"], "a proxied name hides its origin");
    await client.dns.records.edit(recordId, { zone_id: zoneId, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  });

  test("3: curl goes through the edge to the origin over HTTP/1.1 and HTTPS", async (t) => {
    const skip = toolOrSkip("curl");
    if (skip) return t.skip(skip);
    await client.rulesets.phases.update("http_request_origin", {
      zone_id: zoneId,
      rules: [
        { action: "route", action_parameters: { origin: { port: originPort } }, expression: "true", description: "development origin" },
      ],
    } as never);
    const http = new URL(selvedge.ready.http);
    const plain = await run("curl", ["-sS", "-i", "--max-time", "120", "-H", "Host: www.shop.example", `${http.origin}/plain`]);
    assert.match(plain.stdout, /^HTTP\/1\.1 200 /);
    assert.match(plain.stdout, /hello from the origin/);
    const port = new URL(selvedge.ready.https).port;
    const secure = await run("curl", [
      "-sS",
      "-i",
      "--http1.1",
      "--max-time",
      "60",
      "--cacert",
      join(selvedge.dataDir, "ca.pem"),
      "--resolve",
      `www.shop.example:${port}:127.0.0.1`,
      `https://www.shop.example:${port}/secure`,
    ]);
    assert.match(secure.stdout, /^HTTP\/1\.1 200 /);
    assert.match(secure.stdout, /hello from the origin/);
    assert.deepEqual(
      originSaw.map((seen) => seen.path),
      ["/plain", "/secure"],
    );
    assert.ok(originSaw.every((seen) => seen.host?.startsWith("www.shop.example")));
  });

  test("4, SPEC 1.3: sensitive data detection, enabled as in SPEC 4.5, logs a card number and does not change the page", async () => {
    const absent = await call(`/zones/${zoneId}/rulesets/phases/${RESPONSE_PHASE}/entrypoint`);
    assert.equal(absent.status, 404);
    assert.equal(absent.body.success, false);
    const created = await call(`/zones/${zoneId}/rulesets`, {
      method: "POST",
      body: JSON.stringify({
        name: "Sensitive data",
        description: "",
        kind: "zone",
        phase: RESPONSE_PHASE,
        rules: [
          {
            action: "execute",
            action_parameters: { id: SENSITIVE_DATA_RULESET },
            expression: "true",
            description: "Detect sensitive data",
          },
        ],
      }),
    });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    assert.equal(created.body.result.rules[0].enabled, true);
    assert.equal(created.body.result.rules[0].action_parameters.version, "latest");
    const present = await call(`/zones/${zoneId}/rulesets/phases/${RESPONSE_PHASE}/entrypoint`);
    assert.equal(present.status, 200);
    assert.equal(present.body.result.id, created.body.result.id);

    const http = new URL(selvedge.ready.http);
    const page = await run("curl", ["-sS", "--max-time", "120", "-H", "Host: www.shop.example", `${http.origin}/card`]);
    assert.equal(page.stdout, CARD_PAGE, "the visitor gets the page untouched");

    const events = await readUntil(
      async () => {
        const list = await call(`/zones/${zoneId}/security/events?ruleset_id=${SENSITIVE_DATA_RULESET}`);
        assert.equal(list.status, 200, JSON.stringify(list.body));
        return list.body.result;
      },
      ({ length }) => length > 0,
    );
    assert.equal(events.length, 1);
    assert.equal(events[0].action, "log");
    assert.equal(events[0].path, "/card");
    assert.ok(!JSON.stringify(events).includes("1881"), "the matched text is never stored");
  });

  test("5: the OpenAI SDK works through an authenticated gateway; a refused request writes no row, an accepted one exactly one", async () => {
    const account_id = selvedge.ready.account_id;
    await client.aiGateway.create({
      account_id,
      id: "main",
      authentication: true,
      cache_invalidate_on_update: false,
      cache_ttl: null,
      collect_logs: true,
      rate_limiting_interval: null,
      rate_limiting_limit: null,
    } as never);
    const baseURL = `${selvedge.ready.gateway}/v1/${account_id}/main/openai`;
    const logs = async (): Promise<any[]> => (await call(`/accounts/${account_id}/ai-gateway/gateways/main/logs`)).body.result;
    const chat = (openai: OpenAI): Promise<OpenAI.ChatCompletion> =>
      openai.chat.completions.create({ model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] });

    await assert.rejects(chat(new OpenAI({ apiKey: "sk-provider", baseURL, maxRetries: 0 })), { status: 401 });
    assert.equal(provider.getRequests().length, 0, "nothing reached the provider");

    const answer = await chat(
      new OpenAI({ apiKey: "sk-provider", baseURL, maxRetries: 0, defaultHeaders: { "svc-aig-token": `Bearer ${selvedge.ready.token}` } }),
    );
    assert.equal(answer.choices[0]?.message.content, "Hi there!");
    assert.equal(provider.getRequests().length, 1);

    const rows = await readUntil(logs, ({ length }) => length > 0);
    assert.equal(rows.length, 1);
    assert.equal(rows[0].provider, "openai");
    assert.equal(rows[0].model, "gpt-4o-mini");
    assert.equal(rows[0].success, true);
    assert.equal(rows[0].tokens_out, answer.usage?.completion_tokens);
  });

  test("6, SPEC 1.6: the API date decides whether a DNS record shows zone_id and zone_name", async () => {
    const path = `/zones/${zoneId}/dns_records/${recordId}`;
    const before = await call(path, { headers: { "api-version": "2024-11-29" } });
    assert.equal(before.body.result.zone_id, zoneId);
    assert.equal(before.body.result.zone_name, "shop.example");
    assert.equal(before.headers.get("api-version"), "2024-11-29");
    assert.ok(before.headers.get("deprecation") && before.headers.get("sunset"), "before its date a row announces itself");
    const on = await call(path, { headers: { "api-version": "2024-11-30" } });
    assert.ok(!("zone_id" in on.body.result) && !("zone_name" in on.body.result));
    const today = await call(path);
    assert.ok(!("zone_id" in today.body.result) && !("zone_name" in today.body.result));
  });
});

describe("story: a pinned API date", () => {
  for (const [day, shown] of [
    ["2024-11-29", true],
    ["2024-11-30", false],
  ] as const) {
    test(`deprecations.as_of ${day}`, async () => {
      const selvedge = await startSelvedge({ env: { SELVEDGE_DEPRECATIONS_AS_OF: day } });
      try {
        const client = new Cloudflare({ apiToken: selvedge.ready.token, baseURL: selvedge.ready.api, maxRetries: 0 });
        const zone = await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "dated.example", type: "full" });
        const record = await client.dns.records.create({ zone_id: zone.id, type: "TXT", name: "@", content: '"hello"', ttl: 300 });
        assert.equal("zone_id" in record, shown);
        assert.equal("zone_name" in record, shown);
      } finally {
        await selvedge.stop();
      }
    });
  }
});
