import type { Rule, Ruleset, RulesetSummary } from "#model/rulesets/ruleset.ts";
import type { ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import { loggingOf } from "./rules.ts";
import type { RulesetHead, RulesetRow } from "#store/rulesets/rulesets.ts";

/** SPEC 2.6: the `source` of the entry point of `http_response_firewall_managed` is `firewall_managed`. */
const sourceOf = (kind: string, phase: string): { source?: string } => {
  const source = /^http_(?:request|response)_(firewall_(?:managed|custom))$/.exec(phase)?.[1];
  return (kind === "zone" || kind === "root") && source !== undefined ? { source } : {};
};

export const rulesetSummary = (row: RulesetHead): RulesetSummary => ({
  id: row.id,
  name: row.name,
  description: row.description,
  ...sourceOf(row.kind, row.phase),
  kind: row.kind as RulesetSummary["kind"],
  version: String(row.version),
  last_updated: row.last_updated,
  phase: row.phase,
});

export const rulesetView = (row: RulesetRow): Ruleset => ({
  ...rulesetSummary(row),
  rules: (JSON.parse(row.rules) as Rule[]).map(ruleView),
});

/** Omits empty action parameters. */
function ruleView({ action_parameters, ...saved }: Rule): Rule {
  const logging = saved.logging ?? loggingOf(saved.action);
  const rule = logging === undefined ? saved : { ...saved, logging };
  return action_parameters === undefined || Object.keys(action_parameters).length === 0 ? rule : { ...rule, action_parameters };
}

/** Time of this version's managed rulesets, which ship with the program and never change in it. */
const MANAGED_LAST_UPDATED = "2026-01-01T00:00:00.000000Z";

export const managedSummary = (ruleset: ManagedRuleset): RulesetSummary => ({
  id: ruleset.id,
  name: ruleset.name,
  description: ruleset.description,
  kind: "managed",
  version: ruleset.version,
  last_updated: MANAGED_LAST_UPDATED,
  phase: ruleset.phase,
});

export const managedView = (ruleset: ManagedRuleset): Ruleset => ({
  ...managedSummary(ruleset),
  rules: ruleset.rules.map((rule) => ({
    id: rule.id,
    version: ruleset.version,
    action: rule.action,
    ...(rule.action_parameters === undefined ? {} : { action_parameters: { ...rule.action_parameters } }),
    ...(rule.score_threshold === undefined ? {} : { score_threshold: rule.score_threshold }),
    categories: [...rule.categories],
    description: rule.description,
    last_updated: MANAGED_LAST_UPDATED,
    ref: rule.id,
    enabled: rule.enabled,
  })),
});
