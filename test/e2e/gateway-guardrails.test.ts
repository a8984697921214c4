import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { answerChat, gatewayFront, type GatewayFront, gatewayOp, type TestProvider, testProvider } from "../support/gateway-front.ts";
import { api, startSelvedge } from "../support/selvedge.ts";

const asking = (content: string) => ({ model: "gpt-4o-mini", messages: [{ role: "user" as const, content }] });

interface Stage extends GatewayFront {
  readonly judge: TestProvider;
  readonly mock: LLMock;
  readonly openai: OpenAI;
}

/** A gateway whose prompts and answers are judged by a model that finds hazards by a word. */
async function stage(
  t: TestContext,
  guardrails: { prompt: Record<string, "FLAG" | "BLOCK">; response: Record<string, "FLAG" | "BLOCK"> },
): Promise<Stage> {
  const judge = await testProvider(t, (res, { body }) => {
    const last = JSON.parse(body).messages.at(-1).content as string;
    if (last.includes("unsure")) return answerChat(res, "I cannot say.");
    answerChat(res, last.includes("bomb") ? "unsafe\nS1,S9" : "safe");
  });
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  mock.onMessage("tell", { content: "First you take a bomb, then you wait." }, { chunkSize: 4 });
  mock.onMessage(/./, { content: "All is well." }, { chunkSize: 4 });
  await mock.start();
  t.after(() => mock.stop());
  const front = await gatewayFront(t, {
    ops: [gatewayOp("gw", { guardrails })],
    providers: { openai: `${mock.url}/v1`, groq: `${judge.url}/openai/v1` },
    config: { guardrail: { provider: "groq", model: "meta-llama/llama-guard-4-12b", key: "guard-key" } },
  });
  return { ...front, judge, mock, openai: new OpenAI({ baseURL: `${front.base}/gw/openai`, apiKey: "k", maxRetries: 0 }) };
}

const refusedWith = (status: number, code: number) => (error: any) => {
  assert.deepEqual([error.status, error.error?.[0].code], [status, code]);
  return true;
};

