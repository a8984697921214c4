import assert from "node:assert/strict";
import { describe, test } from "node:test";
import Anthropic, { APIError, APIUserAbortError, AuthenticationError, InternalServerError, RateLimitError } from "@anthropic-ai/sdk";
import { eventually } from "../support/eventually.ts";
import { mockedFront, WEATHER_TOOL } from "../support/mock-provider.ts";

const client = (baseURL: string): Anthropic => new Anthropic({ baseURL, apiKey: "provider-key", maxRetries: 0 });
const asking = (content: string) => ({
  model: "claude-haiku-4-5",
  max_tokens: 100,
  messages: [{ role: "user" as const, content }],
});
const tools = [{ name: WEATHER_TOOL.name, input_schema: WEATHER_TOOL.parameters as Anthropic.Tool.InputSchema }];
const textOf = (message: Anthropic.Message): string => message.content.map((block) => (block.type === "text" ? block.text : "")).join("");

describe("Anthropic's client", () => {
  test("a message costs the same buffered and streamed", async (t) => {
    const { gateway, rows } = await mockedFront(t);
    const anthropic = client(`${gateway}/anthropic`);
    const whole = await anthropic.messages.create(asking("hello"));
    assert.equal(textOf(whole), "Hi there, how are you today?");
    const streamed = await anthropic.messages.stream(asking("hello")).finalMessage();
    assert.deepEqual([textOf(streamed), streamed.stop_reason], [textOf(whole), "end_turn"]);
    await eventually(() => rows.length === 2);
    for (const row of rows) assert.deepEqual([row.model, row.tokens_in, row.tokens_out, row.success], ["claude-haiku-4-5", 11, 7, true]);
    assert.ok((rows[0]?.cost ?? 0) > 0);
    assert.equal(rows[0]?.cost, rows[1]?.cost);
  });

  test("parallel tool calls, buffered and streamed, and their results", async (t) => {
    const { gateway } = await mockedFront(t);
    const anthropic = client(`${gateway}/anthropic`);
    const whole = await anthropic.messages.create({ ...asking("weather"), tools });
    const uses = whole.content.filter((block) => block.type === "tool_use");
    assert.deepEqual(
      uses.map(({ input }) => input),
      [{ town: "Oslo" }, { town: "Rome" }],
    );
    const streamed = await anthropic.messages.stream({ ...asking("weather"), tools }).finalMessage();
    assert.deepEqual(
      streamed.content.flatMap((block) => (block.type === "tool_use" ? [block.input] : [])),
      uses.map(({ input }) => input),
    );
    const results = uses.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: "4" }));
    const messages = [
      ...asking("weather").messages,
      { role: "assistant" as const, content: whole.content },
      { role: "user" as const, content: results },
    ];
    assert.equal(textOf(await anthropic.messages.create({ ...asking(""), messages, tools })), "Oslo 4, Rome 19.");
  });

  test("errors of the provider, buffered and streamed", async (t) => {
    const { gateway } = await mockedFront(t);
    const anthropic = client(`${gateway}/anthropic`);
    const cases = [
      ["limited", RateLimitError],
      ["forbidden", AuthenticationError],
      ["failing", InternalServerError],
    ] as const;
    for (const [content, kind] of cases) {
      await assert.rejects(anthropic.messages.create(asking(content)), kind);
      await assert.rejects(anthropic.messages.stream(asking(content)).finalMessage(), kind);
    }
  });

  test("a stream that the provider cuts never looks complete", async (t) => {
    const { gateway, rows } = await mockedFront(t);
    await assert.rejects(client(`${gateway}/anthropic`).messages.stream(asking("break")).finalMessage(), (error: Error) => {
      assert.ok(error instanceof APIError || error.name === "AnthropicError", String(error));
      return true;
    });
    await eventually(() => rows.length === 1);
    assert.equal(rows[0]?.success, false);
  });

  test("a client that disconnects ends the request", async (t) => {
    const { gateway, rows, metric } = await mockedFront(t);
    const stream = client(`${gateway}/anthropic`).messages.stream(asking("endless"));
    stream.on("text", () => stream.abort());
    await assert.rejects(stream.finalMessage(), APIUserAbortError);
    await eventually(() => rows.length === 1);
    assert.deepEqual([rows[0]?.success, metric("selvedge_gateway_active_requests")], [false, 0]);
  });
});
