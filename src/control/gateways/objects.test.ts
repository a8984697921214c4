import assert from "node:assert/strict";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { GatewayRouteCreate } from "#model/gateways/gateway-route.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import type { CustomProviderEntry, Op, ProviderKeyEntry } from "#snapshot/entries.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { PLAIN_GATEWAY } from "../../../test/support/plain-gateway.ts";
import { storeTest } from "../../../test/support/store.ts";

const PAGE = { page: 1, per_page: 20 };
const to = (elementId: string) => ({ elementId });
const ELEMENTS: GatewayRouteCreate["elements"] = [
  { id: "s", type: "start", outputs: { next: to("m") } },
  { id: "m", type: "model", properties: { provider: "openai", model: "gpt" }, outputs: { success: to("e"), fallback: to("e") } },
  { id: "e", type: "end" },
];

storeTest(
  "provider keys are encrypted, never shown, have one default per provider, and are deleted with their gateway",
  async ({ store }) => {
    const { control, account_id, call } = await controlOver(store);
    await control.gateways.create(call(), account_id, { id: "gw", ...PLAIN_GATEWAY });
    const { providerConfigs } = control;
    const secret = "sk-proj-0123456789abcdef";
    const body = { alias: "main", default_config: true, provider_slug: "openai", secret, rate_limit: 5 };
    const first = await providerConfigs.create(call(), account_id, "gw", body);
    assert.deepEqual([first.secret_preview, first.rate_limit_period, "secret" in first], ["sk-…cdef", 60, false]);
    await assert.rejects(providerConfigs.create(call(), account_id, "gw", body), failing(7001, "/alias"));
    const second = await providerConfigs.create(call(), account_id, "gw", { ...body, alias: "second" });
    const listed = await providerConfigs.list(account_id, "gw", PAGE);
    assert.deepEqual(
      listed.items.map(({ alias, default_config }) => [alias, default_config]),
      [
        ["main", false],
        ["second", true],
      ],
    );
    const keys = async (): Promise<Op[]> => (await rebuildSnapshot(store)).ops.filter(({ kind }) => kind === "provider_key");
    const [entry] = await keys();
    const key = entry?.value as ProviderKeyEntry | undefined;
    assert.deepEqual([key?.provider, key?.rate_limit], ["openai", { limit: 5, interval_seconds: 60 }]);
    const rows = JSON.stringify(await store.read.selectFrom("gateway_objects").selectAll().execute());
    const audit = JSON.stringify(await store.read.selectFrom("audit_log").selectAll().execute());
    assert.ok(!(rows + audit + JSON.stringify(await keys())).includes(secret));
    assert.equal((await providerConfigs.update(call(), account_id, "gw", second.id, "another-key-0123456")).secret_preview, "ano…3456");
    for (const [provider_slug, bad] of [
      ["openai", "two words"],
      ["openai", ""],
      ["aws-bedrock", '{"access_key_id":"a"}'],
      ["google-vertex-ai", "{nonsense"],
    ] as const)
      await assert.rejects(
        providerConfigs.create(call(), account_id, "gw", { ...body, alias: "bad", provider_slug, secret: bad }),
        failing(7001, "/secret"),
      );
    await assert.rejects(
      providerConfigs.create(call(), account_id, "gw", { ...body, alias: "lost", provider_slug: "opanai" }),
      failing(7001, "/provider_slug"),
    );
    await assert.rejects(control.gateways.urlOf(account_id, "gw", "opanai"), failing(7001, "/provider"));
    await assert.rejects(providerConfigs.delete(call(), "0".repeat(32), "gw", first.id), failing(7002));
    await providerConfigs.delete(call(), account_id, "gw", first.id);
    const write = call();
    await control.gateways.delete(write, account_id, "gw");
    const [delta] = (await store.changesSince((write.rev ?? 0) - 1, 1)) ?? [];
    assert.ok(delta?.changes.some(({ kind, id, value }) => kind === "provider_key" && id === second.id && value === null));
    assert.deepEqual(await keys(), []);
  },
);

