import { isObject } from "../parameters.ts";
import type { ManagedRule, ManagedRuleset } from "./rulesets.ts";

/** The rules of a managed ruleset that are enabled under validated `overrides`: rule beats tag, the last tag wins, tag beats ruleset (waf.md). */
export function resolveRules(ruleset: ManagedRuleset, overrides: unknown): readonly ManagedRule[] {
  if (!isObject(overrides)) return ruleset.rules.filter((rule) => rule.enabled);
  const byRule = switches(overrides["rules"], "id");
  const byTag = switches(overrides["categories"], "category");
  const forAll = overrides["enabled"];
  return ruleset.rules.filter((rule) => {
    const own = byRule.get(rule.id);
    if (own !== undefined) return own;
    // Map order is the order in which the tags stand in the overrides.
    const tags = [...byTag].filter(([tag]) => rule.categories.includes(tag));
    const tagged = tags.at(-1)?.[1];
    return tagged ?? (typeof forAll === "boolean" ? forAll : rule.enabled);
  });
}

/** `enabled` of each entry that sets it, by its key; a later entry replaces an earlier one and takes its own place. */
function switches(entries: unknown, key: string): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  if (!Array.isArray(entries)) return found;
  for (const entry of entries) {
    if (!isObject(entry) || typeof entry[key] !== "string" || typeof entry["enabled"] !== "boolean") continue;
    found.delete(entry[key]);
    found.set(entry[key], entry["enabled"]);
  }
  return found;
}
