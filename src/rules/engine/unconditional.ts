import type { CompiledRule, CompiledRuleset, Match } from "./compiled-rule.ts";

/**
 * The matches of every message in a phase whose rules all execute managed rulesets unconditionally, as long as no earlier
 * rule has skipped anything; null if rules must be evaluated.
 */
export function unconditionalMatches(rulesets: readonly CompiledRuleset[]): readonly Match[] | null {
  const matches: Match[] = [];
  for (const { rules } of rulesets)
    for (const rule of rules) {
      if (!alwaysExecutes(rule)) return null;
      matches.push(rule.match);
    }
  return matches;
}

const alwaysExecutes = ({ definition, executes, match, limit, threshold, ends }: CompiledRule): boolean =>
  definition.expression.trim() === "true" &&
  executes !== null &&
  executes.managed !== null &&
  executes.managed === match.managed &&
  limit === null &&
  threshold === 0 &&
  ends === null;
