import { BODY_BYTES, HOSTS, type Worst, WORST, worstRequest } from "#rules/testing/budget.cases.ts";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { createRun } from "#rules/engine/run.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { Benchmark } from "./benchmark.ts";

const PHASE = "http_request_firewall_custom";
/** Enough of each kind to spend a request's steps, mostly. */
const RULES = 200;

function rulesetOf({ expression }: Worst): CompiledRuleset {
  const rules = Array.from({ length: RULES }, (_, i) => ({
    id: `rule-${i}`,
    action: "log",
    action_parameters: {},
    expression: expression(i),
    description: "",
    enabled: true,
  }));
  return compileRuleset({ id: "z", phase: PHASE, rules }, { lists: { find: () => HOSTS } });
}

/** CPU milliseconds until the rules are through, or the request is ended. */
function spent(ruleset: CompiledRuleset, row: Worst): number {
  const before = process.cpuUsage();
  runPhase([ruleset], createRun(), worstRequest(row), null);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** CPU cost of the worst rules over the largest body until the request is ended: checks the weights of steps. */
export const rulesBudget: Benchmark = {
  name: "rules-budget",
  unit: `CPU ms of the worst of ${WORST.length} kinds of rules over ${BODY_BYTES} bytes`,
  better: "lower",
  target: 150,
  tools: [],
  prepare: () => {
    const kinds = WORST.map((row) => ({ row, ruleset: rulesetOf(row) }));
    return Promise.resolve({
      ours: {
        name: "selvedge",
        run: () => Promise.resolve({ value: Math.max(...kinds.map(({ row, ruleset }) => spent(ruleset, row))) }),
      },
      peers: [],
      close: () => Promise.resolve(),
    });
  },
};
