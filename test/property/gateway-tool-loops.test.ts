import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chatsOf, type Reply } from "../support/dialect-replies.ts";
import { fc } from "../support/property.ts";

const ANTHROPIC_MODEL = "claude-sonnet-4-5";
const BEDROCK_MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const THINKING = { thinking: { type: "enabled", budget_tokens: 2000 } };
const QUESTION = { role: "user", content: "How warm is it?" };
const TOOL = { type: "function", function: { name: "weather", parameters: { type: "object" } } };
const RESULT = { role: "tool", tool_call_id: "t1", content: "4 degrees" };

const THOUGHTS = [
  { type: "thinking", thinking: "I need the weather.", signature: "sig+1/=" },
  { type: "redacted_thinking", data: "c2VjcmV0" },
];

const anthropic: Reply = {
  provider: "anthropic",
  model: ANTHROPIC_MODEL,
  whole: {
    id: "m1",
    type: "message",
    role: "assistant",
    model: ANTHROPIC_MODEL,
    content: [
      ...THOUGHTS,
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: "t1", name: "weather", input: { town: "Oslo" } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 2 },
  },
  events: [
    ["message_start", { type: "message_start", message: { id: "m1", model: ANTHROPIC_MODEL, usage: {} } }],
    ...blockEvents(0, { type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: "I need " },
      { type: "thinking_delta", thinking: "the weather." },
      { type: "signature_delta", signature: "sig+1/=" },
    ]),
    ...blockEvents(1, { type: "redacted_thinking", data: "c2VjcmV0" }, []),
    ...blockEvents(2, { type: "text", text: "" }, [{ type: "text_delta", text: "Let me look." }]),
    ...blockEvents(3, { type: "tool_use", id: "t1", name: "weather", input: {} }, [
      { type: "input_json_delta", partial_json: '{"town":"Oslo"}' },
    ]),
    ["message_delta", { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } }],
    ["message_stop", { type: "message_stop" }],
  ],
};

function blockEvents(index: number, content_block: object, deltas: readonly object[]): [string, object][] {
  return [
    ["content_block_start", { type: "content_block_start", index, content_block }],
    ...deltas.map((delta): [string, object] => ["content_block_delta", { type: "content_block_delta", index, delta }]),
    ["content_block_stop", { type: "content_block_stop", index }],
  ];
}

const bedrock: Reply = {
  provider: "aws-bedrock",
  model: BEDROCK_MODEL,
  whole: {
    output: {
      message: {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "I need the weather.", signature: "sig+1/=" } } },
          { reasoningContent: { redactedContent: "c2VjcmV0" } },
          { text: "Let me look." },
          { toolUse: { toolUseId: "t1", name: "weather", input: { town: "Oslo" } } },
        ],
      },
    },
    stopReason: "tool_use",
    usage: { inputTokens: 1, outputTokens: 2 },
  },
  events: [
    ["messageStart", { role: "assistant" }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "I need " } } }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "the weather." } } }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { signature: "sig+1/=" } } }],
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ["contentBlockDelta", { contentBlockIndex: 1, delta: { reasoningContent: { redactedContent: "c2VjcmV0" } } }],
    ["contentBlockDelta", { contentBlockIndex: 2, delta: { text: "Let me look." } }],
    ["contentBlockStart", { contentBlockIndex: 3, start: { toolUse: { toolUseId: "t1", name: "weather" } } }],
    ["contentBlockDelta", { contentBlockIndex: 3, delta: { toolUse: { input: '{"town":"Oslo"}' } } }],
    ["contentBlockStop", { contentBlockIndex: 3 }],
    ["messageStop", { stopReason: "tool_use" }],
    ["metadata", { usage: { inputTokens: 1, outputTokens: 2 } }],
  ],
};

