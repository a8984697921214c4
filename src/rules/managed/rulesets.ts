import type { ManagedRuleset, ManagedExecution, ManagedRule } from "./managed-ruleset.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { resolveRules } from "./overrides.ts";
import { packSwitches, withoutOwn } from "./own-patterns.ts";
import { type CoreRuleSet, createCoreResponseRules } from "./core/core-rule-set.ts";
import {
  MANAGED,
  MANAGED_RULESET_ID,
  managedOf,
  materialWith,
  ownScoresOf,
  SCORES,
  SCORES_RULESET_ID,
  scoresOf,
} from "./request-rulesets.ts";
import { RESPONSE_SCORES, RESPONSE_SCORES_RULESET_ID, responseScoresOf } from "./response-rulesets.ts";
import type { OperatorRow } from "./operator/operator-row.ts";

// SPEC 4.5, waf.md: the identifier that clients know.
export const SENSITIVE_DATA_RULESET_ID = "e22d83c647c64a3eae91b71b499d988e";

const SENSITIVE_DATA: ManagedRuleset = {
  id: SENSITIVE_DATA_RULESET_ID,
  name: "Sensitive Data Detection",
  description: "Logs responses that contain personal data, financial data or secrets",
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

const rulesets = new Map([MANAGED, SCORES, RESPONSE_SCORES, SENSITIVE_DATA].map((ruleset) => [ruleset.id, ruleset]));

export const MANAGED_RULESETS: ReadonlyMap<string, ManagedRuleset> = rulesets;

/** The operator's part of the managed rulesets. */
export interface OperatorRules {
  /** Replaces the program's own scoring rules; null if there is none. */
  readonly core: CoreRuleSet | null;
  /** Rows after the program's own. */
  readonly rows: readonly OperatorRow[];
}

/** Makes the managed rulesets of it. For each thread, before it compiles rulesets. */
export function useOperatorRules({ core, rows }: OperatorRules): void {
  const material = materialWith(rows);
  rulesets.set(MANAGED_RULESET_ID, rows.length === 0 ? MANAGED : managedOf(material));
  rulesets.set(SCORES_RULESET_ID, core !== null ? scoresOf(core) : rows.length === 0 ? SCORES : ownScoresOf(material));
  rulesets.set(
    RESPONSE_SCORES_RULESET_ID,
    core === null ? RESPONSE_SCORES : responseScoresOf(createCoreResponseRules(core.program, core.digest)),
  );
}

/** The rules that an `execute` rule with these parameters runs, or null if they do not name a managed ruleset. */
export function executeManaged(parameters: Readonly<Record<string, unknown>>): ManagedExecution | null {
  const ruleset = MANAGED_RULESETS.get(String(parameters["id"]));
  return ruleset === undefined ? null : executionOf(ruleset, parameters);
}

export function executionOf(ruleset: ManagedRuleset, parameters: Readonly<Record<string, unknown>>): ManagedExecution {
  const rules = resolveRules(ruleset, parameters["overrides"]);
  const own = packSwitches(parameters["overrides"], idsOf(ruleset));
  return { ruleset_id: ruleset.id, rules, enabled: packRules(ruleset, rules), own };
}

/**
 * The execution without some of its rules, because exceptions override overrides (waf.md). The same object for the same
 * rules while it is cached.
 */
export function withoutRules(ruleset: ManagedRuleset, execution: ManagedExecution, skipped: ReadonlySet<string>): ManagedExecution {
  let variants = variantsOf.get(execution);
  if (variants === undefined) variantsOf.set(execution, (variants = new Map()));
  const key = [...skipped].join();
  let variant = variants.get(key);
  if (variant === undefined) {
    // Bounded, because requests decide which exceptions apply and in which order.
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

/** The rules that `ManagedExecution.enabled` encodes. */
export function unpackRules(ruleset: ManagedRuleset, enabled: string): readonly ManagedRule[] {
  const bits = BigInt(`0x${enabled}`);
  return ruleset.rules.filter((_, index) => ((bits >> BigInt(index)) & 1n) === 1n);
}
