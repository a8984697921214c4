import assert from "node:assert/strict";
import { test } from "node:test";
import type { PreviousFirewall } from "#control/previous-waf/state.ts";
import { ruleProblems } from "#rules/check.ts";
import { executionOf, MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import { MANAGED_RULESET_ID, SCORE_EXCEEDED_RULE_ID, SCORES_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { ANOMALY_PACKAGE_ID, TRADITIONAL_PACKAGE_ID, WAF_PACKAGES } from "#rules/previous-waf/packages.ts";
import { migrationBlockers, migrationExcess } from "./eligibility.ts";
import { lostModes, newConfig } from "./new-config.ts";

const NOTHING: PreviousFirewall = {
  ...{
    filters: [],
    firewall_rules: [],
    rate_limits: [],
    page_rules: [],
    access_rules: [],
    lockdowns: [],
    ua_rules: [],
    page_policies: [],
    overrides: [],
  },
  ...{ packages: new Map(), groups: new Map(), rules: new Map() },
};
const TIMES = { created_on: "2024-01-01T00:00:00Z", modified_on: "2024-01-01T00:00:00Z" };
const TRADITIONAL = WAF_PACKAGES.find(({ id }) => id === TRADITIONAL_PACKAGE_ID)!;
const ANOMALY = WAF_PACKAGES.find(({ id }) => id === ANOMALY_PACKAGE_ID)!;

const executed = (firewall: PreviousFirewall, id: string) => {
  const rule = newConfig(firewall, true).find(({ action_parameters }) => action_parameters?.["id"] === id);
  return rule && executionOf(MANAGED_RULESETS.get(id)!, rule.action_parameters ?? {}).rules;
};
const pageRule = (id: string, value: string, action: object, priority: number) => ({
  id,
  targets: [{ target: "url" as const, constraint: { operator: "matches" as const, value } }],
  actions: [action as { id: string }],
  status: "active" as const,
  priority,
  ...TIMES,
});
const bypass = (id: string, more: object = {}) => ({
  ...{ id, paused: false, action: "bypass" as const, products: ["waf" as const], priority: null, filter_id: `f-${id}` },
  ...TIMES,
  ...more,
});

test("SPEC 8: sensitivities of the OWASP package become a paranoia level and a score, and its actions keep their names except Simulate", () => {
  for (const [sensitivity, paranoia, threshold] of [
    ["high", 2, 40],
    ["medium", 1, 25],
    ["low", 1, 40],
    [undefined, 2, 40],
  ] as const) {
    for (const [action_mode, action] of [
      ["simulate", "log"],
      ["block", "block"],
      ["challenge", "challenge"],
      [undefined, "challenge"],
    ] as const) {
      const chosen = { ...(sensitivity ? { sensitivity } : {}), ...(action_mode ? { action_mode } : {}) };
      const rules = executed({ ...NOTHING, packages: new Map([[ANOMALY_PACKAGE_ID, chosen]]) }, SCORES_RULESET_ID)!;
      const levels = rules.flatMap(({ categories }) => categories.filter((tag) => tag.startsWith("paranoia")));
      assert.deepEqual([...new Set(levels)].sort(), paranoia === 1 ? ["paranoia-level-1"] : ["paranoia-level-1", "paranoia-level-2"]);
      const score = rules.find(({ id }) => id === SCORE_EXCEEDED_RULE_ID);
      assert.deepEqual([score?.action, score?.score_threshold], [action, threshold], String(sensitivity));
    }
  }
  assert.equal(
    executed({ ...NOTHING, packages: new Map([[ANOMALY_PACKAGE_ID, { sensitivity: "off" as const }]]) }, SCORES_RULESET_ID),
    undefined,
  );
});

test("SPEC 8: modes of the OWASP package's groups and rules are not migrated, and are counted", () => {
  const firewall = {
    ...NOTHING,
    groups: new Map([[ANOMALY.groups[0]!.id, "off" as const]]),
    rules: new Map([[ANOMALY.rules[3]!.id, "off" as const]]),
  };
  assert.deepEqual(newConfig(firewall, true), newConfig(NOTHING, true));
  assert.deepEqual([lostModes(firewall), lostModes(NOTHING)], [2, 0]);
});

test("SPEC 8: groups and rules of the other package become overrides with the same rules and actions", () => {
  const [first, second] = TRADITIONAL.rules.filter(({ default_mode }) => default_mode === "block");
  const asleep = TRADITIONAL.rules.find(({ default_mode, group_id }) => default_mode === "disable" && group_id === first!.group_id)!;
  const off = TRADITIONAL.rules.find(({ group_id }) => group_id !== first!.group_id)!;
  const firewall = {
    ...NOTHING,
    groups: new Map([[off.group_id, "off" as const]]),
    rules: new Map([
      [first!.id, "simulate" as const],
      [second!.id, "disable" as const],
      [asleep.id, "challenge" as const],
      [off.id, "block" as const],
    ]),
  };
  const run = new Map(executed(firewall, MANAGED_RULESET_ID)!.map(({ id, action }) => [id, action]));
  assert.deepEqual(
    [first!, second!, asleep, off].map(({ successor_id }) => run.get(successor_id)),
    ["log", undefined, "challenge", undefined],
  );
  assert.ok(TRADITIONAL.rules.every(({ group_id, successor_id }) => group_id !== off.group_id || !run.has(successor_id)));
  // Without a choice they are the same rules, in the same state, beside those about how bodies are read.
  const aboutBodies = new Set(
    MANAGED_RULESETS.get(MANAGED_RULESET_ID)!
      .rules.filter(({ categories }) => categories.includes("body"))
      .map(({ id }) => id),
  );
  assert.ok(aboutBodies.size > 10);
  const same = new Set(
    executed(NOTHING, MANAGED_RULESET_ID)!
      .map(({ id }) => id)
      .filter((id) => !aboutBodies.has(id)),
  );
  assert.deepEqual(
    same,
    new Set(TRADITIONAL.rules.filter(({ default_mode }) => default_mode === "block").map(({ successor_id }) => successor_id)),
  );
});

test("SPEC 8: bypass rules and page rules become skip rules, and page rules that turn the WAF on limit where it runs", () => {
  const firewall = {
    ...NOTHING,
    filters: [{ id: "f-a", paused: false, expression: "ip.src eq 192.0.2.1" }],
    firewall_rules: [bypass("a", { description: "office" }), bypass("b", { products: ["bic"] })],
    page_rules: [
      pageRule("1", "example.com/on/*", { id: "waf", value: "on" }, 3),
      pageRule("2", "example.com/*", { id: "waf", value: "off" }, 2),
      pageRule("3", "example.com/raw/*", { id: "disable_security" }, 1),
      { ...pageRule("4", "example.com/asleep/*", { id: "disable_security" }, 4), status: "disabled" as const },
    ],
  };
  const rules = newConfig(firewall, true);
  const on = '(http.host wildcard r"example.com" and http.request.uri strict wildcard r"/on/*")';
  assert.deepEqual(
    rules
      .filter(({ action }) => action === "skip")
      .map(({ expression, description, action_parameters }) => [expression, description, action_parameters]),
    [
      ["ip.src eq 192.0.2.1", "office", { ruleset: "current" }],
      [`(http.host wildcard r"example.com") and not ${on}`, "Page rule for example.com/*", { ruleset: "current" }],
      [
        `(http.host wildcard r"example.com" and http.request.uri strict wildcard r"/raw/*") and not ${on}`,
        "Page rule for example.com/raw/*",
        { ruleset: "current" },
      ],
    ],
  );
  assert.deepEqual(
    rules.flatMap(({ action, expression }) => (action === "execute" ? [expression] : [])),
    ["true", "true"],
  );
  assert.deepEqual(
    newConfig(firewall, false).flatMap(({ action, expression }) => (action === "execute" ? [expression] : [])),
    [on, on],
  );
  assert.deepEqual(newConfig({ ...firewall, page_rules: [] }, false), []);
  const around = { kind: "zone", customRulesets: new Map(), lists: { find: () => undefined } } as const;
  for (const rule of rules) assert.deepEqual(ruleProblems(rule, "http_request_firewall_managed", around), []);
});

test("SPEC 7.11, SPEC 7.12: eligibility in both phases, and configurations that are too large", () => {
  const override = { id: "o", urls: ["*"], description: null, paused: true, priority: 1, groups: {}, rules: {}, rewrite_action: {} };
  const blocked = (firewall: Partial<PreviousFirewall>, isOn = true) =>
    [false, true].map((phaseTwo) => migrationBlockers({ ...NOTHING, ...firewall }, isOn, phaseTwo).length > 0);
  const scoreOff = { packages: new Map([[ANOMALY_PACKAGE_ID, { sensitivity: "off" as const }]]) };
  assert.deepEqual(blocked({}), [true, false], "the OWASP package is on");
  assert.deepEqual(blocked({}, false), [false, false], "the WAF is off");
  assert.deepEqual(blocked(scoreOff), [false, false], "the managed package alone");
  assert.deepEqual(blocked({ ...scoreOff, firewall_rules: [bypass("a")] }), [true, false]);
  assert.deepEqual(blocked({ ...scoreOff, page_rules: [pageRule("1", "*", { id: "disable_security" }, 1)] }), [true, false]);
  assert.deepEqual(blocked({ ...scoreOff, page_rules: [pageRule("1", "*", { id: "waf", value: "on" }, 1)] }), [true, false]);
  assert.deepEqual(blocked({ ...scoreOff, overrides: [override] }), [true, true]);

  const rules = (count: number) => Array.from({ length: count }, (_, n) => bypass(String(n)));
  const filter = (expression: string) => ({ id: "f-0", paused: false, expression });
  assert.equal(migrationExcess({ ...NOTHING, firewall_rules: rules(200) }), null);
  assert.match(String(migrationExcess({ ...NOTHING, firewall_rules: rules(201) })), /201 firewall rules/);
  assert.equal(migrationExcess({ ...NOTHING, firewall_rules: rules(1), filters: [filter("x".repeat(4096))] }), null);
  assert.match(String(migrationExcess({ ...NOTHING, firewall_rules: rules(1), filters: [filter("é".repeat(2049))] })), /4 KB/);
});
