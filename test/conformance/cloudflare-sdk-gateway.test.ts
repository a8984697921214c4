import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import Cloudflare from "cloudflare";
import { LLMock } from "@copilotkit/aimock";
import { eventually } from "../support/eventually.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { all, failing } from "../support/vendor-client.ts";

// Every method of the vendor's own client for gateways but those of its bills, against a server from a fresh data directory.
let selvedge: Selvedge;
let mock: LLMock;
let client: Cloudflare;
let account_id: string;
const called = new Set<string>();

const PLAIN = {
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
const CHAT = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] };

before(async () => {
  mock = new LLMock({ port: 0, logLevel: "silent" });
  mock.onMessage("hello", { content: "Hi there." });
  await mock.start();
  selvedge = await startSelvedge({ args: ["--provider", `openai=${mock.url}/v1`, "--provider", `groq=${mock.url}/v1`] });
  account_id = selvedge.ready.account_id;
  client = new Cloudflare({ apiToken: selvedge.ready.token ?? "", baseURL: selvedge.ready.api, maxRetries: 0 });
  for (const [name, resource] of resources()) watch(name, resource);
});
after(async () => {
  await selvedge?.stop();
  await mock?.stop();
});

type Resource = Record<string, (...parts: unknown[]) => unknown>;

/** `aiGateway` and what hangs below it, without the bills of a service that is rented. */
function resources(): [string, Resource][] {
  const below = Object.entries(client.aiGateway).filter(
    ([name, value]) => name !== "billing" && !name.startsWith("_") && typeof value === "object",
  );
  return [["", client.aiGateway as unknown as Resource], ...below] as [string, Resource][];
}

/** Methods of its class and of its base classes, up to the common resource class. */
function methodsOf(resource: Resource): string[] {
  const names: string[] = [];
  for (
    let type: object | null = Object.getPrototypeOf(resource);
    type !== null && type !== Object.prototype;
    type = Object.getPrototypeOf(type)
  )
    names.push(...Object.getOwnPropertyNames(type).filter((name) => name !== "constructor"));
  return names;
}

/** Notes what is called of it. */
function watch(name: string, resource: Resource): void {
  for (const method of methodsOf(resource)) {
    const call = (resource[method] as Resource[string]).bind(resource);
    resource[method] = (...parts) => {
      called.add(`${name}.${method}`);
      return call(...parts);
    };
  }
}

