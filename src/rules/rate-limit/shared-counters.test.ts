import assert from "node:assert/strict";
import { test } from "node:test";
import { type LimitAnswer, UNSHARED } from "#kernel/net/shared-limits.ts";
import type { RuleDefinition } from "#rules/definition.ts";
import type { RequestView } from "#rules/views.ts";
import { createCounterMemory, createCounterTable } from "./counter-table.ts";
import { compileLimit } from "./rate-limit.ts";
import { shareCounters } from "./shared-counters.ts";

const ratelimit = { characteristics: ["cf.colo.id"], period: 10, requests_per_period: 3, mitigation_timeout: 60 };
const rule = { id: "r", expression: "true", action: "block", ratelimit } as unknown as RuleDefinition;

test("a client is refused for what other machines hold, and kept out only when the limit is reached", () => {
  let answer: LimitAnswer = "yes";
  const keys = new Set<string>();
  const table = createCounterTable(createCounterMemory(64, 0), () => 1_000);
  const shared = shareCounters(table, {
    ...UNSHARED,
    take: (key, _amount, { limit, windowMs }) => {
      keys.add(`${key} ${limit} ${windowMs}`);
      return answer;
    },
  });
  const limit = compileLimit(rule, { id: "s", phase: "http_ratelimit" }, shared.of("account", "zone"), {});
  const trips = (): boolean => limit.trips({ at_ms: 0 } as RequestView, true, []);
  assert.equal(trips(), false);
  answer = "perhaps";
  assert.equal(trips(), true);
  answer = "yes";
  assert.equal(trips(), false);
  answer = "full";
  // Within the machine's own limit, and beyond that of all.
  table.of("account", "zone").add("r", -2, { periodMs: 10_000, technique: "sliding" }, 1_000);
  assert.equal(trips(), true);
  answer = "yes";
  assert.equal(trips(), true, "it is kept out");
  assert.deepEqual([...keys], ["account/zone\0r 3 10000"]);
});
