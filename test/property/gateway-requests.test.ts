import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../support/property.ts";
import { anthropicRequest } from "#gateway/dialects/anthropic-request.ts";
import { readChat } from "#gateway/dialects/chat.ts";
import { googleRequest } from "#gateway/dialects/google-request.ts";
import { UntranslatableError } from "#gateway/http/json.ts";

/** The requests as JSON would carry them: what is undefined is not there. */
const anthropic = (body: unknown): any => JSON.parse(JSON.stringify(anthropicRequest(readChat(body), "m")));
const google = (body: unknown): any => JSON.parse(JSON.stringify(googleRequest(readChat(body), "gemini-2.5-pro")));
const hello = [{ role: "user", content: "hello" }];
const PIXEL = "iVBORw0KGgo=";

const WEATHER = {
  type: "function",
  function: { name: "weather", description: "of a town", parameters: { type: "object", properties: { town: { type: "string" } } } },
};

const CONVERSATION = [
  { role: "system", content: "Be brief." },
  { role: "developer", content: [{ type: "text", text: "Use tools.", cache_control: { type: "ephemeral" } }] },
  {
    role: "user",
    content: [
      { type: "text", text: "Compare" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}`, detail: "low" } },
      { type: "image_url", image_url: { url: "https://example.com/a.jpg" } },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "1", type: "function", function: { name: "weather", arguments: '{"town":"Oslo"}' } },
      { id: "2", type: "function", function: { name: "weather", arguments: "" } },
    ],
  },
  { role: "tool", tool_call_id: "1", content: '{"degrees":4}' },
  { role: "tool", tool_call_id: "2", content: "no town" },
  { role: "user", content: "So?" },
];

describe("chat completions translated to messages", () => {
  test("a conversation with images, parallel tool calls and their results", () => {
    assert.deepEqual(anthropic({ model: "x", messages: CONVERSATION, tools: [WEATHER] }), {
      model: "m",
      max_tokens: 4096,
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Use tools.", cache_control: { type: "ephemeral" } },
      ],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Compare" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
            { type: "image", source: { type: "url", url: "https://example.com/a.jpg" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "tool_use", id: "1", name: "weather", input: { town: "Oslo" } },
            { type: "tool_use", id: "2", name: "weather", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: '{"degrees":4}' }] },
            { type: "tool_result", tool_use_id: "2", content: [{ type: "text", text: "no town" }] },
            { type: "text", text: "So?" },
          ],
        },
      ],
      tools: [{ name: "weather", description: "of a town", input_schema: WEATHER.function.parameters }],
    });
  });

  test("every setting of the dialect", () => {
    const settings = {
      max_completion_tokens: 9,
      max_tokens: 5,
      temperature: 1.5,
      top_p: 0.5,
      stop: "END",
      stream: true,
      user: "u1",
      reasoning_effort: "high",
      parallel_tool_calls: false,
      tool_choice: { type: "function", function: { name: "weather" } },
      response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } },
    };
    const { messages: _, tools: __, ...rest } = anthropic({ messages: hello, tools: [WEATHER], ...settings });
    assert.deepEqual(rest, {
      model: "m",
      max_tokens: 9,
      temperature: 1,
      top_p: 0.5,
      stop_sequences: ["END"],
      stream: true,
      metadata: { user_id: "u1" },
      tool_choice: { type: "tool", name: "weather", disable_parallel_tool_use: true },
      output_config: { effort: "high", format: { type: "json_schema", schema: { type: "object" } } },
    });
  });

  test("a tool choice limited to some tools sends only those", () => {
    const tool_choice = {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "b" } }] },
    };
    const tools = ["a", "b"].map((name) => ({ type: "function", function: { name } }));
    const body = anthropic({ messages: hello, tools, tool_choice });
    assert.deepEqual(body.tools, [{ name: "b", input_schema: { type: "object", properties: {} } }]);
    assert.deepEqual(body.tool_choice, { type: "any" });
  });

  test("files become documents", () => {
    const file = (file: object) => ({ role: "user", content: [{ type: "file", file }] });
    const blocks = (value: object) => anthropic({ messages: [file(value)] }).messages[0].content;
    assert.deepEqual(blocks({ filename: "a.pdf", file_data: `data:application/pdf;base64,${PIXEL}` }), [
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: PIXEL }, title: "a.pdf" },
    ]);
    assert.deepEqual(blocks({ file_id: "file_1" }), [{ type: "document", source: { type: "file", file_id: "file_1" } }]);
  });
});

describe("chat completions translated to generated content", () => {
  test("a conversation with images, parallel tool calls and their results", () => {
    assert.deepEqual(google({ messages: CONVERSATION, tools: [WEATHER] }), {
      systemInstruction: { parts: [{ text: "Be brief." }, { text: "Use tools." }] },
      contents: [
        {
          role: "user",
          parts: [
            { text: "Compare" },
            { inlineData: { mimeType: "image/png", data: PIXEL } },
            { fileData: { mimeType: "image/jpeg", fileUri: "https://example.com/a.jpg" } },
          ],
        },
        {
          role: "model",
          parts: [
            { functionCall: { id: "1", name: "weather", args: { town: "Oslo" } } },
            { functionCall: { id: "2", name: "weather", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "1", name: "weather", response: { degrees: 4 } } },
            { functionResponse: { id: "2", name: "weather", response: { output: "no town" } } },
            { text: "So?" },
          ],
        },
      ],
      tools: [{ functionDeclarations: [{ name: "weather", description: "of a town", parametersJsonSchema: WEATHER.function.parameters }] }],
    });
  });

  test("every setting of the dialect", () => {
    const settings = {
      max_tokens: 5,
      temperature: 1.5,
      top_p: 0.5,
      stop: ["END", "STOP"],
      n: 2,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      reasoning_effort: "none",
      tool_choice: { type: "function", function: { name: "weather" } },
      response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } },
    };
    const { generationConfig, toolConfig } = google({ messages: hello, tools: [WEATHER], ...settings });
    assert.deepEqual(generationConfig, {
      maxOutputTokens: 5,
      temperature: 1.5,
      topP: 0.5,
      stopSequences: ["END", "STOP"],
      candidateCount: 2,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object" },
      thinkingConfig: { thinkingBudget: 128 },
    });
    assert.deepEqual(toolConfig, { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["weather"] } });
  });

  test("a call's signature is sent back to its provider", () => {
    const call = {
      id: "1",
      type: "function",
      function: { name: "weather", arguments: "{}" },
      extra_content: { google: { thought_signature: "sig" } },
    };
    const [content] = google({ messages: [{ role: "assistant", tool_calls: [call] }] }).contents;
    assert.deepEqual(content.parts, [{ functionCall: { id: "1", name: "weather", args: {} }, thoughtSignature: "sig" }]);
  });
});

describe("features that only OpenAI's dialect has", () => {
  test("json_object becomes an instruction after the client's own", () => {
    const body = { messages: [{ role: "system", content: "Be brief." }, ...hello], response_format: { type: "json_object" } };
    const { system, output_config } = anthropic(body);
    assert.deepEqual([system.length, system[0].text, output_config], [2, "Be brief.", undefined]);
    assert.match(system[1].text, /one JSON object and nothing else/);
    assert.equal(google(body).generationConfig.responseMimeType, "application/json");
  });

  test("a request with only instructions sends them as the user's message", () => {
    const body = { messages: [{ role: "system", content: "Say hello." }] };
    assert.deepEqual(anthropic(body).messages, [{ role: "user", content: [{ type: "text", text: "Say hello." }] }]);
    assert.deepEqual(google(body), { contents: [{ role: "user", parts: [{ text: "Say hello." }] }] });
    assert.equal(anthropic(body).system, undefined);
  });
});

describe("requests that another dialect cannot express", () => {
  const refusals: readonly (readonly [object, RegExp])[] = [
    [{}, /^messages: must be/],
    [{ messages: "hello" }, /messages must be an array/],
    [{ messages: [{ role: "user", content: 7 }] }, /messages\[0\]\.content must be an array/],
    [{ messages: [{ role: "wizard", content: "" }] }, /messages\[0\]\.role: must be/],
    [{ messages: [{ role: "tool", tool_call_id: "9", content: "" }] }, /messages\[0\]\.tool_call_id: no assistant message/],
    [{ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "ftp://x" } }] }] }, /image_url\.url: must be an http/],
    [{ messages: hello, functions: [] }, /functions: use tools/],
    [{ messages: hello, n: 2 }, /^n: /],
    [{ messages: hello, logprobs: true }, /^logprobs: /],
    [{ messages: hello, temperature: "hot" }, /temperature must be a number/],
    [{ messages: hello, tools: [{ type: "custom", custom: {} }] }, /tools\[0\]\.type: this provider accepts only functions/],
    [{ messages: hello, stop: [1] }, /stop must be/],
    [
      { messages: [{ role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name: "a", arguments: "{" } }] }] },
      /messages\[0\]\.tool_calls\[0\]\.function\.arguments: must be a JSON object/,
    ],
  ];
  for (const [body, message] of refusals)
    test(`are refused with a pointer: ${message.source}`, () =>
      assert.throws(
        () => anthropic(body),
        (error) => error instanceof UntranslatableError && message.test(error.message),
      ));

  test("property: any body is translated or refused, and never crashes", () => {
    const value = fc.anything({
      maxDepth: 4,
      key: fc.constantFrom("messages", "role", "content", "type", "text", "tools", "function", "name"),
    });
    const message = fc.record({ role: fc.constantFrom("user", "assistant", "system", "tool"), content: value }, { requiredKeys: [] });
    const body = fc.oneof(value, fc.record({ messages: fc.array(fc.oneof(message, value), { maxLength: 4 }), tools: value, stop: value }));
    for (const translate of [anthropic, google])
      fc.assert(
        fc.property(body, (given) => {
          try {
            translate(given);
          } catch (error) {
            assert.ok(error instanceof UntranslatableError, String(error));
          }
        }),
        { numRuns: 400 },
      );
  });
});

describe("a conversation keeps its meaning in translation", () => {
  // Anthropic gets no blank text, and no white space at the end of the conversation.
  const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() === text);
  const call = fc.record({
    name: fc.constantFrom("a", "b"),
    input: fc.dictionary(fc.constantFrom("x", "y"), fc.oneof(word, fc.integer())),
  });
  const exchange = fc.record({
    asked: word,
    said: fc.option(word, { nil: undefined }),
    calls: fc.array(call, { maxLength: 3 }),
    answer: word,
  });

  /** Of each exchange: what the user asks, what the model says and calls, what the calls give, and what the model says then. */
  const conversation = fc.array(exchange, { minLength: 1, maxLength: 3 });
  const openai = (exchanges: any[]) =>
    exchanges.flatMap(({ asked, said, calls, answer }, i) => [
      { role: "user", content: asked },
      {
        role: "assistant",
        content: said ?? null,
        tool_calls: calls.map(({ name, input }: any, k: number) => ({
          id: `${i}-${k}`,
          type: "function",
          function: { name, arguments: JSON.stringify(input) },
        })),
      },
      ...calls.map((_: unknown, k: number) => ({ role: "tool", tool_call_id: `${i}-${k}`, content: `result ${i}.${k}` })),
      { role: "assistant", content: answer },
    ]);

  /** Both dialects as a list of what happens, in order. */
  const meaning = (exchanges: any[]): unknown[] =>
    exchanges.flatMap(({ asked, said, calls, answer }, i) => [
      ["user", asked],
      ...(said === undefined ? [] : [["model", said]]),
      ...calls.map(({ name, input }: any, k: number) => ["call", `${i}-${k}`, name, input]),
      ...calls.map((_: unknown, k: number) => ["result", `${i}-${k}`, `result ${i}.${k}`]),
      ["model", answer],
    ]);
  const ofAnthropic = (body: any): unknown[] =>
    body.messages.flatMap(({ role, content }: any) =>
      content.map((block: any) => {
        if (block.type === "tool_use") return ["call", block.id, block.name, block.input];
        if (block.type === "tool_result") return ["result", block.tool_use_id, block.content[0].text];
        return [role === "user" ? "user" : "model", block.text];
      }),
    );
  const ofGoogle = (body: any): unknown[] =>
    body.contents.flatMap(({ role, parts }: any) =>
      parts.map((part: any) => {
        if (part.functionCall) return ["call", part.functionCall.id, part.functionCall.name, part.functionCall.args];
        if (part.functionResponse) return ["result", part.functionResponse.id, part.functionResponse.response.output];
        return [role, part.text];
      }),
    );

  test("to messages and to generated content", () => {
    fc.assert(
      fc.property(conversation, (exchanges) => {
        const body = { messages: openai(exchanges) };
        const expected = JSON.parse(JSON.stringify(meaning(exchanges)));
        assert.deepEqual(ofAnthropic(anthropic(body)), expected);
        assert.deepEqual(ofGoogle(google(body)), expected);
      }),
      { numRuns: 200 },
    );
  });
});
