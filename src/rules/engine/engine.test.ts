import assert from "node:assert/strict";
import { test } from "node:test";
import { type CompileDeps, compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "./engine.ts";
import { MANAGED_RULESETS, SENSITIVE_DATA_RULESET_ID, unpackRules } from "#rules/managed/rulesets.ts";
import type { ManagedRule, ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import { createRun, createTracedRun } from "./run.ts";
import { testRequest, testResponse } from "#rules/testing/views.ts";
import type { CompiledRuleset, Match } from "./compiled-rule.ts";
import type { RuleDefinition } from "#rules/definition.ts";
import type { ResponseView } from "#rules/views.ts";

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
const run = (rulesets: readonly CompiledRuleset[], response: ResponseView | null = null): readonly Match[] =>
  runPhase(rulesets, createRun(), request, response);

test("rules run in order, and disabled and non-matching ones are skipped", () => {
  const ruleset = custom(
    "r",
    rule("1", "log"),
    rule("2", "log", { enabled: false }),
    rule("3", "log", { expression: "not ssl" }),
    rule("4", "log"),
  );
  assert.deepEqual(ids(run([ruleset])), ["1", "4"]);
});

test("block ends the phase, and skip skips what it names", () => {
  const account = custom("account", rule("1", "log"), rule("2", "skip", { action_parameters: { ruleset: "current" } }), rule("3", "log"));
  const zone = custom("zone", rule("4", "log"), rule("5", "block"), rule("6", "log"));
  assert.deepEqual(ids(run([account, zone])), ["1", "2", "4", "5"]);
  const whole = custom("account", rule("1", "skip", { action_parameters: { phase: "current" } }));
  assert.deepEqual(ids(run([whole, zone])), ["1"]);
  assert.deepEqual(ids(run([zone, account])), ["4", "5"]);
});

test("a rule that does not compile is left out and reported, and the others run", () => {
  const ruleset = custom("r", rule("1", "log", { expression: "no.such.field" }), rule("2", "log"));
  assert.deepEqual(ids(run([ruleset])), ["2"]);
  assert.equal(ruleset.problems.length, 1);
  assert.equal(ruleset.problems[0]?.rule_id, "1");
  assert.match(ruleset.problems[0]?.message ?? "", /unknown field/);
});

test("an execute rule runs the managed rules with its overrides applied", () => {
  const managed = MANAGED_RULESETS.get(SENSITIVE_DATA_RULESET_ID);
  assert.ok(managed);
  const [first, second] = managed.rules;
  assert.ok(first && second);
  const resolved = (overrides: object | undefined): readonly string[] => {
    const parameters = { id: managed.id, version: "latest", ...(overrides === undefined ? {} : { overrides }) };
    const ruleset = compileRuleset({
      id: "r",
      phase: managed.phase,
      rules: [rule("1", "execute", { action_parameters: parameters, expression: "http.response.code eq 200" })],
    });
    assert.equal(run([ruleset], testResponse({ status: 500 })).length, 0);
    const [match] = run([ruleset], testResponse());
    assert.ok(match?.managed);
    assert.deepEqual(
      unpackRules(managed, match.managed.enabled).map(({ id }) => id),
      match.managed.rules.map(({ id }) => id),
    );
    return match.managed.rules.map((one) => one.id);
  };
  const all = managed.rules.filter((one) => one.enabled).map((one) => one.id);
  assert.deepEqual(
    resolved(undefined),
    managed.rules.filter((one) => one.enabled).map((one) => one.id),
  );
  assert.deepEqual(
    resolved({ rules: [{ id: first.id, enabled: false, action: "log" }] }),
    all.filter((id) => id !== first.id),
  );
  assert.deepEqual(resolved({ enabled: false }), []);
  assert.deepEqual(resolved({ enabled: false, rules: [{ id: second.id, enabled: true }] }), [second.id]);
  assert.deepEqual(
    resolved({ enabled: false, categories: [{ category: "pii", enabled: true }] }),
    managed.rules.filter((one) => one.categories.includes("pii")).map((one) => one.id),
  );
  assert.deepEqual(
    resolved({ categories: [{ category: "financial", enabled: false }], rules: [{ id: first.id, enabled: true }] }),
    managed.rules.filter((one) => (one.enabled && !one.categories.includes("financial")) || one === first).map((one) => one.id),
  );
});

const CUSTOM = "http_request_firewall_custom";
const MANAGED = "http_request_firewall_managed";
const execute = (id: string, rulesetId: string, overrides?: object): RuleDefinition =>
  rule(id, "execute", { action_parameters: { id: rulesetId, ...(overrides === undefined ? {} : { overrides }) } });
const skip = (id: string, parameters: object): RuleDefinition => rule(id, "skip", { action_parameters: { ...parameters } });

test("a custom ruleset runs where a rule executes it, in its current version", () => {
  const customs = new Map([["c", custom("c", rule("in1", "log"), skip("in2", { ruleset: "current" }), rule("in3", "log"))]]);
  const deps: CompileDeps = { custom: (id) => customs.get(id) };
  const root = compileRuleset({ id: "root", phase: CUSTOM, rules: [rule("1", "log"), execute("2", "c"), rule("3", "log")] }, deps);
  const matches = run([root]);
  assert.deepEqual(
    matches.map(({ rule: { id }, ruleset_id, deployed_by }) => [id, ruleset_id, deployed_by]),
    [
      ["1", "root", ""],
      ["in1", "c", "2"],
      ["in2", "c", "2"],
      ["3", "root", ""],
    ],
  );
  customs.set("c", custom("c", rule("new", "block")));
  assert.deepEqual(ids(run([root, custom("zone", rule("4", "log"))])), ["1", "new"]);
  customs.delete("c");
  assert.deepEqual(ids(run([root])), ["1", "3"]);
});

test("skip works for later phases, rulesets and single rules, which stay skipped for the request", () => {
  const customs = new Map([["c", compileRuleset({ id: "c", phase: MANAGED, rules: [rule("a", "log"), rule("b", "log")] })]]);
  const deps: CompileDeps = { custom: (id) => customs.get(id) };
  const managed = compileRuleset({ id: "m", phase: MANAGED, rules: [execute("x", "c"), rule("y", "log")] }, deps);
  const after = (parameters: object): readonly string[] => {
    const one = createRun();
    runPhase([custom("z", skip("s", parameters))], one, request, null);
    return ids(runPhase([managed], one, request, null));
  };
  assert.deepEqual(after({ ruleset: "current" }), ["a", "b", "y"]);
  assert.deepEqual(after({ phases: [MANAGED] }), []);
  assert.deepEqual(after({ phases: ["http_ratelimit"] }), ["a", "b", "y"]);
  assert.deepEqual(after({ rulesets: ["c"] }), ["y"]);
  assert.deepEqual(after({ rules: { c: ["a"], m: ["y"] } }), ["b"]);
  // Products by their older names: the phases that do here what they did, and nothing for the others.
  assert.deepEqual(after({ products: ["rateLimit", "bic"] }), ["a", "b", "y"]);
  assert.deepEqual(after({ products: ["waf"] }), []);
  const one = createRun();
  runPhase([custom("z", skip("s", { products: ["rateLimit"] }))], one, request, null);
  assert.equal(one.skips?.phases.get("http_ratelimit"), "s");
});

test("exceptions override the overrides of managed rules", () => {
  const known = MANAGED_RULESETS.get(SENSITIVE_DATA_RULESET_ID);
  const [first, second] = known?.rules ?? [];
  assert.ok(known && first && second);
  const overrides = { enabled: false, rules: [first, second].map(({ id }) => ({ id, enabled: true })) };
  const ruleset = compileRuleset({
    id: "r",
    phase: known.phase,
    rules: [skip("s", { rules: { [known.id]: [first.id] } }), execute("x", known.id, overrides)],
  });
  const [, match] = run([ruleset], testResponse());
  assert.deepEqual(
    match?.managed?.rules.map(({ id }) => id),
    [second.id],
  );
  assert.deepEqual(
    unpackRules(known, match?.managed?.enabled ?? "").map(({ id }) => id),
    [second.id],
  );
});

/** As a ruleset of scores is made: rules that add up, and a last one that acts from a threshold on. */
const scoring = (changes: Partial<ManagedRuleset> = {}): ManagedRuleset => {
  const managedRule = (id: string, more: Partial<ManagedRule>): ManagedRule => ({
    id,
    detector: "",
    action: "score",
    description: id,
    categories: ["paranoia-level-1"],
    enabled: true,
    expression: "true",
    ...more,
  });
  return {
    id: "owasp",
    name: "Scores",
    description: "",
    phase: MANAGED,
    version: "1",
    actions: ["block", "log", "managed_challenge"],
    has_sensitivity: true,
    rules: [
      managedRule("five", { action_parameters: { increment: 5 } }),
      managedRule("four", { action_parameters: { increment: 4 }, categories: ["paranoia-level-2"] }),
      managedRule("never", { action_parameters: { increment: 50 }, expression: "not ssl" }),
      managedRule("exceeded", { action: "block", score_threshold: 9, categories: ["last"] }),
    ],
    ...changes,
  };
};

test("scores add up within one execution, and overrides change the threshold, the action and the rules", () => {
  const managed = new Map([["owasp", scoring()]]);
  const acted = (overrides?: object): readonly string[] => {
    const entry = compileRuleset({ id: "m", phase: MANAGED, rules: [execute("x", "owasp", overrides), rule("later", "log")] }, { managed });
    return run([entry])
      .filter(({ action }) => action !== "score")
      .map(({ rule: { id }, action, deployed_by }) => `${id} ${action} ${deployed_by}`.trim());
  };
  assert.deepEqual(acted(), ["exceeded block x"]);
  assert.deepEqual(acted({ rules: [{ id: "exceeded", score_threshold: 10 }] }), ["later log"]);
  assert.deepEqual(acted({ rules: [{ id: "exceeded", action: "log" }] }), ["exceeded log x", "later log"]);
  assert.deepEqual(acted({ categories: [{ category: "paranoia-level-2", enabled: false }] }), ["later log"]);
  assert.deepEqual(acted({ rules: [{ id: "five", sensitivity_level: "eoff" }] }), ["later log"]);
  assert.deepEqual(acted({ enabled: false }), ["later log"]);
  // A rule's own override beats its tag's, the last tag's the others', and these the ruleset's.
  assert.deepEqual(acted({ action: "log", categories: [{ category: "last", action: "managed_challenge" }] }), [
    "exceeded managed_challenge x",
  ]);
  const all = { action: "managed_challenge", categories: [{ category: "last", action: "managed_challenge" }] };
  assert.deepEqual(acted({ ...all, rules: [{ id: "exceeded", action: "log" }] }), ["exceeded log x", "later log"]);
});

test("a trace shows for each rule its result and the reason", () => {
  const managed = new Map([["owasp", scoring()]]);
  const account = compileRuleset({
    id: "a",
    phase: CUSTOM,
    version: "7",
    rules: [skip("s", { rules: { z: ["two"] } }), rule("no", "log", { expression: "not ssl" })],
  });
  const zone = custom("z", rule("one", "log"), rule("two", "block"));
  const one = createTracedRun();
  assert.deepEqual(ids(runPhase([account, zone], one, request, null)), ["s", "one"]);
  assert.deepEqual(
    one.trace.steps.map(({ ruleset_id, ruleset_version, rule_id, result, skipped_by }) => [
      ruleset_id,
      ruleset_version,
      rule_id,
      result,
      skipped_by,
    ]),
    [
      ["a", "7", "s", "applied", undefined],
      ["a", "7", "no", "not_matched", undefined],
      ["z", "", "one", "applied", undefined],
      ["z", "", "two", "skipped", "s"],
    ],
  );
  const two = createTracedRun();
  runPhase(
    [
      compileRuleset(
        { id: "m", phase: MANAGED, rules: [execute("x", "owasp", { rules: [{ id: "exceeded", score_threshold: 40 }] })] },
        { managed },
      ),
    ],
    two,
    request,
    null,
  );
  assert.deepEqual(
    two.trace.steps.map(({ rule_id, result, score, deployed_by }) => [rule_id, result, score, deployed_by]),
    [
      ["x", "applied", undefined, ""],
      ["five", "applied", 5, "x"],
      ["four", "applied", 9, "x"],
      ["never", "not_matched", 9, "x"],
      ["exceeded", "below_threshold", 9, "x"],
    ],
  );
});

test("the action decides whether a match writes an event, unless the rule does", () => {
  const logs = (definition: RuleDefinition): boolean | undefined => run([custom("r", definition)])[0]?.logs;
  assert.equal(logs(rule("1", "block")), true);
  assert.equal(logs(skip("1", { phase: "current" })), true);
  assert.equal(logs({ ...skip("1", { phase: "current" }), logging: { enabled: false } }), false);
});
