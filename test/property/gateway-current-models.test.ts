import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chatsOf, type Reply } from "../support/dialect-replies.ts";

const USER = { role: "user", content: "hello" };
const CITED = { type: "web_search_result_location", url: "https://a.example/", title: "A", cited_text: "Oslo", encrypted_index: "e" };
const SEARCH = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };

const claude = (model = "claude-sonnet-4-5"): Reply => ({
  provider: "anthropic",
  model,
  whole: {
    id: "m1",
    type: "message",
    role: "assistant",
    model,
    content: [
      SEARCH,
      { type: "web_search_tool_result", tool_use_id: "s1", content: [] },
      { type: "text", text: "In Oslo, " },
      { type: "text", text: "it is 4 degrees.", citations: [CITED] },
    ],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 2, service_tier: "standard" },
  },
  events: [
    { type: "message_start", message: { id: "m1", model, usage: { input_tokens: 1, service_tier: "standard" } } },
    { type: "content_block_start", index: 0, content_block: SEARCH },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "In Oslo, " } },
    { type: "content_block_stop", index: 1 },
    { type: "content_block_start", index: 2, content_block: { type: "text", text: "", citations: [] } },
    { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "it is 4 degrees." } },
    { type: "content_block_delta", index: 2, delta: { type: "citations_delta", citation: CITED } },
    { type: "content_block_stop", index: 2 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ].map((event): [string, object] => [event.type, event]),
});

const toClaude = (body: object, model?: string): any => chatsOf(claude(model)).request({ messages: [USER], ...body });
const bedrock = (model: string): Reply => ({ provider: "aws-bedrock", model, whole: {}, events: [] });
const toBedrock = (body: object, model: string): any => chatsOf(bedrock(model)).request({ messages: [USER], ...body });

const gemini = (whole: object, events: readonly object[], model = "gemini-2.5-flash"): Reply => ({
  provider: "google-ai-studio",
  model,
  whole,
  events: events.map((event): [string, object] => ["", event]),
});
const toGemini = (body: object, model?: string): any => chatsOf(gemini({}, [], model)).request({ messages: [USER], ...body });

const pick = (from: any, ...names: readonly string[]): object =>
  Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));