describe("the thoughts of a model return to it with the results of its tools", () => {
  const secondTurn = (reply: Reply, message: object): any =>
    chatsOf(reply).request({ ...THINKING, messages: [QUESTION, message, RESULT], tools: [TOOL] });
  const sentBack = {
    anthropic: [
      ...THOUGHTS,
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: "t1", name: "weather", input: { town: "Oslo" } },
    ],
    "aws-bedrock": (bedrock.whole as any).output.message.content,
  };
  for (const reply of [anthropic, bedrock])
    for (const form of ["whole", "streamed"] as const)
      test(`${reply.provider}, ${form}`, () => {
        const message = chatsOf(reply)[form]();
        assert.deepEqual(message.thinking_blocks, THOUGHTS);
        assert.equal(message.reasoning_content, "I need the weather.");
        assert.deepEqual(secondTurn(reply, message).messages[1].content, sentBack[reply.provider as keyof typeof sentBack]);
      });

  test("in the fields of other gateways too", () => {
    const call = { id: "t1", type: "function", function: { name: "weather", arguments: "{}" } };
    for (const carried of [
      {
        reasoning_details: [
          { type: "reasoning.text", text: "I need the weather.", signature: "sig+1/=", format: "anthropic-claude-v1", index: 0 },
          { type: "reasoning.encrypted", data: "c2VjcmV0", format: "anthropic-claude-v1", index: 1 },
        ],
      },
      { content: [...THOUGHTS, { type: "text", text: "Let me look." }] },
    ])
      assert.deepEqual(
        secondTurn(anthropic, { role: "assistant", tool_calls: [call], ...carried }).messages[1].content.slice(0, 2),
        THOUGHTS,
      );
  });

  test("thoughts without a signature, or of another maker's model, are dropped", () => {
    for (const carried of [
      { thinking_blocks: [{ type: "thinking", thinking: "hm" }] },
      { reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s", format: "google-gemini-v1" }] },
      { reasoning_content: "hm" },
    ])
      assert.deepEqual(
        chatsOf(anthropic).request({ messages: [QUESTION, { role: "assistant", content: "Hi", ...carried }, QUESTION] }).messages[1]
          .content,
        [{ type: "text", text: "Hi" }],
      );
  });
});

/** A message's blocks as Anthropic has them: thoughts, then at most one text and some calls, and again. */
const SEGMENT = fc.tuple(
  fc.integer({ min: 1, max: 2 }),
  fc.constantFrom("", "Let me look. ", "Für Oslo 🧊:"),
  fc.integer({ min: 0, max: 2 }),
);
const blocksOf = (segments: readonly [number, string, number][]): any[] =>
  segments.flatMap(([thoughts, text, calls], n) => [
    ...Array.from({ length: thoughts }, (_, i) =>
      i === 1 ? { type: "redacted_thinking", data: `hidden${n}` } : { type: "thinking", thinking: `thought ${n}`, signature: `sig${n}` },
    ),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...Array.from({ length: calls }, (_, i) => ({ type: "tool_use", id: `t${n}_${i}`, name: "weather", input: { n, i } })),
  ]);

const ANTHROPIC_DELTAS: Readonly<Record<string, (block: any) => readonly object[]>> = {
  thinking: ({ thinking, signature }) => [
    { type: "thinking_delta", thinking },
    { type: "signature_delta", signature },
  ],
  redacted_thinking: () => [],
  text: ({ text }) => [{ type: "text_delta", text }],
  tool_use: ({ input }) => [{ type: "input_json_delta", partial_json: JSON.stringify(input) }],
};
const EMPTIED: Readonly<Record<string, object>> = {
  thinking: { thinking: "", signature: "" },
  text: { text: "" },
  tool_use: { input: {} },
};

const CONVERSE_BLOCKS: Readonly<Record<string, (block: any) => object>> = {
  thinking: ({ thinking: text, signature }) => ({ reasoningContent: { reasoningText: { text, signature } } }),
  redacted_thinking: ({ data }) => ({ reasoningContent: { redactedContent: data } }),
  text: ({ text }) => ({ text }),
  tool_use: ({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } }),
};

function converseEvents(block: any, contentBlockIndex: number): [string, object][] {
  const delta = (members: object): [string, object] => ["contentBlockDelta", { contentBlockIndex, delta: members }];
  const stop: [string, object] = ["contentBlockStop", { contentBlockIndex }];
  if (block.type === "thinking")
    return [delta({ reasoningContent: { text: block.thinking } }), delta({ reasoningContent: { signature: block.signature } }), stop];
  if (block.type === "redacted_thinking") return [delta({ reasoningContent: { redactedContent: block.data } }), stop];
  if (block.type === "text") return [delta({ text: block.text }), stop];
  const start = { toolUse: { toolUseId: block.id, name: block.name } };
  return [["contentBlockStart", { contentBlockIndex, start }], delta({ toolUse: { input: JSON.stringify(block.input) } }), stop];
}

const interleaved = {
  anthropic: (blocks: any[]): Reply => ({
    ...anthropic,
    whole: { ...anthropic.whole, content: blocks },
    events: [
      anthropic.events[0]!,
      ...blocks.flatMap((block, i) => blockEvents(i, { ...block, ...EMPTIED[block.type] }, ANTHROPIC_DELTAS[block.type]!(block))),
      ...anthropic.events.slice(-2),
    ],
  }),
  "aws-bedrock": (blocks: any[]): Reply => ({
    ...bedrock,
    whole: {
      ...bedrock.whole,
      output: { message: { role: "assistant", content: blocks.map((block) => CONVERSE_BLOCKS[block.type]!(block)) } },
    },
    events: [bedrock.events[0]!, ...blocks.flatMap(converseEvents), ...bedrock.events.slice(-2)],
  }),
};

