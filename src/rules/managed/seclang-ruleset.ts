import { createHash } from "node:crypto";
import type { PhaseName } from "#rules/phases.ts";
import { rulesOf, type Disruption, type Program, type Rule } from "#rules/seclang/program/program.ts";
import { rulePositions } from "#rules/seclang/program/program-limits.ts";
import { readProgram } from "#rules/seclang/program/read-program.ts";
import { type CoreRuleSet, createCustomerRules } from "./core/core-rule-set.ts";
import { textOf } from "./core/core-rows.ts";
import type { ManagedRule, ManagedRuleset } from "./managed-ruleset.ts";
import { SCORES_RULESET_ID, SECLANG_RULESET_ID } from "./request-rulesets.ts";
import { MANAGED_RULESETS } from "./rulesets.ts";

/** Phases of the edge that run such rules, with their phases of ModSecurity. */
export const SECLANG_PHASES = {
  http_request_firewall_managed: [1, 2],
  http_response_firewall_managed: [1, 3, 4],
} as const satisfies Partial<Record<PhaseName, readonly number[]>>;

export type SecLangPhase = keyof typeof SECLANG_PHASES;

/** Limit of one rule. The rules of one ruleset also share the limit on positions of its regular expressions (regex-table.ts). */
export const SECLANG_BYTES_MAX = 32_768;
const RULES_MAX = 200;
/** The name of a customer's text in errors. */
const FILE = "seclang";

/** A customer's rules in SecLang, as the rule that carries them executes them. */
export interface SecLangRuleset extends ManagedRuleset {
  readonly program: Program;
  readonly coreRuleSet: CoreRuleSet;
  /** The cost of building it, in positions of regular expressions: those of its patterns, and one for each byte of its text. */
  readonly places: number;
}

/** Reads a customer's text, once while it is cached. Throws SecLangError with line and column. */
export function secLangRuleset(text: string, phase: SecLangPhase): SecLangRuleset {
  const core = MANAGED_RULESETS.get(SCORES_RULESET_ID)?.coreRuleSet;
  const key = createHash("sha256")
    .update(`${phase} ${core?.digest ?? ""}\n${text}`)
    .digest("hex");
  let ruleset = known.get(key);
  if (ruleset === undefined) {
    if (known.size === KNOWN_MAX) known.clear();
    known.set(key, (ruleset = rulesetOf(readText(text, phase, core?.program), phase, key, Buffer.byteLength(text))));
  }
  return ruleset;
}

const known = new Map<string, SecLangRuleset>();
const KNOWN_MAX = 16;

function readText(text: string, phase: SecLangPhase, core: Program | undefined): Program {
  return readProgram({
    files: [{ name: FILE, content: Buffer.from(text, "utf8").toString("latin1") }],
    dataFile: () => null,
    others: core === undefined ? [] : rulesOf(core),
    limits: { rules: RULES_MAX, phases: SECLANG_PHASES[phase], disruptions: DISRUPTIONS },
  });
}

/** `redirect` and `drop` are not among them: other phases redirect, and a connection may have the requests of others. */
const DISRUPTIONS: readonly Disruption[] = ["pass", "block", "deny", "allow", "allow-phase", "allow-request"];

function rulesetOf(program: Program, phase: SecLangPhase, digest: string, bytes: number): SecLangRuleset {
  const all = rulesOf(program);
  const rules = all.flatMap((rule) => managedRule(rule, program) ?? []);
  return {
    id: SECLANG_RULESET_ID,
    name: "SecLang Rules",
    description: "Rules in SecLang, defined in the rule that executes them",
    phase,
    version: digest.slice(0, 12),
    actions: [],
    has_sensitivity: false,
    rules: (program.controls ?? []).length === 0 ? rules : [DIRECTIVES, ...rules],
    coreRuleSet: createCustomerRules(program, digest),
    program,
    places: all.reduce((sum, rule) => sum + rulePositions(rule), bytes),
  };
}

/** The rule for directives about rules of the Core Rule Set, which apply to every request. */
const DIRECTIVES: ManagedRule = {
  id: "directives",
  detector: "",
  expression: "true",
  action: "log",
  description: "Directives about rules of the Core Rule Set",
  categories: [],
  enabled: true,
};

/** Null for a rule that only changes other rules of its text. */
function managedRule(rule: Rule, { engine }: Program): ManagedRule | null {
  const action = engine === "off" ? null : ACTIONS[rule.disruption];
  const isSilent = !rule.isLogged && rule.links.every(({ controls }) => controls.length === 0);
  if (action === null || (action === "log" && isSilent)) return null;
  return {
    id: String(rule.id),
    detector: "",
    core: rule.id,
    action: action === "block" && engine === "detection" ? "log" : action,
    ...(action === "skip" ? { action_parameters: { phase: "current" } } : {}),
    description: `${rule.id}: ${textOf(rule.message)}`,
    categories: rule.tags,
    enabled: true,
  };
}

/** The actions here. `block` without a `SecDefaultAction` blocks. */
const ACTIONS: Readonly<Record<Disruption, string | null>> = {
  pass: "log",
  block: "block",
  deny: "block",
  drop: "block",
  redirect: "block",
  allow: "skip",
  "allow-phase": "skip",
  "allow-request": "skip",
};
