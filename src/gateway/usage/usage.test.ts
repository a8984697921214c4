import { test } from "node:test";
import assert from "node:assert/strict";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { PROVIDERS } from "#gateway/providers/providers.ts";
import { COST_MAX, parseCustomCost } from "./custom-cost.ts";
import { UsageReader } from "./usage.ts";

const openai = PROVIDERS.get("openai");
assert.ok(openai);

const read = (type: string, chunks: readonly (string | Buffer)[], encoding?: string): readonly [number | null, number | null] => {
  const reader = new UsageReader(openai.usage, type, encoding);
  for (const chunk of chunks) reader.chunk(Buffer.from(chunk as string));
  const { tokensIn, tokensOut } = reader.end();
  return [tokensIn, tokensOut];
};

const DOCUMENT = JSON.stringify({
  id: "x",
  choices: [{ message: { content: 'say "usage":{"prompt_tokens":999}' } }],
  usage: { prompt_tokens: 11, completion_tokens: 7, details: { a: "}" } },
  tail: true,
});

test("usage is read from the document's field, not from its text", () => {
  assert.deepEqual(read("application/json; charset=utf-8", [DOCUMENT]), [11, 7]);
  assert.deepEqual(read("application/json", [JSON.stringify({ usage: { prompt_tokens: 2, completion_tokens: 1 } }, null, 2)]), [2, 1]);
});

test("impossible numbers are not token counts", () => {
  const told = (count: number) => read("application/json", [JSON.stringify({ usage: { prompt_tokens: count, completion_tokens: 1 } })])[0];
  assert.deepEqual([1e9, 1e9 + 1, Number.MAX_SAFE_INTEGER, -1, 1.5].map(told), [1e9, null, null, null, null]);
});

test("the last usage of an event stream counts, and null before it does not", () => {
  const events = [
    'data: {"choices":[],"usage":null}\n\n',
    'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}\n\n',
    "data: [DONE]\n\n",
  ];
  assert.deepEqual(read("text/event-stream", events), [5, 6]);
  const responses = ['event: response.completed\ndata: {"response":{"output":[],"usage":{"input_tokens":8,"output_tokens":9}}}\n\n'];
  assert.deepEqual(read("text/event-stream", responses), [8, 9]);
});

test("a key that only ends like the usage key has no usage and hides none", () => {
  const others = Array.from({ length: 40 }, (_, i) => `"disk${i}_usage":{"prompt_tokens":${i},"completion_tokens":${i}}`).join();
  const counted = '"usage":{"prompt_tokens":3,"completion_tokens":4}';
  for (const object of [`{${counted},${others}}`, `{${others},${counted}}`]) {
    assert.deepEqual(read("application/json", [object]), [3, 4]);
    assert.deepEqual(read("text/event-stream", [`data: ${object}\n\n`]), [3, 4]);
  }
  assert.deepEqual(read("application/json", ['usage":{"prompt_tokens":3}']), [null, null]);
});

test("other content types, compressed responses and responses without usage have no token counts", () => {
  assert.deepEqual(read("audio/mpeg", [DOCUMENT]), [null, null]);
  assert.deepEqual(read("application/json", [DOCUMENT], "gzip"), [null, null]);
  assert.deepEqual(read("application/json", ['{"usage":']), [null, null]);
  assert.deepEqual(read("text/event-stream", ["data: hello\n\n"]), [null, null]);
});

test("token counts do not depend on chunk boundaries", () => {
  const stream = `data: {"usage":null,"c":"é"}\r\n\r\n${'data: {"usage":null}\n\n'.repeat(5)}data: {"usage":{"prompt_tokens":21,"completion_tokens":34}}\n\ndata: [DONE]\n\n`;
  fc.assert(
    fc.property(
      fc.constantFrom(["application/json", DOCUMENT, 11, 7] as const, ["text/event-stream", stream, 21, 34] as const),
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }),
      ([type, text, tokensIn, tokensOut], sizes) => {
        const bytes = Buffer.from(text);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of sizes) chunks.push(bytes.subarray(at, (at += size)));
        chunks.push(bytes.subarray(at));
        assert.deepEqual(read(type, chunks), [tokensIn, tokensOut]);
      },
    ),
  );
});

test("long responses and endless lines use bounded memory, and usage at their end is found", () => {
  const filler = Buffer.alloc(10_007, "x");
  const tail = Buffer.from(',"usage":{"prompt_tokens":1,"completion_tokens":2}}');
  for (const type of ["application/json", "text/event-stream"]) {
    assert.deepEqual(read(type, [...Array.from({ length: 50 }, () => filler), tail]), [1, 2], type);
    assert.deepEqual(read(type, [Buffer.concat([Buffer.alloc(500_000, "x"), tail])]), [1, 2], type);
  }
});

