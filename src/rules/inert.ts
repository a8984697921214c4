import { listsNamed } from "#rules/expression/expression.ts";
import { isFilled, isManagedList } from "#rules/expression/values/managed-lists.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import type { ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import { VENDOR_RULESETS } from "#rules/managed/vendor-names.ts";
import { isObject } from "#rules/parameters/shape.ts";

/** A rule as it was saved. */
interface SavedRule {
  readonly action?: string | undefined;
  readonly action_parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly expression?: string | undefined;
}

/** Whether an id or category is one of the customer's own patterns, which only the caller knows. */
export type IsOwnPattern = (idOrCategory: string) => boolean;

/**
 * Parts of a rule that have no effect here: vendor names that this project lacks, and lists without a file. They are
 * kept, because the same configuration may serve both; authors and readers of the rule get one sentence for each.
 */
export function inertParts(rule: SavedRule, isOwnPattern: IsOwnPattern = () => false): readonly string[] {
  const parameters = rule.action_parameters ?? {};
  return [...listParts(rule.expression ?? ""), ...(PARTS[rule.action ?? ""]?.(parameters, isOwnPattern) ?? [])];
}

const listParts = (expression: string): readonly string[] =>
  [...new Set(listsNamed(expression))]
    .filter((name) => isManagedList(name) && !isFilled(name))
    .map((name) => `the list $${name} is empty until the operator has a file for it (rules.managed_lists_directory)`);

type Parts = (parameters: Readonly<Record<string, unknown>>, isOwnPattern: IsOwnPattern) => readonly string[];

const PARTS: Readonly<Record<string, Parts>> = {
  execute: (parameters, isOwnPattern) => {
    const id = String(parameters["id"]);
    const vendors = VENDOR_RULESETS.get(id);
    if (vendors !== undefined)
      return [`the ruleset ${id} (${vendors.name}) contains no rules on this server and matches nothing: ${vendors.instead}`];
    const ruleset = MANAGED_RULESETS.get(id);
    return ruleset === undefined ? [] : overrideParts(ruleset, parameters["overrides"], isOwnPattern);
  },
  skip: (parameters, isOwnPattern) => [
    ...texts(parameters["rulesets"]).flatMap((id) => {
      const vendors = VENDOR_RULESETS.get(id);
      return vendors === undefined
        ? []
        : [`the ruleset ${id} (${vendors.name}) contains no rules on this server, so nothing can be skipped`];
    }),
    ...Object.entries(isObject(parameters["rules"]) ? parameters["rules"] : {}).flatMap(([id, rules]) => {
      const ruleset = MANAGED_RULESETS.get(id);
      if (ruleset === undefined) return [];
      const missing = texts(rules).filter((rule) => !hasRule(ruleset, rule) && !isOwnPattern(rule));
      return missing.length === 0 ? [] : [`${ruleset.name} has no rule ${missing.join(", ")} on this server, so they cannot be skipped`];
    }),
  ],
  serve_error: ({ asset_name: name }) =>
    typeof name === "string" ? [`the error asset "${name}" does not exist, so responses are unchanged; use content`] : [],
};

function overrideParts(ruleset: ManagedRuleset, overrides: unknown, isOwnPattern: IsOwnPattern): readonly string[] {
  if (!isObject(overrides)) return [];
  const rules = named(overrides["rules"], "id").filter((id) => !hasRule(ruleset, id) && !isOwnPattern(id));
  const categories = named(overrides["categories"], "category").filter(
    (name) => !ruleset.rules.some((rule) => rule.categories.includes(name)) && !isOwnPattern(name),
  );
  return [
    ...(rules.length === 0 ? [] : [`${ruleset.name} has no rule ${rules.join(", ")} on this server: the override has no effect`]),
    ...(categories.length === 0
      ? []
      : [`${ruleset.name} has no category ${categories.join(", ")} on this server: the override has no effect`]),
  ];
}

const hasRule = ({ rules }: ManagedRuleset, id: string): boolean => rules.some((rule) => rule.id === id);

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];

const named = (entries: unknown, key: string): readonly string[] =>
  Array.isArray(entries) ? texts(entries.map((entry: unknown) => (isObject(entry) ? entry[key] : null))) : [];
