import { compileExpression } from "./expression.ts";
import { executeManaged } from "./managed/rulesets.ts";
import type { CompiledRule, CompiledRuleset, Match, RuleDefinition, RulesetDefinition } from "./types.ts";
import type { RequestView, ResponseView } from "./views.ts";

/** Compiles a ruleset's enabled rules. Never throws: what does not compile is left out and listed in `problems`. */
export function compileRuleset(definition: RulesetDefinition): CompiledRuleset {
  const rules: CompiledRule[] = [];
  const problems: { rule_id: string; message: string }[] = [];
  for (const rule of definition.rules) {
    if (!rule.enabled) continue;
    try {
      rules.push(compileRule(definition, rule));
    } catch (error) {
      problems.push({ rule_id: rule.id, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { id: definition.id, phase: definition.phase, rules, problems };
}

/** The rules that apply, in order, up to and including the first that ends the ruleset or phase. */
export function runRuleset(compiled: CompiledRuleset, request: RequestView, response: ResponseView | null): readonly Match[] {
  const matches: Match[] = [];
  run(compiled, request, response, matches);
  return matches.length === 0 ? NONE : matches;
}

/** Runs the entry points of one phase, account before zone, until a rule ends the phase. */
export function runPhase(rulesets: readonly CompiledRuleset[], request: RequestView, response: ResponseView | null): readonly Match[] {
  const matches: Match[] = [];
  for (const ruleset of rulesets) if (run(ruleset, request, response, matches)) break;
  return matches.length === 0 ? NONE : matches;
}

const NONE: readonly Match[] = [];

/** Returns true when the phase is over. */
function run(compiled: CompiledRuleset, request: RequestView, response: ResponseView | null, matches: Match[]): boolean {
  for (const rule of compiled.rules) {
    if (!rule.applies(request, response)) continue;
    matches.push(rule.match);
    if (rule.ends !== null) return rule.ends === "phase";
  }
  return false;
}

function compileRule(ruleset: RulesetDefinition, rule: RuleDefinition): CompiledRule {
  const managed = rule.action === "execute" ? executeManaged(rule.action_parameters) : null;
  return {
    definition: rule,
    applies: compileExpression(rule.expression, ruleset.phase),
    ends: endedBy(rule),
    match: { ruleset_id: ruleset.id, rule, action: rule.action, action_parameters: rule.action_parameters, managed },
  };
}

/** Blocking ends everything; skipping ends what it names (waf.md, "Skip"). */
function endedBy(rule: RuleDefinition): CompiledRule["ends"] {
  if (rule.action === "block") return "phase";
  if (rule.action !== "skip") return null;
  return rule.action_parameters["phase"] === "current" ? "phase" : "ruleset";
}