describe("thoughts between texts and calls keep their places in the next request", () => {
  for (const provider of ["anthropic", "aws-bedrock"] as const)
    for (const form of ["whole", "streamed"] as const)
      test(`${provider}, ${form}`, () => {
        fc.assert(
          fc.property(fc.array(SEGMENT, { minLength: 1, maxLength: 4 }), (segments) => {
            const blocks = blocksOf(segments as [number, string, number][]);
            const chats = chatsOf(interleaved[provider](blocks));
            const message = chats[form]();
            const sent: any = chats.request({ ...THINKING, messages: [QUESTION, message, QUESTION], tools: [TOOL] });
            const expected = provider === "anthropic" ? blocks : blocks.map((block) => CONVERSE_BLOCKS[block.type]!(block));
            assert.deepEqual(sent.messages[1].content, expected);
          }),
          { numRuns: 60 },
        );
      });

  test("a place beyond the message, or none, changes no text", () => {
    const call = { id: "t1", type: "function", function: { name: "weather", arguments: "{}" } };
    const [thought] = THOUGHTS;
    const contentOf = (after: unknown): any[] =>
      chatsOf(anthropic).request({
        messages: [QUESTION, { role: "assistant", content: "Hm.", tool_calls: [call], thinking_blocks: [{ ...thought, after }] }, RESULT],
      }).messages[1].content;
    const types = (after: unknown): string =>
      contentOf(after)
        .map(({ type, text = "" }: any) => type + text)
        .join(" ");
    assert.equal(types({ text: 99, calls: 99 }), "textHm. tool_use thinking");
    assert.equal(types({ text: 1, calls: 0 }), "textH thinking textm. tool_use");
    for (const none of [undefined, null, "x", { text: -1, calls: "1" }]) assert.equal(types(none), "thinking textHm. tool_use");
    assert.deepEqual(contentOf({ text: 99, calls: 99 }).at(-1), thought);
  });
});

describe("Amazon Bedrock", () => {
  const MARK = { type: "ephemeral" };
  const POINT = { cachePoint: { type: "default" } };
  const HOUR = { cachePoint: { type: "default", ttl: "1h" } };
  const { request } = chatsOf(bedrock);

  test("cache marks become cache points behind what they mark", () => {
    const call = { id: "t1", type: "function", function: { name: "weather", arguments: "{}" } };
    const sent = request({
      messages: [
        { role: "system", content: "rules", cache_control: { ...MARK, ttl: "1h" } },
        { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBO" }, cache_control: MARK }] },
        { role: "assistant", content: null, tool_calls: [call], cache_control: MARK },
        { ...RESULT, cache_control: MARK },
      ],
      tools: [{ ...TOOL, cache_control: MARK }],
    });
    assert.deepEqual(sent.system, [{ text: "rules" }, HOUR]);
    assert.deepEqual(sent.toolConfig.tools.slice(1), [POINT]);
    assert.deepEqual(
      sent.messages.map(({ content }: any) => content.slice(1)),
      [[POINT], [POINT], [POINT]],
    );
    assert.deepEqual(sent.messages[2].content[0].toolResult.content, [{ text: "4 degrees" }]);
  });

  test("texts of white space only are dropped", () => {
    const content = [
      { type: "text", text: " \n" },
      { type: "text", text: "hello" },
    ];
    assert.deepEqual(request({ messages: [{ role: "user", content }] }).messages[0].content, [{ text: "hello" }]);
  });

  test("the thinking budget stays below the output limit", () => {
    const thinking = { type: "enabled", budget_tokens: 10_000 };
    const sent = (more: object) => request({ messages: [QUESTION], thinking, ...more });
    const budget = (it: any): unknown => it.additionalModelRequestFields.thinking.budget_tokens;
    assert.deepEqual([sent({}).inferenceConfig, budget(sent({}))], [{ maxTokens: 14_096 }, 10_000]);
    const bounded = sent({ max_tokens: 8000 });
    assert.deepEqual([bounded.inferenceConfig, budget(bounded)], [{ maxTokens: 8000 }, 7999]);
    assert.equal(request({ messages: [QUESTION] }).inferenceConfig, undefined);
  });

  test("effort is sent only to models that support it", () => {
    for (const [model, fields] of [
      ["anthropic.claude-opus-4-5-20251101-v1:0", { output_config: { effort: "high" } }],
      [BEDROCK_MODEL, undefined],
      ["amazon.nova-2-lite-v1:0", { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } }],
      ["amazon.nova-pro-v1:0", undefined],
      ["openai.gpt-oss-120b-1:0", { reasoning_effort: "high" }],
      ["meta.llama3-3-70b-instruct-v1:0", undefined],
    ] as const)
      assert.deepEqual(
        chatsOf({ ...bedrock, model }).request({ messages: [QUESTION], reasoning_effort: "high" }).additionalModelRequestFields,
        fields,
        model,
      );
  });
});
