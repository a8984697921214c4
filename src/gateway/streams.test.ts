import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { gatewayFront, postJson, TEST_CHAT, testProvider } from "../../test/support/gateway-front.ts";
import { fc } from "../../test/support/property.ts";
import { requestUsage, UsageFilter } from "#gateway/streams/usage-option.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import type { AnswerTransform } from "#gateway/request/plan.ts";
import { streamKindOf } from "#gateway/streams/stream-formats.ts";
import { watching } from "#gateway/streams/stream-end.ts";

const HEAD = { status: 200, headers: { "content-type": "text/event-stream; charset=utf-8" } };

/** Output for these chunks; `isCut` if the stream ended without its last event. */
function passed(transform: AnswerTransform, chunks: readonly Buffer[]): { readonly text: string; readonly isCut: boolean } {
  let text = "";
  try {
    for (const chunk of chunks) text += transform.chunk(chunk)?.toString("utf8") ?? "";
    text += transform.end()?.toString("utf8") ?? "";
    return { text, isCut: false };
  } catch (error) {
    assert.ok(error instanceof RefusalError);
    return { text: text + (transform.cut?.(error.refusal.name)?.toString("utf8") ?? ""), isCut: true };
  }
}

function truth(path: string, chunks: readonly Buffer[]): { readonly text: string; readonly isCut: boolean } {
  const kind = streamKindOf(path);
  assert.ok(kind !== undefined);
  const transform = watching(kind)(HEAD);
  assert.ok(transform !== undefined);
  return passed(transform, chunks);
}

const cutAt = (bytes: Buffer, places: readonly number[]): readonly Buffer[] => {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end)).filter(({ length }) => length > 0);
};
const places = fc.array(fc.nat(3000), { maxLength: 6 });

/** Complete streams by path; without its last event each of them is incomplete. */
const STREAMS: readonly (readonly [string, readonly string[]])[] = [
  ["/v1/chat/completions", ['data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}\n\n', "data: [DONE]\n\n"]],
  ["/chat/completions", ['data: {"choices":[{"finish_reason": null}]}\n\n', 'data: {"choices":[{"finish_reason": "stop"}]}\n\n']],
  [
    "/v1/responses",
    ['event: response.created\ndata: {"type":"response.created"}\n\n', 'data: {"type":"response.completed","response":{}}\n\n'],
  ],
  ["/v1/messages", ['event: ping\ndata: {"type":"ping"}\n\n', 'event: message_stop\ndata: {"type":"message_stop"}\n\n']],
  [
    "/v1beta/models/gemini:streamGenerateContent",
    ['data: {"candidates":[{}]}\r\n\r\n', 'data: {"candidates":[{"finishReason":"STOP"}]}\r\n\r\n'],
  ],
  ["/v2/chat", ['data: {"type":"content-delta"}\n\n', 'event: message-end\ndata: {"type":"message-end"}\n\n']],
];

describe("streams that pass unchanged", () => {
  for (const [path, events] of STREAMS) {
    test(`${path}: a complete stream passes unchanged, however it is cut into chunks`, () => {
      const bytes = Buffer.from(events.join(""));
      fc.assert(
        fc.property(places, (at) => assert.deepEqual(truth(path, cutAt(bytes, at)), { text: events.join(""), isCut: false })),
        { numRuns: 200 },
      );
    });

    test(`${path}: a truncated stream gets an error event, also in the middle of a line`, () => {
      const whole = events.slice(0, -1).join("");
      fc.assert(
        fc.property(fc.nat(whole.length), places, (length, at) => {
          const bytes = Buffer.from(whole.slice(0, length));
          const { text, isCut } = truth(path, cutAt(bytes, at));
          assert.equal(isCut, true);
          assert.match(text.slice(length), /The provider ended its response early/);
          assert.match(text.slice(length), /^(\n\n)?(event|data): /);
        }),
        { numRuns: 200 },
      );
    });
  }

  test("a model cannot end a stream by its text", () => {
    for (const said of ['"finish_reason":"stop"', "data: [DONE]", '"message_stop"', '{"finishReason":"STOP"}', "\n\ndata: [DONE]\n\n"]) {
      const event = `data: ${JSON.stringify({ choices: [{ delta: { content: said } }] })}\n\n`;
      for (const [path] of STREAMS) assert.equal(truth(path, [Buffer.from(event)]).isCut, true, `${path} ${said}`);
    }
  });

  test("a provider's own error event gets no second one", () => {
    const told = 'data: {"error":{"message":"busy"}}\n\n';
    assert.deepEqual(truth("/chat/completions", [Buffer.from(told)]), { text: told, isCut: true });
    const named = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n';
    assert.deepEqual(truth("/v1/messages", [Buffer.from(named)]), { text: named, isCut: true });
  });

  test("the end of a long stream is found in any chunks, and a missing one is noticed", () => {
    const event = (content: string, reason: string | null): string =>
      `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: reason }] })}\r\n\r\n: é comment\n`;
    const said = Array.from({ length: 700 }, (_, i) => event(`wörd ${i}`, null));
    const last = event("", "stop");
    fc.assert(
      fc.property(fc.nat(said.length), fc.integer({ min: 1, max: 5000 }), fc.boolean(), (place, size, hasEnd) => {
        const text = hasEnd ? [...said.slice(0, place), last, ...said.slice(place)].join("") : said.join("");
        const bytes = Buffer.from(text);
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
        const { isCut } = truth("/chat/completions", chunks);
        assert.equal(isCut, !hasEnd);
      }),
      { numRuns: 60 },
    );
  });

  test("errors, buffered responses and compressed ones are not checked for an end", () => {
    const kind = streamKindOf("/chat/completions");
    assert.ok(kind !== undefined);
    assert.equal(watching(kind)({ ...HEAD, status: 429 }), undefined);
    assert.equal(watching(kind)({ status: 200, headers: { "content-type": "application/json" } }), undefined);
    assert.equal(watching(kind)({ status: 200, headers: { ...HEAD.headers, "content-encoding": "gzip" } }), undefined);
    assert.equal(streamKindOf("/v1/audio/speech"), undefined);
  });
});

