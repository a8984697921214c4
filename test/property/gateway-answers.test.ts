import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../support/property.ts";
import { EventStreamReader } from "#wire/http/event-stream.ts";
import type { AnswerFacts } from "#gateway/dialects/completion.ts";
import { dialectOf } from "#gateway/dialects/dialects.ts";

const FACTS: AnswerFacts = { id: "chatcmpl-1", model: "asked-for", createdSeconds: 1, includeUsage: true };
const ANTHROPIC = dialectOf("anthropic", "claude")!;
const GOOGLE = dialectOf("google-ai-studio", "gemini")!;
const BEDROCK = dialectOf("aws-bedrock", "amazon.nova-pro-v1:0")!;

/** A model's answer, independent of the dialect. */
interface Said {
  readonly thoughts: readonly string[];
  readonly texts: readonly string[];
  readonly calls: readonly { readonly name: string; readonly input: object }[];
  readonly finish: "stop" | "length" | "content_filter";
  readonly counts: { readonly prompt: number; readonly cached: number; readonly completion: number; readonly reasoning: number };
}

const word = fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" });
const input = fc.dictionary(fc.constantFrom("x", "y"), fc.oneof(word, fc.integer()), { maxKeys: 2 });
const said: fc.Arbitrary<Said> = fc.record({
  thoughts: fc.array(word, { maxLength: 2 }),
  texts: fc.array(word, { maxLength: 3 }),
  calls: fc.array(fc.record({ name: fc.constantFrom("a", "b"), input }), { maxLength: 3 }),
  finish: fc.constantFrom("stop", "length", "content_filter"),
  counts: fc.record({ prompt: fc.nat(99), cached: fc.nat(99), completion: fc.nat(99), reasoning: fc.nat(99) }),
});

/** The completion that every dialect must give for it. */
function expected({ thoughts, texts, calls, finish, counts }: Said, callId: (i: number) => string): any {
  const text = texts.join("");
  const tool_calls = calls.map(({ name, input }, i) => ({
    id: callId(i),
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const [prompt, completion] = [counts.prompt + counts.cached, counts.completion + counts.reasoning];
  return {
    id: "answer-1",
    model: "model-1",
    choice: {
      index: 0,
      content: text === "" && calls.length > 0 ? null : text,
      reasoning: thoughts.join(""),
      tool_calls,
      finish_reason: finish === "stop" && calls.length > 0 ? "tool_calls" : finish,
    },
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: counts.cached },
      completion_tokens_details: { reasoning_tokens: counts.reasoning },
    },
  };
}

/** A whole completion, reduced to what `expected` tells. */
function whole(completion: any): any {
  const [{ index, message, finish_reason }] = completion.choices;
  const { refusal, reasoning_content: reasoning = "", tool_calls = [] } = message;
  // A refusal is in the place of the text.
  const content = refusal === null ? message.content : (message.content ?? "");
  const { id, model, usage } = completion;
  return { id, model, choice: { index, content, reasoning, tool_calls, finish_reason }, usage };
}

/** Pieces put together as clients do it. */
function assembled(pieces: readonly any[]): any {
  const choice = { index: 0, content: "", reasoning: "", tool_calls: [] as any[], finish_reason: null };
  let usage;
  for (const piece of pieces) {
    assert.equal(piece.object, "chat.completion.chunk");
    usage = piece.usage ?? usage;
    for (const { delta, finish_reason } of piece.choices) {
      choice.content += delta.content ?? "";
      choice.reasoning += delta.reasoning_content ?? "";
      choice.finish_reason = finish_reason ?? choice.finish_reason;
      for (const { index, function: made, ...call } of delta.tool_calls ?? []) {
        choice.tool_calls[index] ??= { ...call, function: { ...made, arguments: "" } };
        choice.tool_calls[index].function.arguments += made.arguments;
      }
    }
  }
  const { id, model } = pieces.at(-1);
  return {
    id,
    model,
    choice: { ...choice, content: choice.content === "" && choice.tool_calls.length > 0 ? null : choice.content },
    usage,
  };
}

const anthropicUsage = ({ counts }: Said): object => ({
  input_tokens: counts.prompt,
  cache_read_input_tokens: counts.cached,
  cache_creation_input_tokens: 0,
  output_tokens: counts.completion + counts.reasoning,
  output_tokens_details: { thinking_tokens: counts.reasoning },
});
const anthropicStop = ({ finish, calls }: Said): string =>
  finish === "stop" ? (calls.length > 0 ? "tool_use" : "end_turn") : finish === "length" ? "max_tokens" : "refusal";
const anthropicBlocks = ({ thoughts, texts, calls }: Said): any[] => [
  ...thoughts.map((thinking) => ({ type: "thinking", thinking, signature: "s" })),
  ...texts.map((text) => ({ type: "text", text })),
  ...calls.map(({ name, input }, i) => ({ type: "tool_use", id: `call-${i}`, name, input })),
];
const anthropicMessage = (it: Said): object => ({
  id: "answer-1",
  type: "message",
  role: "assistant",
  model: "model-1",
  content: anthropicBlocks(it),
  stop_reason: anthropicStop(it),
  usage: anthropicUsage(it),
});

/** The events of a message: blocks begin empty and are filled by pieces. */
function anthropicEvents(it: Said): object[] {
  const filled = ({ type, text = "", thinking = "", input }: any): object[] => {
    if (type === "text") return [...text].map((part) => ({ type: "text_delta", text: part }));
    if (type === "thinking")
      return [
        { type: "thinking_delta", thinking },
        { type: "signature_delta", signature: "s" },
      ];
    const json = JSON.stringify(input);
    return json === "{}" ? [] : ["", json.slice(0, 3), json.slice(3)].map((partial_json) => ({ type: "input_json_delta", partial_json }));
  };
  const blocks = anthropicBlocks(it).flatMap((block, index) => [
    {
      type: "content_block_start",
      index,
      content_block: { ...block, ...("text" in block ? { text: "" } : {}), ...("input" in block ? { input: {} } : {}) },
    },
    ...filled(block).map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]);
  const start = { id: "answer-1", type: "message", role: "assistant", model: "model-1", content: [], usage: anthropicUsage(it) };
  return [
    { type: "message_start", message: { ...start, usage: { ...anthropicUsage(it), output_tokens: 1, output_tokens_details: null } } },
    { type: "ping" },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: anthropicStop(it) }, usage: { ...anthropicUsage(it), input_tokens: null } },
    { type: "message_stop" },
  ];
}

