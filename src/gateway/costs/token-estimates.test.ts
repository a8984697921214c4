import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { countLengths, countTexts } from "./token-counts.ts";
import { createTokenEstimates, type StreamEnd } from "./token-estimates.ts";
import { ChunkList } from "#gateway/http/chunks.ts";
import type { Step } from "#gateway/request/plan.ts";
import { ANTHROPIC_USAGE, NO_USAGE, OPENAI_USAGE, type Usage, type UsageShape } from "#gateway/usage/usage-formats.ts";

const estimates = createTokenEstimates();

function guessed(
  prompt: string,
  answer: string,
  told: Usage = NO_USAGE,
  end: StreamEnd = "client gone",
  usage: UsageShape = OPENAI_USAGE,
): Promise<Usage> | Usage | undefined {
  const body = { kind: "whole", bytes: Buffer.from(JSON.stringify({ messages: [{ role: "user", content: prompt }] })) } as const;
  const step = { path: "/chat/completions", usage, body } as unknown as Step;
  const stream = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: answer } }] })}\n\n`;
  const came = new ChunkList();
  came.push(Buffer.from(stream));
  return estimates.complete(step, told, came, end);
}

after(() => estimates.close());

test("missing token counts are estimated: by length until the tokenizer is loaded, then by the tokenizer", async () => {
  const text = "The quick brown fox jumps over the lazy dog. ".repeat(20);
  const atOnce = guessed("hello", text, NO_USAGE, "finished");
  assert.ok(!(atOnce instanceof Promise), "the end of a stream does not wait for a tokenizer");
  assert.ok((atOnce?.tokensOut ?? 0) > 150 && (atOnce?.tokensOut ?? 0) < 300);
  const counted = await guessed("hello", text);
  assert.ok((counted?.tokensOut ?? 0) > 190 && (counted?.tokensOut ?? 0) < 220, `${counted?.tokensOut}`);
  assert.equal(counted?.tokensIn, 1);
  assert.deepEqual(await guessed("hello", text, NO_USAGE, "finished"), counted, "once it is there, everybody has it");
});

test("reported token counts are used, except interim counts of a stream without an end", async () => {
  const told = { tokensIn: 7, tokensOut: 1 };
  assert.equal(guessed("a", "b", told), undefined);
  assert.equal(guessed("a", "one two three four", told, "finished", ANTHROPIC_USAGE), undefined);
  assert.deepEqual(await guessed("a", "one two three four", told, "cut", ANTHROPIC_USAGE), { tokensIn: 7, tokensOut: 4 });
});

test("special token names and endless words are counted as ordinary text", async () => {
  const hostile = fc.oneof(
    fc.constantFrom("<|endoftext|>", "<|im_start|>", "a".repeat(40_000), "เ".repeat(40_000), " ".repeat(40_000)),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(hostile, hostile, async (prompt, answer) => {
      const usage = await guessed(prompt, answer);
      assert.ok(usage !== undefined && (usage.tokensIn ?? -1) >= 0 && (usage.tokensOut ?? -1) >= 0);
    }),
    { numRuns: 60 },
  );
});

test("the JSON around a short prompt does not count as text before the tokenizer is loaded", () => {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];
  for (const body of [
    { model: "gpt-4o-mini", stream: true, messages: [{ role: "user", content: "hi" }] },
    { messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] },
    { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    { requests: [{ content: { parts: [{ text: "hi" }] }, model: "models/gemini-embedding-001" }] },
    { model: "text-embedding-3-small", input: "hi" },
  ])
    assert.equal(countLengths({ request: Buffer.from(JSON.stringify(body)), answer: null }).tokensIn, 1, JSON.stringify(body));
  const told = countLengths({ request: Buffer.from(JSON.stringify({ tools, messages: [] })), answer: null }).tokensIn ?? 0;
  assert.ok(told > 0, "descriptions of tools are paid for");
});

test("files in a request do not count as text, with the tokenizer and before it is loaded", () => {
  const picture = Buffer.alloc(300_000, 0xa7).toString("base64");
  const parts = [
    { type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } },
    { type: "image", source: { type: "base64", media_type: "image/png", data: picture } },
    { type: "input_audio", input_audio: { format: "wav", data: picture } },
    { inlineData: { mimeType: "image/png", data: picture } },
    { image: { format: "png", source: { bytes: picture } } },
    { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${picture.replaceAll("/", "\\/")}` } },
  ];
  for (const part of parts) {
    const request = Buffer.from(JSON.stringify({ messages: [{ role: "user", content: [{ type: "text", text: "hi" }, part] }] }));
    const atOnce = countLengths({ request, answer: null }).tokensIn ?? Infinity;
    assert.ok(atOnce > 0 && atOnce < 100, `${atOnce} tokens: ${JSON.stringify(part).slice(0, 100)}`);
    const counted = countTexts({ request, answer: null }, (text) => text.length / 4).tokensIn ?? Infinity;
    assert.ok(counted > 0 && counted < 100, `${counted} tokens: ${JSON.stringify(part).slice(0, 100)}`);
  }
  const prose = Buffer.from(JSON.stringify({ messages: [{ role: "user", content: `data: ${"so it goes, and on. ".repeat(200)}` }] }));
  for (const counts of [
    countLengths({ request: prose, answer: null }),
    countTexts({ request: prose, answer: null }, (text) => text.length / 4),
  ])
    assert.ok((counts.tokensIn ?? 0) > 900, `${counts.tokensIn}`);
});
