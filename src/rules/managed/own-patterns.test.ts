import assert from "node:assert/strict";
import { test } from "node:test";
import { isSwitchedOn } from "./own-patterns.ts";
import { executeManaged, MANAGED_RULESETS, SENSITIVE_DATA_RULESET_ID, withoutRules } from "./rulesets.ts";

const PATTERN = { id: "d".repeat(32), tags: ["staff", "secrets"] };
const OFF = { ...PATTERN, enabled: false };
const execution = (overrides: unknown) => executeManaged({ id: SENSITIVE_DATA_RULESET_ID, overrides })!;
const isOn = (overrides: unknown, pattern: { id: string; tags: string[]; enabled?: boolean } = PATTERN): boolean =>
  isSwitchedOn(execution(overrides).own, pattern);

test("overrides of a custom pattern: its rule wins over its tags, the last tag over others, and tags over the ruleset", () => {
  assert.equal(execution(undefined).own, "");
  for (const [overrides, expected, expectedOff] of [
    [undefined, true, false],
    [{ enabled: false }, false, false],
    [{ enabled: true }, true, true],
    [{ enabled: false, categories: [{ category: "custom", enabled: true }] }, true, true],
    [{ categories: [{ category: "staff", enabled: false }] }, false, false],
    [
      {
        categories: [
          { category: "staff", enabled: false },
          { category: "secrets", enabled: true },
        ],
      },
      true,
      true,
    ],
    [{ categories: [{ category: "financial", enabled: false }] }, true, false],
    [{ categories: [{ category: "staff", enabled: true }], rules: [{ id: PATTERN.id, enabled: false }] }, false, false],
    [{ rules: [{ id: "e".repeat(32), enabled: false }] }, true, false],
    [{ rules: [{ id: PATTERN.id, action: "log" }] }, true, false],
  ] as const) {
    assert.equal(isOn(overrides), expected, JSON.stringify(overrides));
    assert.equal(isOn(overrides, OFF), expectedOff, JSON.stringify(overrides));
  }
});

test("exceptions override overrides, and those of managed rules do not affect patterns", () => {
  const ruleset = MANAGED_RULESETS.get(SENSITIVE_DATA_RULESET_ID)!;
  const all = execution({ enabled: true });
  assert.equal(isSwitchedOn(withoutRules(ruleset, all, new Set([PATTERN.id])).own, PATTERN), false);
  assert.equal(withoutRules(ruleset, execution(undefined), new Set([ruleset.rules[0]!.id])).own, "");
});

test("the same exceptions give the same execution object, however many others come in between", () => {
  const ruleset = MANAGED_RULESETS.get(SENSITIVE_DATA_RULESET_ID)!;
  const all = execution({ enabled: true });
  const without = (count: number) => withoutRules(ruleset, all, new Set(ruleset.rules.slice(0, count).map(({ id }) => id)));
  assert.equal(without(2), without(2));
  assert.notEqual(without(2), without(3));
  for (let count = 1; count <= 200; count++) assert.equal(without(count).rules.length, ruleset.rules.length - count);
  assert.deepEqual(withoutRules(ruleset, execution({ enabled: true }), new Set([ruleset.rules[0]!.id])), without(1));
});
