import type { ActionRef } from "../syntax/actions.ts";
import type { OperatorRef } from "../syntax/operator.ts";
import { hasVariables, readMacro } from "../syntax/macro.ts";
import { type SourcePosition, refuse, type Text } from "../syntax/source-error.ts";
import type { VariableRef } from "../syntax/variables.ts";
import { transformationOf, TRANSFORMATION_NAMES } from "../transformations/transformations.ts";
import { readAssignment } from "./assignment.ts";
import { type ControlResources, readControl } from "./control.ts";
import type { Disruption, Link, SecOperator, Rule, Target } from "./program.ts";
import { has, lastOf, type LinkDraft, numberIn, type SecRuleDraft } from "./rule-draft.ts";
import { wordsOf } from "./words-of.ts";

export interface LinkResources extends ControlResources {
  readonly dataFile: (name: string, beside: string) => string | null;
  readonly notice: (place: SourcePosition, text: string) => void;
}

const SEVERITIES = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"];
const STATUS = 403;

/** A rule with the `SecDefaultAction` of its phase. */
export function ruleFrom(draft: SecRuleDraft, defaults: readonly ActionRef[], resources: LinkResources): Rule {
  const first = draft.links[0]!;
  const actions = [...defaults, ...first.actions];
  const links = draft.links.map((link, place) => linkFrom(link, place === 0 ? defaults : [], resources));
  const text = (name: "msg" | "logdata" | "redirect"): Rule["message"] => {
    // Later links of a chain may set it too.
    const found = lastOf([...actions, ...draft.links.slice(1).flatMap((link) => link.actions)], name);
    return found === undefined ? "" : readMacro(found.argument);
  };
  const status = lastOf(actions, "status");
  const severity = lastOf(actions, "severity");
  const skip = lastOf(actions, "skip");
  return {
    id: draft.id,
    place: draft.source.at(0),
    links,
    message: text("msg"),
    logdata: text("logdata"),
    severity: severity === undefined ? null : readSeverity(severity.argument),
    tags: draft.links.flatMap((link) => link.actions.filter(({ name }) => name === "tag").map(({ argument }) => argument.text)),
    version: lastOf(actions, "ver")?.argument.text ?? "",
    isLogged: actions.findLast(({ name }) => name === "log" || name === "nolog")?.name !== "nolog",
    disruption: disruptionOf(first.actions, defaults),
    status: status === undefined ? STATUS : numberIn(status.argument, 100, 599),
    location: text("redirect"),
    skipAfter: lastOf(actions, "skipAfter")?.argument.text ?? null,
    skip: skip === undefined ? 0 : numberIn(skip.argument, 1, 10_000),
  };
}

const DISRUPTIVE = ["allow", "block", "deny", "drop", "pass", "redirect"] as const;

function disruptionOf(actions: readonly ActionRef[], defaults: readonly ActionRef[]): Disruption {
  const last = (from: readonly ActionRef[]): ActionRef | undefined =>
    from.findLast(({ name }) => DISRUPTIVE.includes(name as (typeof DISRUPTIVE)[number]));
  const own = last(actions);
  // `block` means the default action of the phase.
  const action = own === undefined || own.name === "block" ? (last(defaults) ?? own) : own;
  if (action === undefined) return "pass";
  if (action.name !== "allow") return action.name as Disruption;
  const scope = action.argument.text.toLowerCase();
  if (scope === "") return "allow";
  return scope === "phase"
    ? "allow-phase"
    : scope === "request"
      ? "allow-request"
      : refuse(action.argument, "expected allow, allow:phase or allow:request");
}

function readSeverity(text: Text): number {
  const named = SEVERITIES.indexOf(text.text.toUpperCase());
  return named === -1 ? numberIn(text, 0, 7) : named;
}

function linkFrom({ variables, directive, actions }: LinkDraft, defaults: readonly ActionRef[], resources: LinkResources): Link {
  const all = [...defaults, ...actions];
  const targets = variables.filter(({ mode }) => mode !== "exclude").map(targetOf);
  if (targets.length === 0 && variables.length > 0) refuse(directive.source, "the rule only leaves variables out");
  return {
    targets,
    excluded: variables.filter(({ mode }) => mode === "exclude").map(targetOf),
    operator: directive.operator === null ? null : operatorFrom(directive.operator, resources),
    transformations: transformationsOf(all),
    isMultiMatch: has(all, "multiMatch"),
    captures: has(all, "capture"),
    assignments: actions.flatMap((action) => (action.name === "setvar" ? [readAssignment(action.argument)] : [])),
    controls: actions.flatMap((action) => (action.name === "ctl" ? readControl(action.argument, resources) : [])),
  };
}

export const targetOf = ({ collection, mode, selector }: VariableRef): Target => ({
  collection,
  isCount: mode === "count",
  selector: selector?.kind === "pattern" ? { kind: "pattern", pattern: selector.pattern.text } : selector,
});

/** `t:none` removes the transformations before it. */
function transformationsOf(actions: readonly ActionRef[]): readonly string[] {
  let names: string[] = [];
  for (const { name, argument } of actions) {
    if (name !== "t") continue;
    const known = transformationOf(argument.text);
    if (known === undefined) refuse(argument, `unknown transformation ${argument.text}; known are ${TRANSFORMATION_NAMES}`);
    if (known.name === "none") names = [];
    else names.push(known.name);
  }
  return names;
}

const operatorFrom = (operator: OperatorRef, resources: LinkResources): SecOperator => ({
  name: operator.name,
  isNegated: operator.isNegated,
  argument: operator.name === "rx" || operator.name === "rxGlobal" ? rxArgument(operator.argument) : readMacro(operator.argument),
  words: wordsOf(operator, resources.dataFile),
  place: operator.argument.at(0),
});

/** In a pattern, `%{` without a variable's name is literal. */
const rxArgument = (text: Text): SecOperator["argument"] => (hasVariables(text.text) ? readMacro(text) : text.text);
