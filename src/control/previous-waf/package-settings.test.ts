import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { RULE_MODES, type WafOverride } from "#model/rulesets/previous-waf.ts";
import { executionOf } from "#rules/managed/rulesets.ts";
import { SCORE_RULE_IDS, WAF_PACKAGES } from "#rules/previous-waf/packages.ts";
import { packageOverrides, traditionalAction } from "./package-settings.ts";

const [TRADITIONAL, ANOMALY] = WAF_PACKAGES as [(typeof WAF_PACKAGES)[number], (typeof WAF_PACKAGES)[number]];
const CERTAIN = TRADITIONAL.rules.find(({ default_mode }) => default_mode === "block")!;
const OTHER = TRADITIONAL.rules.find(({ default_mode }) => default_mode === "disable")!;
const NOTHING = { packages: new Map(), groups: new Map(), rules: new Map() };
const override = (more: Partial<WafOverride>): WafOverride => ({
  ...{ id: "o", urls: ["*"], description: null, paused: false, priority: 1, groups: {}, rules: {}, rewrite_action: {} },
  ...more,
});

test("traditional rules: the rule's override wins over its group's and the zone's, and actions are rewritten", () => {
  const group = CERTAIN.group_id;
  for (const [settings, said, expected] of [
    [{}, {}, "block"],
    [{ rules: new Map([[CERTAIN.id, "simulate"]]) }, {}, "simulate"],
    [{ groups: new Map([[group, "off"]]), rules: new Map([[CERTAIN.id, "block"]]) }, {}, "disable"],
    [{ groups: new Map([[group, "off"]]) }, { groups: { [group]: "default" } }, "block"],
    [{}, { groups: { [group]: "challenge" } }, "challenge"],
    [{}, { groups: { [group]: "disable" }, rules: { [CERTAIN.id]: "default" } }, "block"],
    [{}, { rewrite_action: { block: "simulate" } }, "simulate"],
    [{ rules: new Map([[CERTAIN.id, "challenge"]]) }, { rewrite_action: { challenge: "default", block: "disable" } }, "block"],
    [{}, { rules: { [CERTAIN.id]: "challenge" }, rewrite_action: { challenge: "disable" } }, "challenge"],
  ] as const) {
    assert.equal(
      traditionalAction(CERTAIN, { ...NOTHING, ...(settings as object) }, override(said as object)),
      expected,
      JSON.stringify(said),
    );
  }
  assert.equal(traditionalAction(OTHER, NOTHING, null), "disable");
});

test("anomaly package: sensitivity sets the score, higher for scripts of pages, and off does not run it", () => {
  const scores = (sensitivity?: string, action_mode?: string) => {
    const chosen = { ...(sensitivity ? { sensitivity } : {}), ...(action_mode ? { action_mode } : {}) };
    const overrides = packageOverrides(ANOMALY, { ...NOTHING, packages: new Map([[ANOMALY.id, chosen as never]]) }, null);
    if (overrides === null) return null;
    const { rules } = executionOf(ANOMALY.ruleset, { overrides });
    return ["plain", "script"].map((which) => {
      const rule = rules.find(({ id }) => id === SCORE_RULE_IDS[which as "plain"]);
      return [rule?.action, rule?.score_threshold];
    });
  };
  const both = (action: string, plain: number, script: number) => [
    [action, plain],
    [action, script],
  ];
  assert.deepEqual(scores(), both("challenge", 25, 65));
  assert.deepEqual(scores("medium", "block"), both("block", 40, 80));
  assert.deepEqual(scores("low", "simulate"), both("log", 60, 120));
  assert.equal(scores("off"), null);
});

test("for any settings the edge runs each traditional rule with the expected action", () => {
  const mode = fc.constantFrom(...RULE_MODES);
  const some = fc.constantFrom(...TRADITIONAL.rules.slice(0, 20));
  const settings = fc.record({
    rules: fc.array(fc.tuple(some, mode), { maxLength: 6 }),
    groups: fc.array(some, { maxLength: 3 }),
    said: fc.option(
      fc.record({
        rules: fc.array(fc.tuple(some, mode), { maxLength: 3 }),
        rewrite_action: fc.record({ block: mode, default: mode }, { requiredKeys: [] }),
      }),
    ),
  });
  const ACTIONS = { block: "block", simulate: "log", challenge: "challenge" } as const;
  fc.assert(
    fc.property(settings, ({ rules, groups, said }) => {
      const zone = {
        ...NOTHING,
        rules: new Map(rules.map(([rule, value]) => [rule.id, value])),
        groups: new Map(groups.map((rule) => [rule.group_id, "off" as const])),
      };
      const over =
        said &&
        override({
          rules: Object.fromEntries(said.rules.map(([rule, value]) => [rule.id, value])),
          rewrite_action: said.rewrite_action as never,
        });
      const run = new Map(
        executionOf(TRADITIONAL.ruleset, { overrides: packageOverrides(TRADITIONAL, zone, over) }).rules.map((rule) => [
          rule.id,
          rule.action,
        ]),
      );
      for (const rule of TRADITIONAL.rules) {
        const action = traditionalAction(rule, zone, over);
        assert.equal(run.get(rule.id), action === "disable" ? undefined : ACTIONS[action]);
      }
    }),
    { numRuns: 60 },
  );
});