describe("Anthropic's models get only the fields that they accept", () => {
  const given = { temperature: 1.4, top_p: 0.9, top_k: 4 };
  const budget = { thinking: { type: "enabled", budget_tokens: 2000 } };

  test("sampling: both fields, one of them, or none", () => {
    for (const [model, expected] of [
      ["claude-3-5-haiku-latest", { temperature: 1, top_p: 0.9, top_k: 4 }],
      ["claude-sonnet-4-20250514", { temperature: 1, top_p: 0.9, top_k: 4 }],
      ["claude-opus-4-1-20250805", { temperature: 1, top_k: 4 }],
      ["claude-sonnet-4-6", { temperature: 1, top_k: 4 }],
      ["claude-opus-4-7", {}],
      ["claude-opus-5-5", {}],
      ["claude-fable-5", {}],
    ] as const)
      assert.deepEqual(pick(toClaude(given, model), "temperature", "top_p", "top_k"), expected, model);
    assert.deepEqual(pick(toClaude({ top_p: 0.9 }, "claude-sonnet-4-5"), "temperature", "top_p"), { top_p: 0.9 });
    assert.deepEqual(pick(toClaude({ ...given, temperature: 0.5, ...budget }, "claude-sonnet-4-5"), "temperature", "top_p", "top_k"), {});
    assert.deepEqual(toBedrock(given, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0").inferenceConfig, { temperature: 1 });
    assert.equal(toBedrock(given, "global.anthropic.claude-opus-4-7").inferenceConfig, undefined);
    assert.deepEqual(toBedrock(given, "amazon.nova-pro-v1:0").inferenceConfig, { temperature: 1, topP: 0.9 });
  });

  test("a thinking budget becomes adaptive thinking where the model chooses itself", () => {
    assert.deepEqual(toClaude(budget, "claude-opus-4-8").thinking, { type: "adaptive", display: "summarized" });
    assert.deepEqual(toClaude(budget, "claude-opus-4-8").max_tokens, 4096);
    assert.deepEqual(toClaude(budget, "claude-opus-4-6").thinking, budget.thinking);
  });

  test("a schema keeps its shape, and its bounds become words", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      $defs: { item: { type: "object", properties: { at: { type: "string", format: "date" }, id: { type: "string", pattern: "^a" } } } },
      properties: {
        n: { type: ["integer", "null"], minimum: 0, description: "how many" },
        items: { type: "array", minItems: 2, items: { $ref: "#/$defs/item" } },
        some: { type: "array", minItems: 1, items: { oneOf: [{ type: "string", maxLength: 3 }, { type: "null" }] } },
        map: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["n"],
      additionalProperties: false,
    };
    const expected = {
      type: "object",
      $defs: {
        item: {
          type: "object",
          properties: { at: { type: "string", format: "date" }, id: { type: "string", description: '(pattern: "^a")' } },
          additionalProperties: false,
        },
      },
      properties: {
        n: { type: ["integer", "null"], description: "how many\n\n(minimum: 0)" },
        items: { type: "array", items: { $ref: "#/$defs/item" }, description: "(minItems: 2)" },
        some: { type: "array", minItems: 1, items: { anyOf: [{ type: "string", description: "(maxLength: 3)" }, { type: "null" }] } },
        map: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["n"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema", json_schema: { name: "a", strict: true, schema } };
    assert.deepEqual(toClaude({ response_format }).output_config, { format: { type: "json_schema", schema: expected } });
    const tools = [{ type: "function", function: { name: "f", strict: true, parameters: schema } }];
    assert.deepEqual(toClaude({ tools }).tools, [{ name: "f", input_schema: expected, strict: true }]);
    const model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
    const { toolSpec } = toBedrock({ tools }, model).toolConfig.tools[0];
    assert.deepEqual([toolSpec.strict, toolSpec.inputSchema.json.properties.n], [true, expected.properties.n]);
    // Older models have no strict tools.
    assert.deepEqual(toClaude({ tools }, "claude-3-5-haiku-latest").tools, [{ name: "f", input_schema: schema }]);
  });

  test("a search, its citations, and the service tier", () => {
    const web_search_options = { user_location: { type: "approximate", approximate: { city: "Oslo", country: "NO" } } };
    const sent = toClaude({ web_search_options, service_tier: "default" });
    assert.deepEqual(sent.tools, [
      { type: "web_search_20250305", name: "web_search", user_location: { type: "approximate", city: "Oslo", country: "NO" } },
    ]);
    assert.equal(sent.service_tier, "standard_only");
    assert.throws(() => toBedrock({ web_search_options }, "amazon.nova-pro-v1:0"), /web_search_options: this provider does not search/);
    assert.deepEqual(toBedrock({ service_tier: "flex" }, "amazon.nova-pro-v1:0").serviceTier, { type: "flex" });
    const annotation = { type: "url_citation", url_citation: { url: CITED.url, title: "A", start_index: 9, end_index: 25 } };
    const { answer, chunks } = chatsOf(claude());
    assert.deepEqual([answer().choices[0].message.annotations, answer().service_tier], [[annotation], "default"]);
    assert.deepEqual(
      chunks().flatMap((chunk: any) => chunk.choices[0]?.delta.annotations ?? []),
      [annotation],
    );
  });
});

describe("Google's models", () => {
  const token = (text: string, logProbability: number) => ({ token: text, tokenId: 1, logProbability });
  const candidate = {
    content: { role: "model", parts: [{ text: "ok" }] },
    finishReason: "STOP",
    logprobsResult: { chosenCandidates: [token("ok", -0.5)], topCandidates: [{ candidates: [token("ok", -0.5), token("né", -2)] }] },
  };
  const logprobs = {
    content: [
      {
        token: "ok",
        logprob: -0.5,
        bytes: [111, 107],
        top_logprobs: [
          { token: "ok", logprob: -0.5, bytes: [111, 107] },
          { token: "né", logprob: -2, bytes: [110, 195, 169] },
        ],
      },
    ],
    refusal: null,
  };

  test("probabilities of tokens", () => {
    assert.deepEqual(toGemini({ logprobs: true, top_logprobs: 2 }).generationConfig, { responseLogprobs: true, logprobs: 2 });
    assert.deepEqual(toGemini({ logprobs: true }).generationConfig, { responseLogprobs: true });
    const { answer, chunks } = chatsOf(gemini({ candidates: [candidate] }, [{ candidates: [candidate] }]));
    assert.deepEqual(answer().choices[0].logprobs, logprobs);
    assert.deepEqual(
      chunks()
        .map((chunk: any) => chunk.choices[0]?.logprobs)
        .filter(Boolean),
      [logprobs],
    );
  });

  test("a refused prompt says so in a stream as in a whole answer", () => {
    const blocked = { promptFeedback: { blockReason: "SAFETY" } };
    const { answer, chunks } = chatsOf(gemini(blocked, [blocked]));
    assert.equal(answer().choices[0].message.refusal, "SAFETY");
    assert.deepEqual(
      chunks().flatMap((chunk: any) => chunk.choices.map(({ delta, finish_reason }: any) => [delta, finish_reason])),
      [
        [{ role: "assistant", content: null, refusal: "SAFETY" }, null],
        [{}, "content_filter"],
      ],
    );
  });

  test("an answer that ended early says why, in a stream as in a whole answer", () => {
    const seen = (candidate: object): unknown => {
      const { answer, chunks } = chatsOf(gemini({ candidates: [candidate] }, [{ candidates: [candidate] }]));
      const [{ message, finish_reason }] = answer().choices;
      const streamed = chunks().flatMap((chunk: any) => chunk.choices);
      const last = streamed.findLast(({ finish_reason: finish }: any) => finish !== null);
      assert.equal(last.finish_reason, finish_reason);
      assert.equal(streamed.findLast(({ delta }: any) => delta.refusal)?.delta.refusal ?? null, message.refusal);
      return [message.content, message.refusal, finish_reason];
    };
    const text = { parts: [{ text: "so far" }] };
    for (const reason of [
      "MALFORMED_FUNCTION_CALL",
      "UNEXPECTED_TOOL_CALL",
      "TOO_MANY_TOOL_CALLS",
      "MALFORMED_RESPONSE",
      "MISSING_THOUGHT_SIGNATURE",
      "NO_IMAGE",
      "IMAGE_OTHER",
      "MODEL_ARMOR",
      "OTHER",
      "SAFETY",
      "A_REASON_OF_NEXT_YEAR",
    ]) {
      assert.deepEqual(seen({ finishReason: reason }), [null, reason, "content_filter"]);
      assert.deepEqual(seen({ content: { parts: [] }, finishReason: reason, finishMessage: "it broke" }), [
        null,
        `${reason}: it broke`,
        "content_filter",
      ]);
      assert.deepEqual(seen({ content: text, finishReason: reason }), ["so far", null, "content_filter"]);
    }
    assert.deepEqual(seen({ content: text, finishReason: "STOP" }), ["so far", null, "stop"]);
    assert.deepEqual(seen({ content: text, finishReason: "FINISH_REASON_UNSPECIFIED" }), ["so far", null, "stop"]);
    assert.deepEqual(seen({ finishReason: "MAX_TOKENS" }), ["", null, "length"]);
    const explained = { promptFeedback: { blockReason: "OTHER", blockReasonMessage: "the prompt was blocked" } };
    assert.equal(chatsOf(gemini(explained, [])).answer().choices[0].message.refusal, "OTHER: the prompt was blocked");
  });

  test("levels of thinking, tiers, and models without instructions", () => {
    for (const [model, level] of [
      ["gemini-3-pro-preview", "high"],
      ["gemini-3.1-pro-preview", "medium"],
      ["gemini-3.5-flash", "medium"],
    ] as const)
      assert.equal(toGemini({ reasoning_effort: "medium" }, model).generationConfig.thinkingConfig.thinkingLevel, level, model);
    assert.equal(toGemini({ service_tier: "priority" }).serviceTier, "priority");
    assert.equal(toGemini({ service_tier: "default" }).serviceTier, "standard");
    const messages = [{ role: "system", content: "Be brief." }, USER];
    assert.deepEqual(toGemini({ messages }, "gemma-3-27b-it"), {
      contents: [{ role: "user", parts: [{ text: "Be brief." }, { text: "hello" }] }],
    });
    assert.deepEqual(toGemini({ messages }, "gemma-4-31b-it").systemInstruction, { parts: [{ text: "Be brief." }] });
  });
});