describe("usage that the client did not request", () => {
  test("is requested from the provider with one more field", () => {
    const asked = (text: string): unknown => {
      const bytes = requestUsage(Buffer.from(text));
      return bytes === undefined ? undefined : JSON.parse(bytes.toString());
    };
    assert.deepEqual(asked(' { "stream": true, "model": "m" }'), { stream: true, model: "m", stream_options: { include_usage: true } });
    assert.deepEqual(asked('{"stream":true,"stream_options":{"include_obfuscation":false}}'), {
      stream: true,
      stream_options: { include_obfuscation: false, include_usage: true },
    });
    assert.deepEqual(asked('{"stream":true,"stream_options":null}'), { stream: true, stream_options: { include_usage: true } });
    for (const text of ['{"stream":false}', '{"model":"stream"}', '{"stream":true,"stream_options":{"include_usage":true}}', "[]", "{", ""])
      assert.equal(asked(text), undefined, text);
  });

  const delta = (content: string, usage: unknown = null): object => ({
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    usage,
  });
  const events = [
    delta("a"),
    delta(',"usage":null}'),
    { choices: [], prompt_filter_results: [] },
    delta("b", { prompt_tokens: 1 }),
    { id: "x", choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
  ];
  const lines = [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), ": ping\n\n", "data: [DONE]\n\n"];

  test("is removed from the stream, and nothing else is, however it is cut into chunks", () => {
    const bytes = Buffer.from(lines.join(""));
    const kept = events.slice(0, 4).map(({ usage: _usage, ...rest }: { usage?: unknown }) => rest);
    fc.assert(
      fc.property(places, (at) => {
        const { text } = passed(new UsageFilter(), cutAt(bytes, at));
        const read = text.split("\n").filter((line) => line !== "");
        assert.deepEqual(read.slice(-2), [": ping", "data: [DONE]"]);
        assert.deepEqual(
          read.slice(0, -2).map((line) => JSON.parse(line.slice(6))),
          kept,
        );
      }),
      { numRuns: 300 },
    );
  });

  test("buffering is bounded: an endless line passes unchanged", () => {
    const strip = new UsageFilter();
    const piece = Buffer.alloc(64 * 1024, "x");
    let sent = 0;
    for (let i = 0; i < 40; i++) sent += strip.chunk(piece)?.length ?? 0;
    assert.ok(40 * piece.length - sent <= 256 * 1024);
  });
});

test("a stream that ends with the model's failure passes unchanged, and its row has no success", async (t) => {
  const whole =
    'event: response.created\ndata: {"type":"response.created"}\n\nevent: response.failed\ndata: {"type":"response.failed","response":{}}\n\n';
  const provider = await testProvider(t, (res) => res.writeHead(200, { "content-type": "text/event-stream" }).end(whole));
  const { base, rows } = await gatewayFront(t, { providers: { openai: provider.url } });
  const answer = await postJson(`${base}/gw/openai/responses`, { model: "gpt-4o-mini", input: "hello", stream: true });
  assert.deepEqual([answer.status, await answer.text()], [200, whole]);
  assert.deepEqual([rows.length, rows[0]?.status_code, rows[0]?.success], [1, 200, false]);
});

test("a client that disconnects at the last event has received the complete stream", async (t) => {
  const last = (content: string, reason: string | null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`;
  const streams: readonly (readonly [path: string, pieces: readonly string[], isWhole: boolean])[] = [
    ["openai/chat/completions", [last("Hi", null), last("", "stop"), "data: [DONE]\n\n"], true],
    ["openai/chat/completions", [last("Hi", null), last("", "stop"), "data: [DO", "NE]\n\n"], true],
    ["openai/chat/completions", [last("data: [DONE]", null)], false],
    ["openai/chat/completions", [last("Hi", null), 'data: {"error":{"message":"no"}}\n\n'], false],
    ["anthropic/v1/messages", ['event: message_stop\ndata: {"type":"message_stop"}\n\n'], true],
    ["anthropic/v1/messages", ['data: {"type":"content_block_delta","delta":{"text":"\\"message_stop\\""}}\n\n'], false],
  ];
  for (const [path, pieces, isWhole] of streams) {
    const provider = await testProvider(t, (res) => {
      res.writeHead(200, { "content-type": "text/event-stream" });
      // The provider does not close its side.
      for (const piece of pieces) res.write(piece);
    });
    const { base, rows, metric } = await gatewayFront(t, { providers: { openai: provider.url, anthropic: provider.url } });
    const leaving = new AbortController();
    const answer = await fetch(`${base}/gw/${path}`, {
      method: "POST",
      body: JSON.stringify({ ...TEST_CHAT, stream: true }),
      signal: leaving.signal,
    });
    let text = "";
    for (const reader = answer.body!.getReader(); text.length < pieces.join("").length;)
      text += Buffer.from((await reader.read()).value ?? []).toString();
    leaving.abort();
    await eventually(() => rows.length === 1);
    assert.deepEqual([rows[0]?.status_code, rows[0]?.success], [200, isWhole], `${path}: ${text}`);
    assert.deepEqual(metric("selvedge_gateway_active_requests"), 0);
  }
});
