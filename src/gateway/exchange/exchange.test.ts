import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientAnswer } from "#gateway/listen/response-writer.ts";
import { createTokenEstimates } from "#gateway/costs/token-estimates.ts";
import { Exchange, type ExchangeOptions } from "./exchange.ts";
import type { Step } from "#gateway/request/plan.ts";

test("a disconnecting client ends the provider's request before its row is written", () => {
  const order: string[] = [];
  const answer = { watcher: undefined, isGone: false, hasBegun: false } as unknown as ClientAnswer;
  const options = {
    answer,
    record: { note: () => undefined, finish: () => order.push("row") },
    estimates: createTokenEstimates(),
    costOf: () => ({ cost: null, isCustom: false }),
    requestBytes: () => 0,
    onSettled: () => order.push("settled"),
  } as unknown as ExchangeOptions;
  const exchange = new Exchange(options, { path: "/chat/completions" } as Step);
  exchange.asker = { leave: () => void order.push("provider") };
  answer.watcher?.clientGone();
  assert.deepEqual(order, ["provider", "row", "settled"]);
  assert.equal(exchange.isSettled, true);
});
