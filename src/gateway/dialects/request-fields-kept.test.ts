import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicRequest } from "./anthropic-request.ts";
import { readChat } from "./chat.ts";
import { googleRequest } from "./google-request.ts";

const USER = { role: "user", content: "hello" };
const MARK = { type: "ephemeral" };
const asked = (more: object): ReturnType<typeof readChat> => readChat({ model: "m", messages: [USER], ...more });
const anthropic = (more: object, model = "claude-opus-4-5") => anthropicRequest(asked(more), model);
const google = (more: object, model: string) => googleRequest(asked(more), model);

test("the thinking budget stays below the output limit", () => {
  const thinking = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });
  for (const [request, max, budget] of [
    [thinking(10_000), 14_096, 10_000],
    [{ ...thinking(10_000), max_tokens: 8000 }, 8000, 7999],
    [{ ...thinking(2000), max_tokens: 8000 }, 8000, 2000],
  ] as const) {
    const sent = anthropic(request);
    assert.deepEqual([sent["max_tokens"], sent["thinking"]], [max, { type: "enabled", budget_tokens: budget }]);
  }
  assert.throws(() => anthropic({ ...thinking(2000), max_tokens: 500 }), /max_tokens/);
});

test("effort is sent only to models that support it", () => {
  for (const [model, has] of [
    ["claude-opus-4-5", true],
    ["claude-opus-4-6", true],
    ["claude-sonnet-4-6", true],
    ["claude-opus-4-1", false],
    ["claude-opus-4-20250514", false],
    ["claude-sonnet-4-5-20250929", false],
    ["claude-haiku-4-5", false],
    ["claude-3-7-sonnet-latest", false],
  ] as const)
    assert.deepEqual(anthropic({ reasoning_effort: "high" }, model)["output_config"], has ? { effort: "high" } : undefined, model);
});

test("prompt cache marks are kept on tools, messages, parts and results, and blank texts are dropped", () => {
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const sent = anthropic({
    messages: [
      { role: "system", content: "rules", cache_control: MARK },
      {
        role: "user",
        content: [
          { type: "text", text: " \n" },
          { type: "image_url", image_url: { url: "https://a.example/b.png" }, cache_control: MARK },
        ],
      },
      { role: "assistant", content: "\n\n", tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: "done", cache_control: MARK },
    ],
    tools: [{ type: "function", function: { name: "f" }, cache_control: MARK }],
  });
  const image = { type: "image", source: { type: "url", url: "https://a.example/b.png" }, cache_control: MARK };
  assert.deepEqual(sent["system"], [{ type: "text", text: "rules", cache_control: MARK }]);
  assert.deepEqual(sent["tools"], [{ name: "f", input_schema: { type: "object", properties: {} }, cache_control: MARK }]);
  assert.deepEqual(sent["messages"], [
    { role: "user", content: [image] },
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "done" }], cache_control: MARK }] },
  ]);
});

test("Google Storage URLs are sent to Google and refused for other providers", () => {
  const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url: "gs://bucket/a.png" } }] }];
  assert.deepEqual(google({ messages }, "gemini-2.5-pro")["contents"], [
    { role: "user", parts: [{ fileData: { mimeType: "image/png", fileUri: "gs://bucket/a.png" } }] },
  ]);
  assert.throws(() => anthropic({ messages }), /gs:/);
});

test("thinking is requested from each Gemini generation in its own form, including thoughts", () => {
  for (const [model, effort, expected] of [
    ["gemini-2.5-pro", "high", { thinkingBudget: 24_576, includeThoughts: true }],
    ["gemini-2.5-flash", "none", { thinkingBudget: 0 }],
    ["gemini-3-pro-preview", "medium", { thinkingLevel: "high", includeThoughts: true }],
    ["gemini-3-flash-preview", "minimal", { thinkingLevel: "minimal", includeThoughts: true }],
  ] as const)
    assert.deepEqual(google({ reasoning_effort: effort }, model)["generationConfig"], { thinkingConfig: expected }, model);
});
