import { isObject } from "#rules/parameters/shape.ts";
import type { ManagedRule, ManagedRuleset, SensitivityLevel } from "./managed-ruleset.ts";

/** Settings of a rule that overrides may change. */
interface Override {
  readonly action?: string;
  readonly enabled?: boolean;
  readonly sensitivity_level?: SensitivityLevel;
  readonly score_threshold?: number;
}

/**
 * The enabled rules of a managed ruleset under validated `overrides`, with their changes. For each field the rule's own
 * override beats those of its tags, of which the last wins, and these beat the ruleset's (waf.md).
 */
export function resolveRules(ruleset: ManagedRuleset, overrides: unknown): readonly ManagedRule[] {
  if (!isObject(overrides)) return ruleset.rules.filter((rule) => rule.enabled);
  const byRule = entriesOf(overrides["rules"], "id");
  const byTag = entriesOf(overrides["categories"], "category");
  return ruleset.rules.flatMap((rule) => {
    const tagged = byTag.filter(([tag]) => rule.categories.includes(tag)).map(([, override]) => override);
    const own = byRule.filter(([id]) => id === rule.id).map(([, override]) => override);
    const last: Override = Object.assign({}, overrideOf(overrides), ...tagged, ...own);
    const resolved: ManagedRule = {
      ...rule,
      // A scoring rule keeps scoring: the action is that of the rule that reads the sum.
      action: rule.action === "score" ? "score" : (last.action ?? rule.action),
      enabled: last.enabled ?? rule.enabled,
      ...(last.sensitivity_level === undefined ? {} : { sensitivity_level: last.sensitivity_level }),
      ...(last.score_threshold === undefined || rule.score_threshold === undefined ? {} : { score_threshold: last.score_threshold }),
    };
    const most = SUSPICION_MAX[resolved.sensitivity_level ?? "default"];
    return resolved.enabled && (resolved.suspicion ?? 1) <= most ? [resolved] : [];
  });
}

/** The least sure rules that still run at each level; "essentially off" leaves none. */
const SUSPICION_MAX: Readonly<Record<SensitivityLevel, number>> = { default: Number.POSITIVE_INFINITY, medium: 2, low: 1, eoff: 0 };

/** In their order, so that later ones win. */
function entriesOf(entries: unknown, key: string): readonly (readonly [string, Override])[] {
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) =>
    isObject(entry) && typeof entry[key] === "string" ? [[entry[key], overrideOf(entry)] as const] : [],
  );
}

function overrideOf({ action, enabled, sensitivity_level, score_threshold }: Readonly<Record<string, unknown>>): Override {
  return {
    ...(typeof action === "string" ? { action } : {}),
    ...(typeof enabled === "boolean" ? { enabled } : {}),
    ...(typeof sensitivity_level === "string" ? { sensitivity_level: sensitivity_level as SensitivityLevel } : {}),
    ...(typeof score_threshold === "number" ? { score_threshold } : {}),
  };
}
