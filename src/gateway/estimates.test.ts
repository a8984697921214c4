import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { createEstimates } from "./estimates.ts";
import type { Step } from "./plan.ts";
import { ANTHROPIC_USAGE, NO_USAGE, OPENAI_USAGE, type Usage, type UsageShape } from "./usage-shapes.ts";

const estimates = createEstimates();

function guessed(
  prompt: string,
  answer: string,
  told: Usage = NO_USAGE,
  isFinished = false,
  usage: UsageShape = OPENAI_USAGE,
): Usage | undefined {
  const body = { kind: "whole", bytes: Buffer.from(JSON.stringify({ messages: [{ role: "user", content: prompt }] })) } as const;
  const step = { path: "/chat/completions", usage, body } as unknown as Step;
  const stream = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: answer } }] })}\n\n`;
  return estimates.complete(step, told, [Buffer.from(stream)], isFinished);
}

/** The first guess makes the tokenizer load. */
async function loaded(): Promise<void> {
  guessed("a", "b");
  await import("gpt-tokenizer/encoding/o200k_base");
  await new Promise((resolve) => setImmediate(resolve));
}

test("what nobody told is guessed, before the tokenizer is there and after", async () => {
  const text = "The quick brown fox jumps over the lazy dog. ".repeat(20);
  const before = guessed("hello", text);
  await loaded();
  const after = guessed("hello", text);
  assert.ok((before?.tokensOut ?? 0) > 150 && (before?.tokensOut ?? 0) < 300);
  assert.ok((after?.tokensOut ?? 0) > 190 && (after?.tokensOut ?? 0) < 220, `${after?.tokensOut}`);
  assert.equal(after?.tokensIn, 1);
});

test("what was told stays, but for what a stream tells before it has its end", () => {
  const told = { tokensIn: 7, tokensOut: 1 };
  assert.equal(guessed("a", "b", told), undefined);
  assert.equal(guessed("a", "one two three four", told, true, ANTHROPIC_USAGE), undefined);
  assert.deepEqual(guessed("a", "one two three four", told, false, ANTHROPIC_USAGE), { tokensIn: 7, tokensOut: 4 });
});

test("names of special tokens and words without end are text like any other", async () => {
  await loaded();
  const hostile = fc.oneof(
    fc.constantFrom("<|endoftext|>", "<|im_start|>", "a".repeat(40_000), "เ".repeat(40_000), " ".repeat(40_000)),
    fc.string(),
  );
  fc.assert(
    fc.property(hostile, hostile, (prompt, answer) => {
      const usage = guessed(prompt, answer);
      assert.ok(usage !== undefined && (usage.tokensIn ?? -1) >= 0 && (usage.tokensOut ?? -1) >= 0);
    }),
    { numRuns: 60 },
  );
});
