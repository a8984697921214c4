import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import type { BodyCause } from "../body/body-causes.ts";
import type { PhaseName } from "../phases.ts";
import { resolveRules } from "./overrides.ts";
import { packSwitches, withoutOwn } from "./own-patterns.ts";
import type { CoreRuleSet } from "./core/core-rule-set.ts";
import { MANAGED, SCORES, SCORES_RULESET_ID, scoresOf } from "./request-rulesets.ts";
import type { ShownPart } from "./shown-part.ts";

export type SensitivityLevel = "default" | "medium" | "low" | "eoff";

export interface ManagedRule {
  readonly id: string;
  /** The detector behind it; empty for rules that have an expression or a signature. */
  readonly detector: string;
  /** What the rules' own engine runs; absent where a detector decides. */
  readonly expression?: string;
  /** Where its expression finds what it looks for; of several parts, the first that a request has. */
  readonly shows?: readonly ShownPart[];
  /** Its number among the signatures (signatures/table.ts), where one decides. */
  readonly signature?: number;
  /** What has to be odd about the body, where that decides. */
  readonly cause?: BodyCause;
  /** Its number in the Core Rule Set, where that decides. */
  readonly core?: number;
  readonly action: string;
  readonly action_parameters?: Readonly<Record<string, unknown>>;
  /** The score that the rules before it must have reached for this one to apply. */
  readonly score_threshold?: number;
  readonly sensitivity_level?: SensitivityLevel;
  /** How much suspicion is enough for it: the surest rules have 1. Absent for rules that weigh nothing themselves. */
  readonly suspicion?: number;
  readonly description: string;
  /** Tags that overrides may name. */
  readonly categories: readonly string[];
  /** Without overrides. */
  readonly enabled: boolean;
}

/** A ruleset that ships with the program. Its identifiers never change, since stored overrides name them. */
export interface ManagedRuleset {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly phase: PhaseName;
  readonly version: string;
  /** The actions that overrides may set. */
  readonly actions: readonly string[];
  /** Whether its rules can be made less sensitive. */
  readonly has_sensitivity: boolean;
  readonly rules: readonly ManagedRule[];
  /** What decides for those of its rules that have a number in it. */
  readonly coreRuleSet?: CoreRuleSet;
}

/** What one `execute` rule runs, overrides applied. */
export interface ManagedExecution {
  readonly ruleset_id: string;
  /** Enabled rules, in the ruleset's order. */
  readonly rules: readonly ManagedRule[];
  /** Their places in the ruleset as a hexadecimal bit set: what crosses to the detector worker. */
  readonly enabled: string;
  /** What overrides and exceptions say of patterns of customers' own (own-patterns.ts); empty where nothing. */
  readonly own: string;
}

// SPEC 4.5, waf.md: the identifier that clients know.
export const SENSITIVE_DATA_RULESET_ID = "e22d83c647c64a3eae91b71b499d988e";

const SENSITIVE_DATA: ManagedRuleset = {
  id: SENSITIVE_DATA_RULESET_ID,
  name: "Sensitive Data Detection",
  description: "Logs responses that carry personal data, financial data or secrets",
  phase: "http_response_firewall_managed",
  version: "1",
  // SPEC 6: a response that has been sent cannot be blocked.
  actions: ["log"],
  has_sensitivity: false,
  rules: DETECTORS.map((detector) => ({
    id: detector.rule_id,
    detector: detector.id,
    action: "log",
    description: detector.name,
    categories: [detector.category, ...(detector.tags ?? [])],
    enabled: detector.enabled,
  })),
};

const rulesets = new Map([MANAGED, SCORES, SENSITIVE_DATA].map((ruleset) => [ruleset.id, ruleset]));

export const MANAGED_RULESETS: ReadonlyMap<string, ManagedRuleset> = rulesets;

/** Puts a Core Rule Set in the place of the program's own rules, or these back where there is none. For each thread, before it compiles rulesets. */
export function useCoreRuleSet(core: CoreRuleSet | null): void {
  rulesets.set(SCORES_RULESET_ID, core === null ? SCORES : scoresOf(core));
}

/** What the parameters of an `execute` rule run, or null when they name no managed ruleset. */
export function executeManaged(parameters: Readonly<Record<string, unknown>>): ManagedExecution | null {
  const ruleset = MANAGED_RULESETS.get(String(parameters["id"]));
  return ruleset === undefined ? null : executionOf(ruleset, parameters);
}

export function executionOf(ruleset: ManagedRuleset, parameters: Readonly<Record<string, unknown>>): ManagedExecution {
  const rules = resolveRules(ruleset, parameters["overrides"]);
  const own = packSwitches(parameters["overrides"], idsOf(ruleset));
  return { ruleset_id: ruleset.id, rules, enabled: packRules(ruleset, rules), own };
}

/** The execution without some of its rules: exceptions beat overrides (waf.md). The same object for the same rules, for as long as it is kept. */
export function withoutRules(ruleset: ManagedRuleset, execution: ManagedExecution, skipped: ReadonlySet<string>): ManagedExecution {
  let variants = variantsOf.get(execution);
  if (variants === undefined) variantsOf.set(execution, (variants = new Map()));
  const key = [...skipped].join();
  let variant = variants.get(key);
  if (variant === undefined) {
    // Which exceptions apply, and in which order, is up to requests.
    if (variants.size === VARIANTS_MAX) variants.clear();
    variants.set(key, (variant = leavingOut(ruleset, execution, skipped)));
  }
  return variant;
}

const VARIANTS_MAX = 64;
const variantsOf = new WeakMap<ManagedExecution, Map<string, ManagedExecution>>();

function leavingOut(ruleset: ManagedRuleset, execution: ManagedExecution, skipped: ReadonlySet<string>): ManagedExecution {
  const rules = execution.rules.filter(({ id }) => !skipped.has(id));
  const own = withoutOwn(execution.own, [...skipped], idsOf(ruleset));
  return { ...execution, rules, enabled: packRules(ruleset, rules), own };
}

const idsOf = (ruleset: ManagedRuleset): ReadonlySet<string> => new Set(ruleset.rules.map(({ id }) => id));

function packRules(ruleset: ManagedRuleset, enabled: readonly ManagedRule[]): string {
  const on = new Set(enabled.map(({ id }) => id));
  let bits = 0n;
  ruleset.rules.forEach(({ id }, index) => {
    if (on.has(id)) bits |= 1n << BigInt(index);
  });
  return bits.toString(16);
}

/** The rules that `ManagedExecution.enabled` stands for. */
export function unpackRules(ruleset: ManagedRuleset, enabled: string): readonly ManagedRule[] {
  const bits = BigInt(`0x${enabled}`);
  return ruleset.rules.filter((_, index) => ((bits >> BigInt(index)) & 1n) === 1n);
}