const ask = (gateway: string, headers: Record<string, string> = {}, body: object = CHAT): Promise<Response> =>
  fetch(`${selvedge.ready.gateway}/v1/${account_id}/${gateway}/openai/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer provider-key", ...headers },
    body: JSON.stringify(body),
  });

describe("the client's resource aiGateway", () => {
  test("gateways: create, get, list, update and delete", async () => {
    const { aiGateway } = client;
    const created = await aiGateway.create({ account_id, id: "walk", ...PLAIN, retry_max_attempts: 3, rate_limiting_technique: "sliding" });
    assert.deepEqual([created.id, created.authentication, created.retry_max_attempts], ["walk", false, 3]);
    await aiGateway.create({ account_id, id: "other", ...PLAIN });
    assert.deepEqual(await aiGateway.get("walk", { account_id }), created);
    const otel = [{ url: "https://collector.example/v1/traces", headers: { "x-key": "secret" }, authorization: "Bearer secret" }];
    const updated = await aiGateway.update("walk", {
      account_id,
      ...PLAIN,
      otel,
      dlp: { enabled: false, action: "FLAG", profiles: [] },
      guardrails: { prompt: {}, response: {} },
      spend_limits: { enabled: true, rules: [{ limit: 100, limitType: "cost", window: 60 }] },
    });
    assert.deepEqual([updated.retry_max_attempts, updated.guardrails], [3, { prompt: {}, response: {} }]);
    assert.doesNotMatch(JSON.stringify(updated.otel), /secret/);
    assert.deepEqual(await aiGateway.get("walk", { account_id }), updated);
    await aiGateway.update("walk", { account_id, ...PLAIN, otel: null, spend_limits: null });
    assert.deepEqual(
      (await all(aiGateway.list({ account_id, search: "wal", per_page: 1 }))).map(({ id }) => id),
      ["walk"],
    );
    assert.equal((await all(aiGateway.list({ account_id, per_page: 1 }))).length, 2);
    assert.equal((await aiGateway.delete("other", { account_id })).id, "other");
    await assert.rejects(aiGateway.get("other", { account_id }), failing(404, 7002));
  });

  test("gateways: wrong input is refused with a pointer to the field", async () => {
    const create = (more: object) => client.aiGateway.create({ account_id, id: "wrong", ...PLAIN, ...more });
    for (const [more, pointer] of [
      [{ id: "a b" }, "/id"],
      [{ id: "walk" }, "/id"],
      [{ cache_ttl: -1 }, "/cache_ttl"],
      [{ cache_ttl: undefined }, "/cache_ttl"],
      [{ collect_logs: "yes" }, "/collect_logs"],
      [{ log_management: 5 }, "/log_management"],
      [{ log_management_strategy: "SOMETIMES" }, "/log_management_strategy"],
      [{ retry_delay: 5001 }, "/retry_delay"],
      [{ retry_max_attempts: 6 }, "/retry_max_attempts"],
      [{ logpush: "yes" }, "/logpush"],
      [{ logpush_public_key: "k".repeat(64) }, "/logpush_public_key"],
      [{ zdr: true }, "/zdr"],
      [{ otel: [{ url: "no address" }] }, "/otel/0/url"],
      [{ guardrails: { prompt: { S1: "BLOCK" }, response: {} } }, "/guardrails"],
      [{ dlp: { enabled: true, action: "BLOCK", profiles: ["none"] } }, "/dlp"],
    ] as const)
      await assert.rejects(create(more), failing(400, 7001, pointer), JSON.stringify(more));
    await assert.rejects(client.aiGateway.update("absent", { account_id, ...PLAIN }), failing(404, 7002));
    await assert.rejects(client.aiGateway.delete("absent", { account_id }), failing(404, 7002));
    await assert.rejects(client.aiGateway.get("absent", { account_id }), failing(404, 7002));
    assert.deepEqual(await all(client.aiGateway.list({ account_id, search: "wrong" })), [], "nothing of it was kept");
  });

  test("logs: list, filter, get, bodies and feedback", async () => {
    const { logs } = client.aiGateway;
    const answer = await ask("walk", { "cf-aig-metadata": '{"team":"red"}' });
    assert.equal(answer.status, 200);
    const id = answer.headers.get("cf-aig-log-id") ?? "";
    await answer.text();
    await (await ask("walk")).text();
    const listed = await all(logs.list("walk", { account_id, per_page: 1, order_by: "created_at", order_by_direction: "asc" }));
    assert.deepEqual([listed.length, listed[0]?.id, listed[0]?.provider, listed[0]?.model], [2, id, "openai", "gpt-4o-mini"]);
    const filtered = logs.list("walk", {
      account_id,
      filters: [{ key: "metadata.value", operator: "eq", value: ["red"] }],
      meta_info: true,
    });
    assert.deepEqual(
      (await all(filtered)).map((log) => log.id),
      [id],
    );
    assert.deepEqual(await all(logs.list("walk", { account_id, search: "nothing like it", cached: true, min_cost: 1 })), []);
    assert.deepEqual(await logs.edit(id, { account_id, gateway_id: "walk", feedback: 1, score: 90, metadata: { team: "blue" } }), {});
    const detail = (await logs.get(id, { account_id, gateway_id: "walk" })) as unknown as Record<string, unknown>;
    assert.deepEqual([detail["feedback"], detail["score"], detail["success"], detail["request_head_complete"]], [1, 90, true, true]);
    assert.deepEqual(await logs.request(id, { account_id, gateway_id: "walk" }), CHAT);
    const body = (await logs.response(id, { account_id, gateway_id: "walk" })) as { choices: [{ message: { content: string } }] };
    assert.equal(body.choices[0].message.content, "Hi there.");
    await assert.rejects(logs.get("01ARZ3NDEKTSV4RRFFQ69G5FAV", { account_id, gateway_id: "walk" }), failing(404, 7002));
    await assert.rejects(logs.request("01ARZ3NDEKTSV4RRFFQ69G5FAV", { account_id, gateway_id: "walk" }), failing(404, 7002));
    await assert.rejects(logs.edit(id, { account_id, gateway_id: "walk", feedback: 7 }), failing(400, 7001, "/feedback"));
    await assert.rejects(all(logs.list("absent", { account_id })), failing(404, 7002));
    const bad = { account_id, filters: [{ key: "shoe_size", operator: "eq", value: ["1"] }] };
    await assert.rejects(all(logs.list("walk", bad as never)), failing(400, 7001, "/filters/0/key"));
    await logs.delete("walk", { account_id, limit: 1, order_by: "created_at", order_by_direction: "asc" });
    assert.equal((await all(logs.list("walk", { account_id }))).length, 1);
    await assert.rejects(logs.get(id, { account_id, gateway_id: "walk" }), failing(404, 7002));
  });

  test("datasets and evaluations", async () => {
    const { datasets, evaluations, evaluationTypes } = client.aiGateway;
    const filters = [{ key: "provider" as const, operator: "eq" as const, value: ["openai"] }];
    const dataset = await datasets.create("walk", { account_id, name: "ours", enable: true, filters });
    assert.deepEqual([dataset.name, dataset.filters], ["ours", filters]);
    const of = { account_id, gateway_id: "walk" };
    assert.equal((await datasets.update(dataset.id, { ...of, name: "yours", enable: false, filters: [] })).name, "yours");
    assert.equal((await datasets.get(dataset.id, of)).enable, false);
    assert.equal((await all(datasets.list("walk", { account_id, search: "your", per_page: 1 }))).length, 1);
    const types = await all(evaluationTypes.list({ account_id, per_page: 2 }));
    assert.deepEqual(types.map(({ type }) => type).toSorted(), ["cost", "human_feedback", "speed"]);
    const speed = types.find(({ type }) => type === "speed")?.id ?? "";
    const made = await evaluations.create("walk", { account_id, name: "speed", dataset_ids: [dataset.id], evaluation_type_ids: [speed] });
    assert.deepEqual([made.name, made.results.length], ["speed", 1]);
    assert.equal((await evaluations.get(made.id, of)).id, made.id);
    assert.equal((await all(evaluations.list("walk", { account_id, name: "speed", processed: true }))).length, 1);
    await assert.rejects(
      evaluations.create("walk", { account_id, name: "x", dataset_ids: ["absent"], evaluation_type_ids: [speed] }),
      failing(400, 7001, "/dataset_ids"),
    );
    await assert.rejects(
      evaluations.create("walk", { account_id, name: "x", dataset_ids: [dataset.id], evaluation_type_ids: ["absent"] }),
      failing(400, 7001, "/evaluation_type_ids"),
    );
    await assert.rejects(
      datasets.create("walk", { account_id, name: "x", enable: true, filters: [{ key: "no", operator: "eq", value: [] }] as never }),
      (error: unknown) => error instanceof Cloudflare.APIError && error.status === 400,
    );
    assert.equal((await evaluations.delete(made.id, of)).id, made.id);
    await assert.rejects(evaluations.get(made.id, of), failing(404, 7002));
    assert.equal((await datasets.delete(dataset.id, of)).id, dataset.id);
    await assert.rejects(datasets.get(dataset.id, of), failing(404, 7002));
  });

  test("dynamic routes, their versions and deployments", async () => {
    const { dynamicRouting } = client.aiGateway;
    const elements = (model: string) =>
      [
        { id: "start", type: "start", outputs: { next: { elementId: "model" } } },
        {
          id: "model",
          type: "model",
          properties: { provider: "openai", model, retries: 0, timeout: 5000 },
          outputs: { success: { elementId: "end" }, fallback: { elementId: "end" } },
        },
        { id: "end", type: "end", outputs: {} },
      ] as never;
    const made = await dynamicRouting.create("walk", { account_id, name: "smart", elements: elements("gpt-4o-mini") });
    const of = { account_id, gateway_id: "walk" };
    assert.deepEqual(
      (await dynamicRouting.list("walk", { account_id })).data.routes.map(({ name }) => name),
      ["smart"],
    );
    assert.equal((await dynamicRouting.update(made.id, { ...of, name: "smarter" })).route.name, "smarter");
    assert.equal((await dynamicRouting.createVersion(made.id, { ...of, elements: elements("gpt-4o") })).name, "smarter");
    const { versions } = (await dynamicRouting.listVersions(made.id, of)).data;
    assert.deepEqual(
      versions.map(({ active, data }) => [active, data.includes('"gpt-4o"')]),
      [
        ["false", true],
        ["true", false],
      ],
    );
    const version_id = versions[0]?.version_id ?? "";
    assert.equal((await dynamicRouting.getVersion(version_id, { ...of, id: made.id })).version_id, version_id);
    await dynamicRouting.createDeployment(made.id, { ...of, version_id });
    assert.equal((await dynamicRouting.listDeployments(made.id, of)).data.deployments[0]?.version_id, version_id);
    assert.equal((await dynamicRouting.get(made.id, of)).name, "smarter");
    const answer = await fetch(`${selvedge.ready.gateway}/v1/${account_id}/walk/compat/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer provider-key" },
      body: JSON.stringify({ ...CHAT, model: "dynamic/smarter" }),
    });
    assert.deepEqual([answer.status, answer.headers.get("svc-aig-model")], [200, "gpt-4o"]);
    await answer.text();
    const noStart = [{ id: "end", type: "end", outputs: {} }] as never;
    await assert.rejects(dynamicRouting.create("walk", { account_id, name: "x", elements: noStart }), failing(400, 7001, "/elements"));
    await assert.rejects(
      dynamicRouting.createDeployment(made.id, { ...of, version_id: "absent" }),
      (error: unknown) => error instanceof Cloudflare.APIError && [400, 404].includes(error.status ?? 0),
    );
    assert.equal((await dynamicRouting.delete(made.id, of)).id, made.id);
    await assert.rejects(dynamicRouting.get(made.id, of), failing(404, 7002));
  });

  test("stored provider keys, custom providers with their costs, and gateway URLs", async () => {
    const { providerConfigs, customProviders, urls } = client.aiGateway;
    const secret = "sk-canary-secret-of-the-walk";
    const config = { account_id, alias: "default", default_config: true, provider_slug: "groq" };
    const kept = await providerConfigs.create("walk", { ...config, secret });
    assert.doesNotMatch(JSON.stringify(kept), new RegExp(secret));
    assert.deepEqual(
      (await all(providerConfigs.list("walk", { account_id, per_page: 1 }))).map(({ id }) => id),
      [kept.id],
    );
    await assert.rejects(providerConfigs.create("walk", { ...config, secret: "a b" }), failing(400, 7001, "/secret"));
    await assert.rejects(
      providerConfigs.create("walk", { ...config, provider_slug: "none-such", secret }),
      failing(400, 7001, "/provider_slug"),
    );
    const mine = { account_id, name: "Mine", slug: "mine", base_url: `${mock.url}/v1` };
    const own = await customProviders.create({ ...mine, enable: true });
    assert.equal((await customProviders.get(own.id, { account_id })).slug, "mine");
    assert.equal((await all(customProviders.list({ account_id, search: "min", enable: true }))).length, 1);
    await assert.rejects(customProviders.create(mine), failing(400, 7001, "/slug"));
    await assert.rejects(
      customProviders.create({ ...mine, slug: "other", base_url: "file:///etc/passwd" }),
      failing(400, 7001, "/base_url"),
    );
    assert.match(await urls.get("openai", { account_id, gateway_id: "walk" }), new RegExp(`/v1/${account_id}/walk/openai$`));
    await assert.rejects(urls.get("none-such", { account_id, gateway_id: "walk" }), failing(400, 7001, "/provider"));
    assert.equal((await customProviders.delete(own.id, { account_id })).id, own.id);
    await assert.rejects(customProviders.get(own.id, { account_id }), failing(404, 7002));
  });

  test("the exporter sends spans to the client's endpoint with the stored secret, and the API never returns that secret", async (t) => {
    const taken: { readonly authorization: string | undefined; readonly body: string }[] = [];
    const collector = createServer(async (req, res) => {
      let body = "";
      for await (const chunk of req) body += String(chunk);
      taken.push({ authorization: req.headers.authorization, body });
      res.end("{}");
    });
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    t.after(() => {
      collector.closeAllConnections();
      collector.close();
    });
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
    const otel = [{ url, headers: {}, authorization: "Bearer of-the-collector" }];
    const shown = await client.aiGateway.update("walk", { account_id, ...PLAIN, otel });
    assert.doesNotMatch(JSON.stringify(shown), /of-the-collector/);
    // As it was shown it is sent back: nothing changes.
    await client.aiGateway.update("walk", { account_id, ...PLAIN, otel: shown.otel as typeof otel });
    const answer = await ask("walk", { "cf-aig-otel-trace-id": "0af7651916cd43dd8448eb211c80319c" });
    assert.equal(answer.status, 200);
    await answer.text();
    await eventually(() => taken.length === 1);
    assert.equal(taken[0]?.authorization, "Bearer of-the-collector");
    assert.match(taken[0]?.body ?? "", /"traceId":"0af7651916cd43dd8448eb211c80319c"/);
  });

  test("the tests above call every method of the resource", () => {
    const every = resources().flatMap(([name, resource]) => methodsOf(resource).map((method) => `${name}.${method}`));
    assert.ok(every.length >= 35, String(every.length));
    assert.deepEqual(
      every.filter((name) => !called.has(name)),
      [],
    );
  });

  test("a valid token cannot run a gateway of an account that does not exist", async () => {
    const ghost = await fetch(`${selvedge.ready.gateway}/v1/${"f".repeat(32)}/default/openai/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "svc-aig-authorization": `Bearer ${selvedge.ready.token}` },
      body: JSON.stringify(CHAT),
    });
    assert.equal(ghost.status, 400);
    assert.equal(((await ghost.json()) as { internalCode: number }).internalCode, 2001);
    const before = mock.getRequests().length;
    const own = await ask("default", { "svc-aig-authorization": `Bearer ${selvedge.ready.token}` });
    assert.equal(own.status, 200);
    await own.text();
    assert.equal(mock.getRequests().length, before + 1);
    assert.equal((await api(selvedge, selvedge.ready.token ?? "", "GET", `/accounts/${"f".repeat(32)}/ai-gateway/gateways`)).status, 403);
  });
});
