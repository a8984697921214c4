import { test } from "node:test";
import assert from "node:assert/strict";
import type { Op, RouteElement } from "#snapshot/entries.ts";
import {
  answerChat,
  GATEWAY_ACCOUNT,
  gatewayFront,
  type GatewayFront,
  gatewayOp,
  postJson,
  TEST_CHAT,
  testProvider,
} from "../../../test/support/gateway-front.ts";
import { shareOf } from "./dynamic-plan.ts";

const to = (elementId: string) => ({ elementId });
const START: RouteElement = { id: "start", type: "start", outputs: { next: to("first") } };
const END: RouteElement = { id: "end", type: "end" };
const model = (id: string, provider: string, fallback = "end", more: object = {}): RouteElement => ({
  id,
  type: "model",
  properties: { provider, model: `${provider}-model`, ...more },
  outputs: { success: to("end"), fallback: to(fallback) },
});
const routeOp = (elements: readonly RouteElement[], name = "main"): Op => ({
  kind: "gateway_route",
  id: `route-${name}`,
  value: { account_id: GATEWAY_ACCOUNT, gateway_id: "gw", name, elements: [START, ...elements, END] },
});

interface Stage extends GatewayFront {
  ask(
    metadata?: object,
    name?: string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; provider: string; step: string; code: number }>;
}

async function stage(t: Parameters<typeof gatewayFront>[0], op: Op): Promise<Stage & { readonly failing: Set<string> }> {
  const failing = new Set<string>();
  const provider = await testProvider(t, (res, { url }) => {
    if (failing.has(url.split("/")[1] ?? "")) res.writeHead(500).end();
    else answerChat(res, "hello");
  });
  const providers = { openai: `${provider.url}/openai`, groq: `${provider.url}/groq`, mistral: `${provider.url}/mistral` };
  const front = await gatewayFront(t, { ops: [gatewayOp("gw"), op], providers });
  const ask: Stage["ask"] = async (metadata = {}, name = "main", headers = {}) => {
    const answer = await postJson(
      `${front.base}/gw/compat/chat/completions`,
      { ...TEST_CHAT, model: `dynamic/${name}` },
      { "svc-aig-metadata": JSON.stringify(metadata), ...headers },
    );
    const body = (await answer.json().catch(() => ({}))) as { internalCode?: number };
    const field = (field: string): string => answer.headers.get(`svc-aig-${field}`) ?? "";
    return { status: answer.status, provider: field("provider"), step: field("step"), code: body.internalCode ?? 0 };
  };
  return { ...front, ask, failing };
}

test("a provider whose dialect cannot express the request is skipped, and the error says so if no other is left", async (t) => {
  const route = [model("first", "openai", "second"), model("second", "anthropic", "third"), model("third", "groq")];
  const { base, failing, rows } = await stage(t, routeOp(route));
  const ask = async (): Promise<readonly unknown[]> => {
    const answer = await postJson(`${base}/gw/compat/chat/completions`, { ...TEST_CHAT, n: 2, model: "dynamic/main" });
    return [answer.status, answer.headers.get("svc-aig-provider")];
  };
  failing.add("openai");
  assert.deepEqual(await ask(), [200, "groq"]);
  const alone = await stage(t, routeOp([model("first", "anthropic")]));
  const refused = await postJson(`${alone.base}/gw/compat/chat/completions`, { ...TEST_CHAT, n: 2, model: "dynamic/main" });
  assert.deepEqual([refused.status, ((await refused.json()) as { internalCode: number }).internalCode], [400, 2019]);
  assert.deepEqual([rows.length, alone.rows.length], [1, 0]);
});

test("conditions choose the model, and a failing model leads to its fallback", async (t) => {
  const { ask, failing, rows, replica } = await stage(
    t,
    routeOp([
      {
        id: "first",
        type: "conditional",
        properties: { conditions: { "metadata.plan": { $in: ["paid", "trial"] }, $not: { "body.stream": true } } },
        outputs: { true: to("good"), false: to("cheap") },
      },
      model("good", "openai", "cheap", { retries: 1 }),
      model("cheap", "groq"),
    ]),
  );
  assert.deepEqual((await ask({ plan: "paid" })).provider, "openai");
  assert.deepEqual((await ask({ plan: "free" })).provider, "groq");
  failing.add("openai");
  assert.deepEqual(await ask({ plan: "trial" }), { status: 200, provider: "groq", step: "1", code: 0 });
  failing.add("groq");
  assert.equal((await ask({ plan: "trial" })).status, 500);
  assert.deepEqual(
    rows.map(({ provider, model: name, step, success }) => [provider, name, step, success]),
    [
      ["openai", "openai-model", 0, true],
      ["groq", "groq-model", 0, true],
      ["groq", "groq-model", 1, true],
      ["groq", "groq-model", 1, false],
    ],
  );
  replica.apply([{ kind: "gateway_route", id: "route-main", value: null }]);
  assert.deepEqual((await ask()).code, 2908);
});

test("a request limit counts each value of its key separately, and requests above it take the fallback", async (t) => {
  const rate: RouteElement = {
    id: "first",
    type: "rate",
    properties: { key: "metadata.user", limit: 2, limitType: "count", window: 60 },
    outputs: { success: to("good"), fallback: to("cheap") },
  };
  const { ask, clock } = await stage(t, routeOp([rate, model("good", "openai"), model("cheap", "groq")]));
  const of = async (user: string): Promise<string> => (await ask({ user })).provider;
  assert.deepEqual([await of("a"), await of("a"), await of("a"), await of("b")], ["openai", "openai", "groq", "openai"]);
  clock.advance(60_000);
  assert.equal(await of("a"), "openai");
});

test("a budget counts the models behind it and then takes the fallback, and one without a fallback refuses", async (t) => {
  const rate: RouteElement = {
    id: "first",
    type: "rate_limit",
    properties: { limit: 0.25, limitType: "cost", interval: 60, technique: "fixed" },
    outputs: { success: to("good"), fallback: to("end") },
  };
  const { ask, rows } = await stage(t, routeOp([rate, model("good", "openai")]));
  const cost = { "svc-aig-custom-cost": '{"total_cost":0.125}' };
  assert.deepEqual([(await ask({}, "main", cost)).status, (await ask({}, "main", cost)).status], [200, 200]);
  assert.deepEqual(await ask({}, "main", cost), { status: 429, provider: "", step: "0", code: 2003 });
  assert.equal(rows.length, 2, "nobody was asked, so there is no row");
});

test("traffic is split by the percentages, and the rest goes to else", () => {
  const outputs = { "10%": to("a"), "30%": to("b"), else: to("c") };
  assert.deepEqual(
    [0, 9.99, 10, 39.9, 40, 99].map((point) => shareOf(outputs, point)?.elementId),
    ["a", "a", "b", "b", "c", "c"],
  );
});

test("a circular route, or one without an end, gives a clear error", async (t) => {
  const circle: RouteElement = { id: "first", type: "percentage", outputs: { "100%": to("first") } };
  const { ask, rows } = await stage(t, routeOp([circle]));
  assert.deepEqual((await ask()).code, 2019);
  assert.equal(rows.length, 0);
  const unknown = await stage(t, routeOp([model("first", "nobody", "second"), model("second", "mistral")]));
  assert.equal((await unknown.ask()).provider, "mistral");
});
