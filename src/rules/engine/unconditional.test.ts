import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "./engine.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { createRun } from "./run.ts";
import { testRequest, testResponse } from "#rules/testing/views.ts";
import { unconditionalMatches } from "./unconditional.ts";

const PHASE = "http_response_firewall_managed";
const CONDITIONS = ["true", " true\n", "(true)", "not ssl", "ssl", 'http.host eq "www.example.com"', "http.response.code eq 200"];

test("unconditional matches equal those of running the rules, and exist only without conditions", () => {
  const rule = fc.record({
    expression: fc.constantFrom(...CONDITIONS),
    enabled: fc.boolean(),
    action: fc.constantFrom("execute", "execute", "execute", "skip"),
  });
  fc.assert(
    fc.property(fc.array(fc.array(rule, { maxLength: 4 }), { maxLength: 2 }), (rulesets) => {
      const compiled = rulesets.map((rules, number) =>
        compileRuleset({
          id: String(number),
          phase: PHASE,
          rules: rules.map(({ action, ...rest }, index) => ({
            ...{ id: `${number}-${index}`, description: "", action, ...rest },
            action_parameters: action === "skip" ? { ruleset: "current" } : { id: SENSITIVE_DATA_RULESET_ID, version: "latest" },
          })),
        }),
      );
      const matches = unconditionalMatches(compiled);
      const isPlain = rulesets
        .flat()
        .every(({ expression, enabled, action }) => !enabled || (action === "execute" && expression.trim() === "true"));
      assert.equal(matches !== null, isPlain);
      if (matches !== null) assert.deepEqual(matches, runPhase(compiled, createRun(), testRequest(), testResponse()));
    }),
  );
});
