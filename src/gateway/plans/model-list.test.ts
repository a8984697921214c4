import { test } from "node:test";
import assert from "node:assert/strict";
import OpenAI from "openai";
import type { Op } from "#snapshot/entries.ts";
import { GATEWAY_ACCOUNT, gatewayFront, gatewayOp, gatewayTokenOp } from "../../../test/support/gateway-front.ts";
import type { ListedModel } from "./model-list.ts";

const OWNER = { account_id: GATEWAY_ACCOUNT, gateway_id: "gw" };
const OWN: readonly Op[] = [
  {
    kind: "custom_provider",
    id: "p",
    value: {
      account_id: GATEWAY_ACCOUNT,
      slug: "own",
      base_url: "https://llm.example.com",
      costs: [{ model: "big", rule: "equals", input: 1e-6, output: 2e-6 }],
    },
  },
  {
    kind: "gateway_route",
    id: "r",
    value: { ...OWNER, name: "cheap", elements: [{ id: "s", type: "start", outputs: { next: { elementId: "e" } } }] },
  },
];

test("the list has models of all providers, or of those with stored keys, and always custom models and routes", async (t) => {
  const { base, replica, rows } = await gatewayFront(t, { ops: [gatewayOp("gw"), ...OWN] });
  const client = new OpenAI({ baseURL: `${base}/gw/compat`, apiKey: "any" });
  const list = async (): Promise<ReadonlyMap<string, ListedModel>> =>
    new Map((await client.models.list()).data.map((model) => [model.id, model as unknown as ListedModel]));
  const all = await list();
  assert.deepEqual(all.get("openai/gpt-4o-mini"), {
    id: "openai/gpt-4o-mini",
    object: "model",
    created: 0,
    created_at: 0,
    owned_by: "openai",
    cost_in: 0.15e-6,
    cost_out: 0.6e-6,
  });
  for (const provider of ["anthropic", "google-ai-studio", "google-vertex-ai/google", "aws-bedrock", "groq", "mistral", "cohere"])
    assert.ok(
      [...all.keys()].some((id) => id.startsWith(`${provider}/`)),
      provider,
    );
  assert.deepEqual([all.get("custom-own/big")?.cost_out, all.get("dynamic/cheap")?.owned_by], [2e-6, "dynamic"]);
  replica.apply([
    { kind: "provider_key", id: "k", value: { ...OWNER, provider: "groq", alias: "default", is_default: true, secret: "" } },
    {
      kind: "provider_key",
      id: "l",
      value: { ...OWNER, gateway_id: "other", provider: "openai", alias: "a", is_default: true, secret: "" },
    },
  ]);
  const own = [...(await list()).keys()];
  assert.ok(own.length > 3 && own.every((id) => /^(?:groq\/|custom-own\/big$|dynamic\/cheap$)/.test(id)));
  assert.equal(rows.length, 0, "nobody was asked, so there is no row");
});

test("the model list requires a token if the gateway does", async (t) => {
  const { base } = await gatewayFront(t, { ops: [gatewayOp("gw", { authentication: true }), gatewayTokenOp("secret")] });
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${base}/gw/compat/v1/models`, { headers })).status;
  assert.deepEqual([await status({}), await status({ "cf-aig-authorization": "Bearer secret" })], [401, 200]);
});