const googleReason = ({ finish }: Said): string => ({ stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" })[finish];
const googleUsage = ({ counts }: Said): object => ({
  promptTokenCount: counts.prompt + counts.cached,
  cachedContentTokenCount: counts.cached,
  candidatesTokenCount: counts.completion,
  thoughtsTokenCount: counts.reasoning,
});
const googleParts = ({ thoughts, texts, calls }: Said): object[] => [
  ...thoughts.map((text) => ({ text, thought: true })),
  ...texts.map((text) => ({ text })),
  ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
];
const GOOGLE_IDS = { responseId: "answer-1", modelVersion: "model-1" };
const googleBody = (it: Said): object => ({
  ...GOOGLE_IDS,
  candidates: [{ index: 0, content: { role: "model", parts: googleParts(it) }, finishReason: googleReason(it) }],
  usageMetadata: googleUsage(it),
});
const googleEvents = (it: Said): object[] => [
  ...googleParts(it).map((part) => ({
    ...GOOGLE_IDS,
    candidates: [{ content: { role: "model", parts: [part] } }],
    usageMetadata: { promptTokenCount: 1 },
  })),
  { ...GOOGLE_IDS, candidates: [{ content: {}, finishReason: googleReason(it) }], usageMetadata: googleUsage(it) },
];

const bedrockStop = ({ finish, calls }: Said): string =>
  finish === "stop" ? (calls.length > 0 ? "tool_use" : "end_turn") : finish === "length" ? "max_tokens" : "guardrail_intervened";
const bedrockUsage = ({ counts }: Said): object => ({
  inputTokens: counts.prompt,
  cacheReadInputTokens: counts.cached,
  cacheWriteInputTokens: 0,
  outputTokens: counts.completion + counts.reasoning,
  totalTokens: counts.prompt + counts.completion + counts.reasoning,
});
const bedrockBlocks = ({ thoughts, texts, calls }: Said): any[] => [
  ...thoughts.map((text) => ({ reasoningContent: { reasoningText: { text, signature: "s" } } })),
  ...texts.map((text) => ({ text })),
  ...calls.map(({ name, input }, i) => ({ toolUse: { toolUseId: `call-${i}`, name, input } })),
];
const bedrockBody = (it: Said): object => ({
  output: { message: { role: "assistant", content: bedrockBlocks(it) } },
  stopReason: bedrockStop(it),
  usage: bedrockUsage(it),
  metrics: { latencyMs: 1 },
});

/** The events of a stream of Converse; `type` stands for the header that names them. */
function bedrockEvents(it: Said): object[] {
  const filled = ({ text, reasoningContent, toolUse }: any): object[] => {
    if (text !== undefined) return [...text].map((part) => ({ text: part }));
    if (reasoningContent !== undefined)
      return [{ reasoningContent: { text: reasoningContent.reasoningText.text } }, { reasoningContent: { signature: "s" } }];
    const json = JSON.stringify(toolUse.input);
    return json === "{}" ? [] : ["", json.slice(0, 3), json.slice(3)].map((input) => ({ toolUse: { input } }));
  };
  const blocks = bedrockBlocks(it).flatMap((block, contentBlockIndex) => [
    ...(block.toolUse === undefined
      ? []
      : [
          {
            type: "contentBlockStart",
            contentBlockIndex,
            start: { toolUse: { toolUseId: block.toolUse.toolUseId, name: block.toolUse.name } },
          },
        ]),
    ...filled(block).map((delta) => ({ type: "contentBlockDelta", contentBlockIndex, delta })),
    { type: "contentBlockStop", contentBlockIndex },
  ]);
  return [
    { type: "messageStart", role: "assistant" },
    ...blocks,
    { type: "messageStop", stopReason: bedrockStop(it) },
    { type: "metadata", usage: bedrockUsage(it), metrics: { latencyMs: 1 } },
  ];
}

/** The counts do not say what of the completion was thought. */
const untoldThoughts = (it: Said): Said => ({
  ...it,
  counts: { ...it.counts, completion: it.counts.completion + it.counts.reasoning, reasoning: 0 },
});

const DIALECT_CASES = [
  { name: "messages", dialect: ANTHROPIC, body: anthropicMessage, events: anthropicEvents, callId: (i: number) => `call-${i}` },
  { name: "generated content", dialect: GOOGLE, body: googleBody, events: googleEvents, callId: (i: number) => `call_answer-1_0_${i}` },
  {
    name: "converse",
    dialect: BEDROCK,
    body: bedrockBody,
    events: bedrockEvents,
    callId: (i: number) => `call-${i}`,
    told: untoldThoughts,
    facts: { ...FACTS, id: "answer-1", model: "model-1" },
    // The last one only counts.
    closing: 2,
    error: { type: "throttlingException", message: "busy" },
  },
];

const streamOf = (events: readonly object[]): Buffer =>
  Buffer.from(events.map((event: any) => `${event.type ? `event: ${event.type}\r\n` : ""}data: ${JSON.stringify(event)}\r\n\r\n`).join(""));

/** Result of a stream: its chunks, and whether it has an end or an error. */
function translated(dialect: typeof ANTHROPIC, chunks: readonly Buffer[], facts = FACTS) {
  const translator = dialect.stream(facts);
  const pieces: object[] = [];
  const errors: object[] = [];
  const reader = new EventStreamReader(
    (event) => {
      const step = translator.event(event);
      pieces.push(...step.pieces);
      if (step.error !== undefined) errors.push(step.error);
    },
    { eventBytesMax: 65_536 },
  );
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  const last = translator.end();
  return { pieces: [...pieces, ...(last ?? [])], isFinished: last !== undefined, errors };
}

const ERROR = { type: "error", error: { type: "overloaded_error", status: "UNAVAILABLE", message: "busy" } };

for (const { name, dialect, body, events, callId, told = (it: Said) => it, facts = FACTS, closing = 1, error = ERROR } of DIALECT_CASES)
  describe(`responses of ${name}`, () => {
    test("a buffered response keeps its meaning and usage in translation", () => {
      fc.assert(
        fc.property(said, (it) => {
          const completion = dialect.answer(JSON.parse(JSON.stringify(body(it))), facts);
          assert.deepEqual(whole(JSON.parse(JSON.stringify(completion))), expected(told(it), callId));
        }),
        { numRuns: 200 },
      );
    });

    test("a streamed response keeps its meaning and usage, wherever it is cut into chunks", () => {
      fc.assert(
        fc.property(said, fc.array(fc.nat(4000), { maxLength: 8 }), (it, places) => {
          const bytes = streamOf(events(it));
          const ends = [...new Set(places.map((place) => place % bytes.length)), bytes.length].sort((a, b) => a - b);
          const chunks = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
          const { pieces, isFinished, errors } = translated(dialect, chunks, facts);
          assert.deepEqual([isFinished, errors], [true, []]);
          assert.deepEqual(JSON.parse(JSON.stringify(assembled(pieces))), expected(told(it), callId));
        }),
        { numRuns: 200 },
      );
    });

    test("a stream without its last event has no end, and no chunk has a finish reason", () => {
      fc.assert(
        fc.property(said, fc.nat(100), (it, left) => {
          const all = events(it);
          const { pieces, isFinished } = translated(dialect, [streamOf(all.slice(0, left % (all.length - closing + 1)))]);
          assert.equal(isFinished, false);
          assert.ok(pieces.every((piece: any) => piece.choices.every((choice: any) => choice.finish_reason === null)));
        }),
        { numRuns: 200 },
      );
    });

    test("a response whose provider did not count has no usage", () => {
      const uncounted = (value: object): object =>
        JSON.parse(JSON.stringify(value, (key, member) => (key === "usage" || key === "usageMetadata" ? undefined : member)));
      const emptied = (value: object): object =>
        JSON.parse(JSON.stringify(value, (key, member) => (key === "usage" || key === "usageMetadata" ? { kind: "none" } : member)));
      fc.assert(
        fc.property(said, (it) => {
          for (const without of [uncounted, emptied]) {
            assert.equal("usage" in (dialect.answer(without(body(it)) as any, facts) as object), false);
            const { pieces, isFinished } = translated(dialect, [streamOf(events(it).map(without))], facts);
            assert.equal(isFinished, true);
            assert.ok(pieces.every((piece: any) => piece.usage === null && piece.choices.length === 1));
          }
        }),
        { numRuns: 50 },
      );
    });

    test("an event that is not JSON, and an error event, give errors", () => {
      assert.equal(translated(dialect, [Buffer.from("data: {\n\n")]).errors.length, 1);
      const { errors, isFinished } = translated(dialect, [streamOf([error])]);
      assert.equal(isFinished, false);
      assert.equal((errors[0] as any).error.message, "busy");
    });

    test("property: no sequence of events crashes the translation or looks complete by accident", () => {
      const key = fc.constantFrom("type", "delta", "content_block", "index", "message", "usage", "candidates", "content", "parts", "text");
      const value = fc.anything({
        maxDepth: 4,
        key,
        values: [fc.constantFrom("text_delta", "tool_use", "constructor", 0, -1, null), fc.string()],
      });
      const type = fc.constantFrom(
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "x",
      );
      const event = fc.oneof(
        value,
        fc.record({ type, delta: value, content_block: value, message: value, usage: value, candidates: value }),
      );
      fc.assert(
        fc.property(fc.array(event, { maxLength: 6 }), (list) => {
          const lines = list.map((one) => `data: ${JSON.stringify(one) ?? "null"}\n\n`).join("");
          assert.equal(translated(dialect, [Buffer.from(lines)]).isFinished, false);
        }),
        { numRuns: 500 },
      );
    });
  });

describe("responses that are errors or refusals", () => {
  test("an error is not translated as a response", () => {
    assert.equal(ANTHROPIC.answer({ type: "error" }, FACTS), undefined);
    assert.equal(GOOGLE.answer({ error: {} }, FACTS), undefined);
  });

  test("a refused prompt becomes a response without content", () => {
    const completion: any = GOOGLE.answer({ promptFeedback: { blockReason: "SAFETY" } }, FACTS);
    assert.equal(completion.choices[0].finish_reason, "content_filter");
    assert.equal(completion.choices[0].message.refusal, "SAFETY");
    const { isFinished } = translated(GOOGLE, [streamOf([{ promptFeedback: { blockReason: "SAFETY" } }])]);
    assert.equal(isFinished, true);
  });

  test("an error becomes an error of OpenAI's dialect", () => {
    const anthropic = ANTHROPIC.error({ type: "error", error: { type: "rate_limit_error", message: "slow down" } }, 429);
    assert.deepEqual(anthropic, { error: { message: "slow down", type: "rate_limit_error", param: null, code: "rate_limit_error" } });
    const google = GOOGLE.error([{ error: { code: 400, status: "INVALID_ARGUMENT", message: "no" } }], 400);
    assert.deepEqual(google, { error: { message: "no", type: "INVALID_ARGUMENT", param: null, code: "INVALID_ARGUMENT" } });
    assert.deepEqual(GOOGLE.error("<html>", 502), {
      error: { message: "the provider responded with status 502", type: "api_error", param: null, code: null },
    });
  });
});