storeTest("custom providers have unique slugs in their account, encrypted fields and ordered costs", async ({ store }) => {
  const { control, account_id, call, sealer } = await controlOver(store);
  const { customProviders } = control;
  const body = { name: "Mine", slug: "mine", base_url: "https://models.example/v1", headers: '{"x-key":"very-secret"}' };
  const made = await customProviders.create(call(), account_id, body);
  assert.equal(made.headers, '{"x-key":"********"}');
  await assert.rejects(customProviders.create(call(), account_id, body), failing(7001, "/slug"));
  for (const [field, value] of [
    ["base_url", "ftp://models.example"],
    ["base_url", "https://user:key@models.example"],
    ["base_url", "https://models.example/?a=b"],
    ["headers", "{"],
    ["headers", '{"host":"x"}'],
    ["headers", '{"a b":"x"}'],
    ["headers", '{"a":"x\\ny"}'],
  ] as const)
    await assert.rejects(customProviders.update(call(), account_id, made.id, { [field]: value }), failing(7001, `/${field}`), value);
  // Values stay where they are sent back hidden, and never go to another server than their own.
  const opened = async (): Promise<unknown> => {
    const row = await store.read.selectFrom("gateway_objects").select("value").where("id", "=", made.id).executeTakeFirstOrThrow();
    const { headers = "" } = JSON.parse(row.value) as { readonly headers?: string };
    return JSON.parse(sealer.open(headers, `custom-provider:${made.id}`).toString("utf8"));
  };
  const update = (change: object) => customProviders.update(call(), account_id, made.id, change);
  await update({ headers: '{"x-key":"********","x-team":"us"}' });
  assert.deepEqual(await opened(), { "x-key": "very-secret", "x-team": "us" });
  await update({ base_url: "https://models.example/v2", name: "Ours" });
  assert.deepEqual(await opened(), { "x-key": "very-secret", "x-team": "us" });
  for (const change of [
    { base_url: "https://elsewhere.example/v1" },
    { base_url: "https://elsewhere.example/v1", headers: '{"x-key":"********"}' },
    { headers: '{"x-other":"********"}' },
  ])
    await assert.rejects(update(change), failing(7001, "/headers"), JSON.stringify(change));
  await assert.rejects(
    customProviders.create(call(), account_id, { ...body, slug: "third", headers: '{"x-key":"********"}' }),
    failing(7001, "/headers"),
  );
  await update({ base_url: "https://elsewhere.example/v1", headers: '{"x-key":"another"}' });
  assert.deepEqual(await opened(), { "x-key": "another" });
  assert.equal((await update({ headers: "", base_url: "https://models.example/v1" })).headers, undefined);
  await update({ headers: body.headers });
  await control.gateways.create(call(), account_id, { id: "gw", ...PLAIN_GATEWAY });
  assert.match(await control.gateways.urlOf(account_id, "gw", "custom-mine"), /\/gw\/custom-mine$/);
  await assert.rejects(control.gateways.urlOf(account_id, "gw", "custom-yours"), failing(7001, "/provider"));
  await customProviders.createCost(call(), account_id, { account_provider_id: made.id, model: "g", model_rule: "contains", cost_in: 1 });
  const write = call();
  const token_pricing = { input_tokens: 0.1, total_tokens: 0.2, input_cached_tokens: 0.05, output_reasoning_tokens: 0.4 };
  const cost = await customProviders.createCost(write, account_id, { account_provider_id: made.id, model: "gpt", token_pricing });
  assert.deepEqual([cost.model_rule, JSON.parse(cost.token_pricing ?? "")], ["equals", token_pricing]);
  const [delta] = (await store.changesSince((write.rev ?? 0) - 1, 1)) ?? [];
  const { headers = "", ...entry } = { ...(delta?.changes[0]?.value as CustomProviderEntry | undefined) };
  assert.ok(
    headers.startsWith("sv1.") && !JSON.stringify(await store.read.selectFrom("audit_log").selectAll().execute()).includes("very-secret"),
  );
  assert.deepEqual(entry, {
    account_id,
    slug: "mine",
    base_url: "https://models.example/v1",
    costs: [
      { model: "gpt", rule: "equals", input: 0.1, output: 0.2, cache_read: 0.05, reasoning: 0.4 },
      { model: "g", rule: "contains", input: 1, output: 0 },
    ],
  });
  assert.equal((await customProviders.listCosts(account_id, {}, PAGE)).total_count, 2);
  const off = call();
  await customProviders.update(off, account_id, made.id, { enable: false });
  const [gone] = (await store.changesSince((off.rev ?? 0) - 1, 1)) ?? [];
  assert.deepEqual(gone?.changes, [{ kind: "custom_provider", id: made.id, value: null }]);
  await customProviders.delete(call(), account_id, made.id);
  assert.equal((await customProviders.listCosts(account_id, {}, PAGE)).total_count, 0, "costs go with their provider");
});

