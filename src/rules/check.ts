import { ACTIONS, phasesOf } from "#rules/actions/actions.ts";
import { type ActionName, type Phase, type PhaseName, phaseNamed } from "./phases.ts";
import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import type { RuleContext } from "#rules/parameters/rule-context.ts";
import { isObject, type RuleProblem } from "#rules/parameters/shape.ts";
import { rateLimit } from "./rate-limit/shape.ts";

/** The parts of a rule that are validated; from a client, so of unknown types. */
export interface RuleDraft {
  readonly action?: unknown;
  readonly action_parameters?: unknown;
  readonly expression?: unknown;
  readonly ratelimit?: unknown;
}

/** Every problem of a rule in an entry point of `phase`, by JSON pointers below the rule. Empty if it can be saved and run. */
export function ruleProblems(rule: RuleDraft, phase: string, around: RuleContext): readonly RuleProblem[] {
  return [
    ...actionProblems(rule, phase, around),
    ...expressionProblems(rule.expression, phase, around),
    ...limitProblems(rule, phase, around),
  ];
}

function actionProblems(rule: RuleDraft, phaseName: string, around: RuleContext): readonly RuleProblem[] {
  const phase = phaseNamed(phaseName);
  if (phase === undefined) return [{ pointer: "", message: `unknown phase "${phaseName}"` }];
  if (typeof rule.action !== "string") return [{ pointer: "/action", message: "action must be a string" }];
  const name = rule.action as ActionName;
  if (!phase.actions.includes(name)) return [{ pointer: "/action", message: misplaced(name, phase) }];
  const action = ACTIONS[name];
  const parameters = rule.action_parameters ?? {};
  if (!isObject(parameters)) return [{ pointer: "/action_parameters", message: "action_parameters must be an object" }];
  const problems = action.parameters(parameters, "", { phase: phaseName as PhaseName, around });
  // Last, because problems of the rule itself say more.
  if (problems.length === 0 && !phase.runs) return [{ pointer: "/action", message: notRun(phase) }];
  return problems.map((problem) => ({ pointer: `/action_parameters${problem.pointer}`, message: problem.message }));
}

/** Why a phase that no plane runs takes no rules, and what replaces it. */
export const notRun = (phase: Phase): string => `this version does not run the phase ${phase.name}${insteadOf(phase)}`;

const insteadOf = ({ instead }: Phase): string => (instead === undefined ? "" : `: ${instead}`);

/** Rules of the rate limit phase need a limit, and rules of other phases must not have one. */
function limitProblems(rule: RuleDraft, phase: string, around: RuleContext): readonly RuleProblem[] {
  const counts = phase === "http_ratelimit" && rule.action !== "execute";
  const at = "/ratelimit";
  if (rule.ratelimit === undefined || rule.ratelimit === null)
    return counts ? [{ pointer: at, message: "a rule of this phase must have ratelimit" }] : [];
  if (!counts) return [{ pointer: at, message: "only rules of phase http_ratelimit can have ratelimit" }];
  return rateLimit(rule.ratelimit, at, { phase, around });
}

function misplaced(action: ActionName, phase: Phase): string {
  const { name, actions } = phase;
  const here = actions.length === 0 ? `phase ${name} cannot have rules${insteadOf(phase)}` : `phase ${name} allows ${actions.join(", ")}`;
  const elsewhere = phasesOf(action);
  return elsewhere.length === 0 ? `unknown action "${action}": ${here}` : `action "${action}" is not allowed here: ${here}`;
}

function expressionProblems(expression: unknown, phase: string, around: RuleContext): readonly RuleProblem[] {
  if (typeof expression !== "string") return [{ pointer: "/expression", message: "expression must be a string" }];
  try {
    compileExpression(expression, phase, { lists: around.lists, regexes: around.regexes });
    return [];
  } catch (error) {
    if (error instanceof ExpressionError) return [{ pointer: "/expression", message: error.message }];
    throw error;
  }
}
