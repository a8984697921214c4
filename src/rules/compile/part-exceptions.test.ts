import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { createRun } from "#rules/engine/run.ts";
import { FORM, posted } from "#rules/testing/budget.cases.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";
import type { RequestView } from "#rules/views.ts";
import { executionOf, MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import { MANAGED_RULESET_ID, SCORE_EXCEEDED_RULE_ID, SCORES_RULESET_ID } from "#rules/managed/request-rulesets.ts";

interface Place {
  readonly part: string;
  readonly name: string;
  readonly rules: readonly string[];
}

function runWith(rulesetId: string, matched: readonly Place[], request: RequestView): readonly Match[] {
  const rule = (id: string, action: string, action_parameters: object) => ({
    ...{ id, action, expression: "true", description: "", enabled: true },
    action_parameters: action_parameters as Record<string, unknown>,
  });
  const everything = executionOf(MANAGED_RULESETS.get(rulesetId)!, {}).rules.map(({ id }) => id);
  const overrides = rulesetId === SCORES_RULESET_ID ? { rules: [{ id: SCORE_EXCEEDED_RULE_ID, score_threshold: 1 }] } : {};
  const skips = matched.length === 0 ? [] : [rule("skips", "skip", { rules: { [rulesetId]: everything }, matched })];
  const rules = [...skips, rule("deploys", "execute", { id: rulesetId, overrides })];
  const ruleset = compileRuleset({ id: "entry", phase: "http_request_firewall_managed", rules });
  assert.deepEqual(ruleset.problems, []);
  return runPhase([ruleset], createRun(), request, null).filter(({ action }) => action === "block");
}

/** The places in events, in the form in which a draft excepts them. */
const placesOf = (matches: readonly Match[]): readonly Place[] =>
  matches.flatMap(({ found }) =>
    found.flatMap(({ rule_id, places }) => places.map(({ part, name }) => ({ part, name, rules: [rule_id] }))),
  );

const ATTACKS = [
  "1' union select password from users--",
  "<script>alert(1)</script>",
  "../../../../etc/passwd",
  "; cat /etc/passwd",
  "plain",
];

for (const ruleset of [MANAGED_RULESET_ID, SCORES_RULESET_ID])
  test(`excepting the parts that events name lets the request pass, and does not affect other arguments (${ruleset})`, () => {
    const values = fc.array(fc.constantFrom(...ATTACKS), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(values, (texts) => {
        const form = (prefix: string): RequestView =>
          posted(texts.map((text, i) => `${prefix}${i}=${encodeURIComponent(text)}`).join("&"), FORM);
        // A rule that blocks ends the phase: what the next one finds is named by the next event.
        const excepted: Place[] = [];
        for (let events = 0; events < 40; events++) {
          const matches = runWith(ruleset, excepted, form("a"));
          if (matches.length === 0) break;
          const found = placesOf(matches);
          assert.ok(found.length > 0, "every rule names a place");
          excepted.push(...found);
        }
        assert.deepEqual(runWith(ruleset, excepted, form("a")), []);
        const isAttack = texts.some((text) => text !== "plain");
        assert.equal(runWith(ruleset, excepted, form("b")).length > 0, isAttack);
      }),
      { numRuns: 15 },
    );
  });

test("every managed request rule names the matched part, except the rule for the score", () => {
  for (const id of [MANAGED_RULESET_ID, SCORES_RULESET_ID])
    for (const { id: rule, signature, shows, cause } of MANAGED_RULESETS.get(id)!.rules)
      if (rule !== SCORE_EXCEEDED_RULE_ID) assert.ok(signature !== undefined || shows !== undefined || cause !== undefined, rule);
});