storeTest("dynamic routes: a version takes effect once deployed, and an older one can be deployed again", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  await control.gateways.create(call(), account_id, { id: "gw", ...PLAIN_GATEWAY });
  const { gatewayRoutes } = control;
  const route = await gatewayRoutes.create(call(), account_id, "gw", { name: "main", elements: ELEMENTS });
  await assert.rejects(gatewayRoutes.create(call(), account_id, "gw", { name: "main", elements: ELEMENTS }), failing(7001, "/name"));
  const changed = ELEMENTS.map((element) =>
    element.id === "m" ? { ...element, properties: { provider: "groq", model: "llama" } } : element,
  );
  const version = await gatewayRoutes.createVersion(call(), account_id, "gw", route.id, changed);
  assert.deepEqual([version.active, version.elements], ["false", changed]);
  assert.deepEqual((await gatewayRoutes.get(account_id, "gw", route.id)).elements, ELEMENTS, "not deployed yet");
  const write = call();
  const deployed = await gatewayRoutes.deploy(write, account_id, "gw", route.id, version.version_id);
  assert.deepEqual([deployed.elements, deployed.deployment.version_id], [changed, version.version_id]);
  const [delta] = (await store.changesSince((write.rev ?? 0) - 1, 1)) ?? [];
  assert.deepEqual(delta?.changes, [
    { kind: "gateway_route", id: route.id, value: { account_id, gateway_id: "gw", name: "main", elements: changed } },
  ]);
  assert.deepEqual((await gatewayRoutes.listVersions(account_id, "gw", route.id, PAGE)).items.map(({ active }) => active).toSorted(), [
    "false",
    "true",
  ]);
  await gatewayRoutes.deploy(call(), account_id, "gw", route.id, route.version.version_id);
  assert.equal((await gatewayRoutes.listDeployments(account_id, "gw", route.id, PAGE)).total_count, 3);
  await assert.rejects(gatewayRoutes.deploy(call(), account_id, "gw", route.id, "0".repeat(32)), failing(7001, "/version_id"));
  assert.equal((await gatewayRoutes.rename(call(), account_id, "gw", route.id, "other")).name, "other");
  await gatewayRoutes.delete(call(), account_id, "gw", route.id);
  await assert.rejects(gatewayRoutes.listVersions(account_id, "gw", route.id, PAGE), failing(7002));
  assert.equal((await store.read.selectFrom("gateway_objects").selectAll().execute()).length, 0);
});

storeTest("invalid elements of a route are refused with the reason", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  await control.gateways.create(call(), account_id, { id: "gw", ...PLAIN_GATEWAY });
  const [start, model, end] = ELEMENTS as unknown as [never, { outputs: object }, never];
  const percentage = (outputs: object) => [start, { id: "m", type: "percentage", outputs }, end];
  for (const [elements, expected] of [
    [[model, end], /one start/],
    [[start, model, end, end], /same id/],
    [[start, model], /element e does not exist/],
    [[start, { ...model, outputs: { success: to("e") } }, end], /output fallback is missing/],
    [[start, { ...model, properties: { provider: "openai" } }, end], /provider and model/],
    [[start, { ...model, properties: { provider: "opanai", model: "gpt" } }, end], /provider opanai does not exist/],
    [[start, { ...model, outputs: { success: to("e"), fallback: to("m") } }, end], /cycle/],
    [[start, { ...model, properties: { provider: "openai", model: "gpt", retries: 6 } }, end], /retries must be at most 5/],
    [[{ id: "s", type: "start", outputs: { next: to("e") } }, model, end], /start leads to no model/],
    [percentage({ "60%": to("e"), "50%": to("e") }), /more than 100/],
    [percentage({ "60%": to("e") }), /else is missing/],
    [percentage({ most: to("e") }), /must be percentages/],
    [
      [
        start,
        { id: "m", type: "conditional", properties: { conditions: { a: { $like: 1 } } }, outputs: { true: to("e"), false: to("e") } },
        end,
      ],
      /operator/,
    ],
    [[start, { id: "m", type: "rate", properties: { limit: 1 }, outputs: { success: to("e"), fallback: to("e") } }, end], /window/],
  ] as const)
    await assert.rejects(
      control.gatewayRoutes.create(call(), account_id, "gw", { name: "bad", elements: elements as never }),
      (error: unknown) => error instanceof PlatformError && expected.test(error.message),
      String(expected),
    );
});
