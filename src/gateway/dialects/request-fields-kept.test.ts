import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicRequest } from "./anthropic-request.ts";
import { bedrockRequest } from "./bedrock-request.ts";
import { readChat } from "./chat.ts";
import { dialectOf } from "./dialects.ts";
import { googleRequest } from "./google-request.ts";
import { objectOf, objectsOf } from "#gateway/http/json.ts";
import { mistralFields } from "#gateway/providers/mistral-fields.ts";

const USER = { role: "user", content: "hello" };
const MARK = { type: "ephemeral" };
const asked = (more: object): ReturnType<typeof readChat> => readChat({ model: "m", messages: [USER], ...more });
const anthropic = (more: object, model = "claude-opus-4-5") => anthropicRequest(asked(more), model);
const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const bedrock = (more: object, model = CLAUDE) => bedrockRequest(asked(more), model);
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

interface Said {
  readonly role: string;
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

test("an answer that the model continues does not end with white space", () => {
  const begun = (content: string, after: readonly object[] = []) => ({ messages: [USER, { role: "assistant", content }, ...after] });
  for (const [request, text] of [
    [begun("{ \n"), "{"],
    [begun("a ", [{ role: "assistant", content: " " }]), "a"],
    [begun("a ", [USER]), "a "],
  ] as const)
    for (const { messages } of [anthropic(request), bedrock(request)] as { messages: readonly Said[] }[])
      assert.equal(messages.find(({ role }) => role === "assistant")?.content[0]?.["text"], text);
  const marked = { messages: [USER, { role: "assistant", content: [{ type: "text", text: "a ", cache_control: MARK }] }] };
  const { messages } = bedrock(marked) as { messages: readonly Said[] };
  assert.deepEqual(messages[1]?.content, [{ text: "a" }, { cachePoint: { type: "default" } }]);
});

test("stop sequences of white space only are left out for models of Anthropic, which refuse them", () => {
  assert.deepEqual(anthropic({ stop: ["\n", "END", " "] })["stop_sequences"], ["END"]);
  assert.equal(anthropic({ stop: "\n\n" })["stop_sequences"], undefined);
  assert.deepEqual(bedrock({ stop: ["\n", "END"] })["inferenceConfig"], { stopSequences: ["END"] });
  assert.deepEqual(bedrock({ stop: ["\n", "END"] }, "amazon.nova-pro-v1:0")["inferenceConfig"], { stopSequences: ["\n", "END"] });
});

test("models on Bedrock that may call one tool at once get the choice in one field, and none without tools", () => {
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const named = { type: "function", function: { name: "f" } };
  const one = { disable_parallel_tool_use: true };
  for (const [tool_choice, sent] of [
    [undefined, { type: "auto", ...one }],
    ["auto", { type: "auto", ...one }],
    ["required", { type: "any", ...one }],
    [named, { type: "tool", name: "f", ...one }],
    ["none", undefined],
  ] as const) {
    const request = bedrock({ tools, tool_choice, parallel_tool_calls: false }) as Partial<Record<string, Record<string, unknown>>>;
    assert.deepEqual(request["additionalModelRequestFields"]?.["tool_choice"], sent);
    assert.equal(request["toolConfig"]?.["toolChoice"], undefined);
  }
  assert.equal(bedrock({ tools, tool_choice: "none", parallel_tool_calls: false }, "amazon.nova-pro-v1:0")["toolConfig"], undefined);
  assert.throws(() => bedrock({ tools, parallel_tool_calls: false }, "amazon.nova-pro-v1:0"), /parallel_tool_calls/);
});

const TURNS_WITH_CALL = [
  USER,
  { role: "assistant", content: null, tool_calls: [{ id: "functions.f:0", type: "function", function: { name: "f", arguments: "{}" } }] },
  { role: "tool", tool_call_id: "functions.f:0", content: "4" },
];

test("ids of calls that another maker's model made are replaced by ids that the provider accepts, equally in call and result", () => {
  const idsIn = (value: unknown): readonly string[] =>
    [...JSON.stringify(value).matchAll(/"(?:id|tool_use_id|toolUseId|tool_call_id)":"([^"]*)"/g)].map(([, id = ""]) => id);
  for (const [sent, form] of [
    [anthropic({ messages: TURNS_WITH_CALL }), /^[A-Za-z0-9_-]{1,64}$/],
    [bedrock({ messages: TURNS_WITH_CALL }), /^[A-Za-z0-9_-]{1,64}$/],
    [mistralFields({ messages: TURNS_WITH_CALL }), /^[A-Za-z0-9]{9}$/],
  ] as const) {
    const [call = "", result] = idsIn(sent);
    assert.match(call, form);
    assert.equal(result, call);
  }
  const own = JSON.parse(JSON.stringify(TURNS_WITH_CALL).replaceAll("functions.f:0", "toolu_01A-b"));
  assert.deepEqual(idsIn(anthropic({ messages: own })), ["toolu_01A-b", "toolu_01A-b"]);
});

test("calls without a signature have Google's stand-in for the generation that demands one, and only the first of calls at once", () => {
  const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
  const messages = [
    USER,
    { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
    { role: "tool", tool_call_id: "a", content: "1" },
    { role: "tool", tool_call_id: "b", content: "2" },
  ];
  const signatures = (model: string): readonly unknown[] =>
    objectsOf(objectsOf(google({ messages }, model)["contents"])[1]?.["parts"]).map((part) => part["thoughtSignature"]);
  assert.deepEqual(signatures("gemini-3-pro-preview"), ["skip_thought_signature_validator", undefined]);
  assert.deepEqual(signatures("gemini-2.5-flash"), [undefined, undefined]);
});

test("the highest efforts become those that each model has", () => {
  for (const [model, effort, sent] of [
    ["claude-opus-4-5", "xhigh", "high"],
    ["claude-opus-4-5", "max", "high"],
    ["claude-opus-4-6", "xhigh", "high"],
    ["claude-opus-4-6", "max", "max"],
    ["claude-opus-4-7", "xhigh", "xhigh"],
  ] as const) {
    assert.deepEqual(anthropic({ reasoning_effort: effort }, model)["output_config"], { effort: sent }, `${model} ${effort}`);
    const further = bedrock({ reasoning_effort: effort }, `anthropic.${model}-v1:0`)["additionalModelRequestFields"];
    assert.deepEqual(further, { output_config: { effort: sent } });
  }
  assert.deepEqual(google({ reasoning_effort: "max" }, "gemini-3-pro-preview")["generationConfig"], {
    thinkingConfig: { thinkingLevel: "high", includeThoughts: true },
  });
});

test("thinking in Anthropic's terms reaches each Gemini generation as it accepts it", () => {
  const config = (type: string, model: string): unknown =>
    objectOf(google({ thinking: { type, budget_tokens: 2000 } }, model)["generationConfig"])?.["thinkingConfig"];
  assert.deepEqual(config("disabled", "gemini-3-pro-preview"), { thinkingLevel: "low" });
  assert.deepEqual(config("disabled", "gemini-2.5-pro"), { thinkingBudget: 128 });
  assert.deepEqual(config("disabled", "gemini-2.5-flash"), { thinkingBudget: 0 });
  assert.deepEqual([config("disabled", "gemini-2.0-flash"), config("enabled", "gemini-2.0-flash")], [undefined, undefined]);
});

test("tools that were called before are named to Bedrock, which refuses their calls otherwise", () => {
  const config = objectOf(bedrock({ messages: TURNS_WITH_CALL })["toolConfig"]);
  assert.deepEqual(config?.["tools"], [{ toolSpec: { name: "f", inputSchema: { json: { type: "object", properties: {} } } } }]);
  assert.equal(bedrock({})["toolConfig"], undefined);
});

test("names of OpenAI's fields and media types that changed are read in both forms", () => {
  assert.deepEqual(anthropic({ safety_identifier: "s" })["metadata"], { user_id: "s" });
  const image = { type: "image_url", image_url: { url: "data:image/jpg;base64,AAAA" } };
  const sent = JSON.stringify(anthropic({ messages: [{ role: "user", content: [image] }] }));
  assert.match(sent, /"media_type":"image\/jpeg"/);
});

test("a mark on the whole request reaches Anthropic, but not the clouds", () => {
  const chat = asked({ cache_control: MARK });
  const sent = (provider: string, model: string) => dialectOf(provider, model)?.request(chat, model)["cache_control"];
  assert.deepEqual(sent("anthropic", "claude-opus-4-5"), MARK);
  assert.equal(sent("google-vertex-ai", "claude-opus-4-5"), undefined);
});

test("Mistral gets OpenAI's fields by its names, and none that it refuses", () => {
  const sent = mistralFields({ model: "m", max_completion_tokens: 5, seed: 7, user: "u", store: false, stream_options: {}, n: 1 });
  assert.deepEqual(sent, { model: "m", max_tokens: 5, random_seed: 7, stream_options: {}, n: 1 });
  assert.deepEqual(mistralFields({ max_completion_tokens: 5, max_tokens: 6 }), { max_tokens: 6 });
});