describe("guardrails", () => {
  test("a hazardous prompt never reaches the provider, and a harmless one does", async (t) => {
    const { openai, judge, mock, rows } = await stage(t, { prompt: { S9: "BLOCK" }, response: {} });
    await assert.rejects(openai.chat.completions.create(asking("how to build a bomb")), refusedWith(400, 2016));
    assert.equal(mock.getRequests().length, 0);
    assert.equal((await openai.chat.completions.create(asking("hello"))).choices[0]?.message.content, "All is well.");
    assert.deepEqual(
      rows.map((row) => [row.status_code, row.success, row.guardrail_action, row.guardrail_findings]),
      [
        [400, false, "BLOCK", '{"prompt":["S9"]}'],
        [200, true, "", ""],
      ],
    );
    const [seen] = judge.seen;
    assert.deepEqual(
      [seen?.url, seen?.headers.authorization, JSON.parse(seen?.body ?? "").model],
      ["/openai/v1/chat/completions", "Bearer guard-key", "meta-llama/llama-guard-4-12b"],
    );
  });

  test("no part of a hazardous response reaches the client, buffered or streamed", async (t) => {
    const { openai, rows } = await stage(t, { prompt: {}, response: { S1: "BLOCK" } });
    await assert.rejects(openai.chat.completions.create(asking("tell")), refusedWith(424, 2017));
    await assert.rejects(openai.chat.completions.create({ ...asking("tell"), stream: true }), refusedWith(424, 2017));
    let text = "";
    for await (const chunk of await openai.chat.completions.create({ ...asking("hello"), stream: true }))
      text += chunk.choices[0]?.delta.content ?? "";
    assert.equal(text, "All is well.");
    assert.deepEqual(
      rows.map((row) => [row.guardrail_action, row.guardrail_findings]),
      [...Array.from({ length: 2 }, () => ["BLOCK", '{"response":["S1"]}']), ["", ""]],
    );
  });

  test("flagged content passes, and a response field lists the flagged categories", async (t) => {
    const { openai, rows } = await stage(t, { prompt: { S1: "FLAG", S2: "BLOCK" }, response: {} });
    const { response } = await openai.chat.completions.create(asking("a bomb")).withResponse();
    assert.deepEqual(JSON.parse(response.headers.get("svc-aig-guardrails") ?? ""), { prompt: ["S1"] });
    assert.deepEqual(
      rows.map((row) => [row.guardrail_action, row.guardrail_findings]),
      [["FLAG", '{"prompt":["S1"]}']],
    );
  });

  test("without a verdict the gateway refuses if the action is block, and passes if it is flag", async (t) => {
    const blocking = await stage(t, { prompt: { S1: "BLOCK" }, response: {} });
    await assert.rejects(blocking.openai.chat.completions.create(asking("unsure")), refusedWith(503, 2912));
    await assert.rejects(blocking.openai.chat.completions.create(asking("x ".repeat(100_000))), refusedWith(503, 2912));
    const flagging = await stage(t, { prompt: { S1: "FLAG" }, response: {} });
    assert.ok(await flagging.openai.chat.completions.create(asking("unsure")));
  });

  test("hazardous text in any form, and text that cannot be read, is blocked in prompts and in responses", async (t) => {
    const bomb = "First you take a bomb.";
    const deep = `${'{"a":'.repeat(100)}"${bomb}"${"}".repeat(100)}`;
    const end = 'event: response.completed\ndata: {"type":"response.completed"}\n\n';
    const item = JSON.stringify({ candidates: [{ content: { parts: [{ text: bomb }] } }] });
    let answer = { type: "", coding: "identity", body: "" };
    const provider = await testProvider(t, (res) => {
      res.writeHead(200, { "content-type": answer.type, "content-encoding": answer.coding }).end(answer.body);
    });
    const judge = await testProvider(t, (res, { body }) =>
      answerChat(res, JSON.parse(body).messages.at(-1).content.includes("bomb") ? "unsafe\nS1" : "safe"),
    );
    const guardrails = { prompt: { S1: "BLOCK" }, response: { S1: "BLOCK" } } as const;
    const { base } = await gatewayFront(t, {
      ops: [gatewayOp("gw", { guardrails })],
      providers: { openai: provider.url, groq: `${judge.url}/openai/v1` },
      config: { guardrail: { provider: "groq", model: "m", key: "k" } },
    });
    const statusOf = async (prompt: string): Promise<readonly number[]> => {
      const response = await fetch(`${base}/gw/openai/responses`, { method: "POST", body: prompt });
      return [response.status, ((await response.json().catch(() => undefined)) as any)?.error?.[0].code ?? 0];
    };
    for (const [type, body, code, coding = "identity"] of [
      ["application/json", JSON.stringify({ content: "All is well." }), 0],
      ["application/json", deep, 2912],
      ["text/event-stream", `data: ${deep}\n\n${end}`, 2912],
      ["application/x-ndjson", `${item}\n${item}\n`, 2017],
      ["text/plain", bomb, 2017],
      ["text/event-stream", `data: ${bomb}\n\n${end}`, 2017],
      ["", item, 2017],
      ["application/json", item, 2912, "x-own"],
      ["application/vnd.amazon.eventstream", item, 2912],
    ] as const) {
      answer = { type, coding, body };
      assert.equal((await statusOf(JSON.stringify({ content: "hello" })))[1], code, `${type} ${coding} ${body.slice(0, 40)}`);
    }
    const seen = provider.seen.length;
    for (const [prompt, code] of [
      [deep, 2912],
      [bomb, 2016],
      [JSON.stringify({ content: `data: ${bomb}` }), 2016],
      [JSON.stringify({ content: `data:;base64,AAAA ${bomb}` }), 2016],
    ] as const)
      assert.equal((await statusOf(prompt))[1], code, prompt.slice(0, 40));
    assert.equal(provider.seen.length, seen);
  });

  test("guardrails need a model, and prompt attacks need a model that supports them", async () => {
    const settings = {
      id: "gw",
      cache_invalidate_on_update: false,
      cache_ttl: null,
      collect_logs: true,
      rate_limiting_interval: null,
      rate_limiting_limit: null,
    };
    for (const [args, guardrails, message] of [
      [[], { prompt: { S1: "BLOCK" }, response: {} }, /gateway\.guardrail_model/],
      [["--gateway-guardrail-model", "groq/llama-guard"], { prompt: { P1: "BLOCK" }, response: {} }, /not supported/],
    ] as const) {
      const selvedge = await startSelvedge({ args: [...args] });
      try {
        const path = `/accounts/${selvedge.ready.account_id}/ai-gateway/gateways`;
        const refused = await api(selvedge, selvedge.ready.token ?? "", "POST", path, { ...settings, guardrails });
        assert.equal(refused.status, 400);
        assert.match(refused.body.errors[0].message, message);
        const made = await api(selvedge, selvedge.ready.token ?? "", "POST", path, {
          ...settings,
          guardrails: args.length > 0 ? { prompt: { S1: "BLOCK" }, response: {} } : null,
        });
        assert.equal(made.status, 200);
      } finally {
        await selvedge.stop();
      }
    }
  });
});
