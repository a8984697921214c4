import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "./engine.ts";
import { createRun, createTracedRun } from "./run.ts";
import { testRequest } from "#rules/testing/views.ts";
import type { RuleDefinition } from "#rules/definition.ts";

const rules = fc
  .array(
    fc.record({
      expression: fc.constantFrom(
        'http.host eq "www.example.com"',
        'http.host eq "other.example"',
        'http.request.uri.path contains "/a/"',
        "ip.src in {192.0.2.0/24}",
        "not ssl",
        "true",
        "len(http.host) gt 3",
      ),
      action: fc.constantFrom("log", "log", "log", "score", "skip", "block"),
      skipped: fc.nat(40),
      threshold: fc.constantFrom(0, 0, 2),
    }),
    { minLength: 16, maxLength: 40 },
  )
  .map((rows) =>
    rows.map(({ expression, action, skipped, threshold }, i): RuleDefinition => ({
      id: String(i),
      action,
      action_parameters: {
        ...(action === "skip" ? { rules: { r: [String(skipped)] } } : {}),
        ...(action === "score" ? { increment: 1 } : {}),
        ...(threshold === 0 ? {} : { score_threshold: threshold }),
      },
      expression,
      description: "",
      enabled: true,
    })),
  );

test("many rules give the same result by dispatch as one by one", () => {
  fc.assert(
    fc.property(rules, (definitions) => {
      const ruleset = compileRuleset({ id: "r", phase: "http_request_firewall_custom", rules: definitions });
      assert.ok(ruleset.dispatch);
      const request = testRequest();
      const traced = createTracedRun();
      const found = runPhase([ruleset], createRun(), request, null);
      assert.deepEqual(
        found.map((match) => match.rule.id),
        runPhase([ruleset], traced, request, null).map((match) => match.rule.id),
      );
      const applied = traced.trace.steps.filter((step) => step.result === "applied");
      assert.deepEqual(
        found.map((match) => match.rule.id),
        applied.map((step) => step.rule_id),
      );
    }),
    { numRuns: 200 },
  );
});