test("usage at the start and the end of a long stream counts in any chunks, with the last of repeated values", () => {
  const anthropic = PROVIDERS.get("anthropic");
  assert.ok(anthropic);
  const start =
    'event: message_start\r\ndata: {"message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}\r\n\r\n';
  const each = (i: number): string => `: é\ndata: {"usage":{"output_tokens":${i}},"delta":{"text":"wörd ${i}"}}\n\n`;
  const text = start + Array.from({ length: 1000 }, (_, i) => each(i)).join("") + 'data: {"usage":{"output_tokens":4242}}';
  const bytes = Buffer.from(text);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30_000 }), (size) => {
      const reader = new UsageReader(anthropic.usage, "text/event-stream", undefined);
      for (let at = 0; at < bytes.length; at += size) reader.chunk(bytes.subarray(at, at + size));
      const { tokensIn, tokensOut, tokensCacheRead } = reader.end();
      assert.deepEqual([tokensIn, tokensOut, tokensCacheRead], [15, 4242, 5]);
    }),
    { numRuns: 60 },
  );
});

test("no bytes make the reader throw", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("application/json", "text/event-stream"),
      fc.array(
        fc.oneof(
          fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
          fc.constantFrom('"usage"', ":{", '{"a":', "}}", "\n", '\\"').map((text) => Buffer.from(text)),
        ),
      ),
      (type, chunks) => {
        read(type, chunks);
      },
    ),
  );
});

test("each provider's usage format is read, in documents and in streams", () => {
  const through = (name: string, type: string, chunks: readonly string[]): readonly [number | null, number | null] => {
    const provider = PROVIDERS.get(name);
    assert.ok(provider);
    const reader = new UsageReader(provider.usage, type, undefined);
    for (const chunk of chunks) reader.chunk(Buffer.from(chunk));
    const { tokensIn, tokensOut } = reader.end();
    return [tokensIn, tokensOut];
  };
  const start = 'event: message_start\ndata: {"message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}\n\n';
  const end = 'event: message_delta\ndata: {"usage":{"output_tokens":42}}\n\n';
  for (const chunks of [[start, end], [start + end], [start.slice(0, 60), start.slice(60) + end.slice(0, 20), end.slice(20)]])
    assert.deepEqual(through("anthropic", "text/event-stream", chunks), [15, 42]);
  const google = JSON.stringify({ usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 6, thoughtsTokenCount: 3 } });
  assert.deepEqual(through("google-ai-studio", "application/json", [google]), [4, 9]);
  assert.deepEqual(through("google-ai-studio", "text/event-stream", [`data: ${google}\n\n`]), [4, 9]);
  assert.deepEqual(through("cohere", "application/json", ['{"usage":{"tokens":{"input_tokens":2,"output_tokens":3}}}']), [2, 3]);
  assert.deepEqual(through("aws-bedrock", "application/json", ['{"usage":{"inputTokens":2,"outputTokens":3}}']), [2, 3]);
  assert.deepEqual(through("replicate", "application/json", ['{"usage":{"prompt_tokens":2}}']), [null, null]);
});

test("endless usage objects take linear time, and usage after them counts", () => {
  const usage = 'data: {"usage":{"prompt_tokens":5,"completion_tokens":6}}\n\n';
  for (const piece of ['data: {"usage":{\n', '{"usage":{', '"usage":', '"usage":{"', '"usage":{"usage":', '{"usage":{}}', "\n"]) {
    const stream = (length: number): string => `data: ${piece.repeat(length / piece.length)}\n`;
    assert.deepEqual(read("text/event-stream", [stream(20_000), usage]), [5, 6], piece);
    for (const type of ["text/event-stream", "application/json"])
      assertGrowsLinearly(
        `${type}: ${piece}`,
        (length) => {
          const bytes = Buffer.from(stream(length));
          return () => Array.from({ length: 8 }, () => read(type, [bytes]));
        },
        4096,
      );
  }
  assert.deepEqual(read("text/event-stream", ['data: {"usage":{"prompt_tokens":1\n', usage]), [5, 6]);
});

test("costs stated by a request are numbers from 0 to a limit, so that sums stay finite", () => {
  assert.deepEqual(parseCustomCost('{"total_cost":"1000000"}'), { total: COST_MAX });
  for (const cost of ["-1", "1e308", "1000000.01", '"Infinity"', '"NaN"', "null", '""', "[]"])
    assert.throws(() => parseCustomCost(`{"total_cost":${cost}}`), RangeError, cost);
});
