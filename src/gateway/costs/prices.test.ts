import assert from "node:assert/strict";
import { test } from "node:test";
import { calcPrice } from "@pydantic/genai-prices";
import { fc } from "../../../test/support/property.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createPrices } from "./prices.ts";

const NOW = "2026-11-01T12:00:00Z";

test("a response costs its tokens at the provider's prices", async () => {
  const prices = createPrices({ clock: fixedClock(NOW) });
  assert.equal(prices.cost("openai", "gpt-4o-mini", { tokensIn: 1, tokensOut: 1 }), null, "before the table is there");
  await prices.load();
  assert.equal(prices.load(), undefined);
  // 0.15 and 0.60 dollars per million tokens.
  assert.equal(prices.cost("openai", "gpt-4o-mini", { tokensIn: 1000, tokensOut: 100 }), 0.00021);
  assert.equal(prices.cost("openai", "gpt-4o-mini", { tokensIn: 1000, tokensOut: null }), 0.00015);
  // Half of the input is from the provider's cache, at half the price.
  assert.equal(prices.cost("openai", "gpt-4o-mini", { tokensIn: 1000, tokensOut: 0, tokensCacheRead: 500 }), 0.0001125);
  for (const [provider, model] of [
    ["openai", "no-such-model"],
    ["openai", ""],
    ["deepgram", "nova"],
    ["nobody", "gpt-4o-mini"],
  ] as const)
    assert.equal(prices.cost(provider, model, { tokensIn: 10, tokensOut: 10 }), null, `${provider} ${model}`);
  assert.equal(prices.cost("openai", "gpt-4o-mini", { tokensIn: null, tokensOut: null }), null);
  assert.equal(
    prices.cost("openai", "gpt-4o-mini", { tokensIn: 10, tokensOut: 10, tokensCacheRead: 50 }),
    null,
    "more from the cache than at all",
  );
});

test("a name that a provider has given to another model costs what that model costs", async () => {
  const prices = createPrices({ clock: fixedClock(NOW) });
  await prices.load();
  const usage = { tokensIn: 1_000_000, tokensOut: 1_000_000, tokensCacheRead: 1000 };
  for (const [provider, name, model] of [
    ["deepseek", "deepseek-chat", "deepseek-v4-flash"],
    ["deepseek", "deepseek-reasoner", "deepseek-v4-flash"],
    ["mistral", "mistral-large-latest", "mistral-large-2512"],
  ] as const) {
    const cost = prices.cost(provider, name, usage);
    assert.ok(cost !== null && cost === prices.cost(provider, model, usage), `${name}: ${cost}`);
  }
  // 0.50 and 1.50 dollars per million tokens; the version of 2024 keeps 2 and 6.
  assert.equal(prices.cost("mistral", "mistral-large-latest", { tokensIn: 1_000_000, tokensOut: 1_000_000 }), 2);
  assert.equal(prices.cost("mistral", "mistral-large-2411", { tokensIn: 1_000_000, tokensOut: 1_000_000 }), 8);
});

test("the fast price calculation equals the price table's own", async () => {
  const prices = createPrices({ clock: fixedClock(NOW) });
  await prices.load();
  const models = fc.constantFrom(
    ["openai", "openai", "gpt-4o"],
    ["anthropic", "anthropic", "claude-sonnet-4-5"],
    ["google-ai-studio", "google", "gemini-2.5-pro"],
    ["grok", "x-ai", "grok-4"],
  );
  const count = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(
    fc.property(
      models,
      count,
      count,
      fc.integer({ min: 0, max: 100 }),
      ([provider = "", table = "", model = ""], tokensIn, tokensOut, percent) => {
        const tokensCacheRead = Math.floor((tokensIn * percent) / 100);
        const expected = calcPrice({ input_tokens: tokensIn, output_tokens: tokensOut, cache_read_tokens: tokensCacheRead }, model, {
          providerId: table,
          timestamp: new Date(NOW),
        });
        const cost = prices.cost(provider, model, { tokensIn, tokensOut, tokensCacheRead });
        assert.ok(expected !== null && cost !== null);
        assert.ok(Math.abs(cost - expected.total_price) < 1e-9, `${model}: ${cost} and ${expected.total_price}`);
      },
    ),
    { numRuns: 200 },
  );
});

test("a price table that fails to load leaves costs unknown and breaks nothing else", async () => {
  const prices = createPrices({ clock: fixedClock(NOW), importTable: () => Promise.reject(new Error("no such package")) });
  for (let i = 0; i < 2; i++) {
    await prices.load();
    assert.equal(prices.cost("openai", "gpt-4o-mini", { tokensIn: 1, tokensOut: 1 }), null);
  }
});

test("listed prices are rounded to remove floating-point errors", async () => {
  const prices = createPrices({ clock: fixedClock("2026-01-01T00:00:00Z") });
  await prices.load();
  const listed = prices.listed("openai").flatMap(({ input, output }) => [input, output].filter((price) => price !== null));
  assert.ok(listed.length > 100);
  assert.deepEqual(
    listed.filter((price) => String(price).length > 12),
    [],
  );
});
