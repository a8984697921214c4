import assert from "node:assert/strict";
import { test } from "node:test";
import { compileRuleset, runPhase, runRuleset } from "./engine.ts";
import { MANAGED_RULESETS, SENSITIVE_DATA_RULESET_ID, unpackRules } from "./managed/rulesets.ts";
import { testRequest, testResponse } from "./test-views.ts";
import type { RuleDefinition } from "./types.ts";

const rule = (id: string, action: string, changes: Partial<RuleDefinition> = {}): RuleDefinition => ({
  id,
  action,
  action_parameters: {},
  expression: "true",
  description: "",
  enabled: true,
  ...changes,
});
const custom = (id: string, ...rules: RuleDefinition[]) => compileRuleset({ id, phase: "http_request_firewall_custom", rules });
const ids = (matches: readonly { readonly rule: RuleDefinition }[]): string[] => matches.map((match) => match.rule.id);
const request = testRequest();

test("rules run in order; disabled ones and those that do not apply are passed over", () => {
  const ruleset = custom(
    "r",
    rule("1", "log"),
    rule("2", "log", { enabled: false }),
    rule("3", "log", { expression: "not ssl" }),
    rule("4", "log"),
  );
  assert.deepEqual(ids(runRuleset(ruleset, request, null)), ["1", "4"]);
});

test("block ends the phase, skip what it names", () => {
  const account = custom("account", rule("1", "log"), rule("2", "skip", { action_parameters: { ruleset: "current" } }), rule("3", "log"));
  const zone = custom("zone", rule("4", "log"), rule("5", "block"), rule("6", "log"));
  assert.deepEqual(ids(runPhase([account, zone], request, null)), ["1", "2", "4", "5"]);
  const whole = custom("account", rule("1", "skip", { action_parameters: { phase: "current" } }));
  assert.deepEqual(ids(runPhase([whole, zone], request, null)), ["1"]);
  assert.deepEqual(ids(runPhase([zone, account], request, null)), ["4", "5"]);
});

test("a rule that does not compile is left out and reported; the others run", () => {
  const ruleset = custom("r", rule("1", "log", { expression: "no.such.field" }), rule("2", "log"));
  assert.deepEqual(ids(runRuleset(ruleset, request, null)), ["2"]);
  assert.equal(ruleset.problems.length, 1);
  assert.equal(ruleset.problems[0]?.rule_id, "1");
  assert.match(ruleset.problems[0]?.message ?? "", /unknown field/);
});

test("an execute rule carries the managed rules, overrides applied", () => {
  const managed = MANAGED_RULESETS.get(SENSITIVE_DATA_RULESET_ID);
  assert.ok(managed);
  const [first, second] = managed.rules;
  assert.ok(first && second);
  const run = (overrides: object | undefined): readonly string[] => {
    const parameters = { id: managed.id, version: "latest", ...(overrides === undefined ? {} : { overrides }) };
    const ruleset = compileRuleset({
      id: "r",
      phase: managed.phase,
      rules: [rule("1", "execute", { action_parameters: parameters, expression: "http.response.code eq 200" })],
    });
    assert.equal(runRuleset(ruleset, request, testResponse({ status: 500 })).length, 0);
    const [match] = runRuleset(ruleset, request, testResponse());
    assert.ok(match?.managed);
    assert.deepEqual(unpackRules(managed, match.managed.enabled), match.managed.rules);
    return match.managed.rules.map((one) => one.id);
  };
  const all = managed.rules.map((one) => one.id);
  assert.deepEqual(
    run(undefined),
    managed.rules.filter((one) => one.enabled).map((one) => one.id),
  );
  assert.deepEqual(
    run({ rules: [{ id: first.id, enabled: false, action: "log" }] }),
    all.filter((id) => id !== first.id),
  );
  assert.deepEqual(run({ enabled: false }), []);
  assert.deepEqual(run({ enabled: false, rules: [{ id: second.id, enabled: true }] }), [second.id]);
  assert.deepEqual(
    run({ enabled: false, categories: [{ category: "pii", enabled: true }] }),
    managed.rules.filter((one) => one.categories.includes("pii")).map((one) => one.id),
  );
  assert.deepEqual(
    run({ categories: [{ category: "financial", enabled: false }], rules: [{ id: first.id, enabled: true }] }),
    managed.rules.filter((one) => !one.categories.includes("financial") || one === first).map((one) => one.id),
  );
});
