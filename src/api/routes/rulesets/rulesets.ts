import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import type { Call } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import type { RulesetScope } from "#control/rulesets/ruleset-scope.ts";
import { EntryPointQuery } from "#model/rulesets/waf-migration.ts";
import { Ruleset, RulesetCreate, RulesetSummary, RulesetUpdate, RuleWriteAt } from "#model/rulesets/ruleset.ts";
import { expressionRoutesOf, MATCHES_ROUTE, traceRouteOf } from "./rule-expressions.ts";
import { ACCOUNT, type RulesetBase, type RulesetLevel, scopeOf, ZONE } from "./ruleset-level.ts";
import { versionRoutesOf } from "./ruleset-versions.ts";

/** Adds a note for each rule of the ruleset that does not run, and for each part without effect. */
async function withNotes(control: Control, call: Call, scope: RulesetScope, ruleset: Ruleset): Promise<Ruleset> {
  const notes = ruleset.kind === "managed" ? [] : await control.ruleTraces.notes(scope, ruleset.id);
  if (notes.length > 0) (call.notes ??= []).push(...notes.slice(0, NOTES_MAX));
  if (ruleset.kind === "zone") await noteRemaining(control, call, scope, ruleset.phase);
  return ruleset;
}

/** Adds a note if rules of ended interfaces run before the zone's own ones. */
async function noteRemaining(control: Control, call: Call, { zone_id }: RulesetScope, phase?: string): Promise<void> {
  const notes = zone_id === null ? [] : await control.previousWaf.remaining.notes(zone_id, phase);
  if (notes.length > 0) (call.notes ??= []).push(...notes);
}

const NOTES_MAX = 20;
/** A hundred for each of 1,000 rules. */
const RULES_VALUES_MAX = 100_000;

function rulesetRoutesOf<const B extends RulesetBase>(base: B, level: RulesetLevel): Route[] {
  const read = { scope: level.scope, permissions: level.read } as const;
  const write = { scope: level.scope, permissions: level.write, paging: "one", result: Ruleset, dry_run: true } as const;
  return [
    route({
      ...read,
      method: "GET",
      path: `${base}/rulesets`,
      id: `${level.id}-rulesets-list`,
      summary: "List rulesets",
      result: RulesetSummary,
      paging: "cursor",
      per_page: { default: 50, max: 50 },
      handler: async ({ control, call, resolved, cursor }) => {
        const scope = scopeOf({ resolved, call });
        await noteRemaining(control, call, scope);
        return control.rulesets.list(scope, cursor);
      },
    }),
    route({
      ...write,
      method: "POST",
      path: `${base}/rulesets`,
      id: `${level.id}-rulesets-create`,
      summary: "Create a ruleset",
      body: RulesetCreate,
      values_max: RULES_VALUES_MAX,
      handler: ({ control, call, resolved, body }) => control.rulesets.create(call, scopeOf({ resolved, call }), body),
    }),
    route({
      ...read,
      method: "GET",
      path: `${base}/rulesets/phases/:phase/entrypoint`,
      id: `${level.id}-rulesets-entrypoint-get`,
      summary: "Show the entry point ruleset of a phase",
      result: Ruleset,
      paging: "one",
      handler: async ({ control, call, resolved, params }) =>
        withNotes(control, call, scopeOf({ resolved, call }), await control.rulesets.entryPoint(scopeOf({ resolved, call }), params.phase)),
    }),
    route({
      ...write,
      method: "PUT",
      path: `${base}/rulesets/phases/:phase/entrypoint`,
      id: `${level.id}-rulesets-entrypoint-update`,
      summary: "Create or replace the entry point ruleset of a phase",
      query: EntryPointQuery,
      body: RulesetUpdate,
      values_max: RULES_VALUES_MAX,
      handler: ({ control, call, resolved, params, query: { waf_migration: mode, phase_two, force }, body }) => {
        const scope = scopeOf({ resolved, call });
        if (mode === undefined) return control.rulesets.putEntryPoint(call, scope, params.phase, body);
        return control.wafMigration.put(call, scope, params.phase, body, { mode, phaseTwo: phase_two === true, force: force === true });
      },
    }),
    route({
      ...read,
      method: "GET",
      path: `${base}/rulesets/:ruleset_id`,
      id: `${level.id}-rulesets-get`,
      summary: "Show a ruleset",
      result: Ruleset,
      paging: "one",
      handler: async ({ control, call, resolved, params }) =>
        withNotes(control, call, scopeOf({ resolved, call }), await control.rulesets.get(scopeOf({ resolved, call }), params.ruleset_id)),
    }),
    route({
      ...write,
      method: "PUT",
      path: `${base}/rulesets/:ruleset_id`,
      id: `${level.id}-rulesets-update`,
      summary: "Replace a ruleset's rules",
      body: RulesetUpdate,
      values_max: RULES_VALUES_MAX,
      handler: ({ control, call, resolved, params, body }) =>
        control.rulesets.update(call, scopeOf({ resolved, call }), params.ruleset_id, body),
    }),
    route({
      ...write,
      method: "DELETE",
      path: `${base}/rulesets/:ruleset_id`,
      id: `${level.id}-rulesets-delete`,
      summary: "Delete a ruleset",
      result: Type.Null(),
      status: 204,
      handler: async ({ control, call, resolved, params }) => {
        await control.rulesets.delete(call, scopeOf({ resolved, call }), params.ruleset_id);
        return null;
      },
    }),
    route({
      ...write,
      method: "POST",
      path: `${base}/rulesets/:ruleset_id/rules`,
      id: `${level.id}-rulesets-rules-create`,
      summary: "Add a rule, by default at the end",
      body: RuleWriteAt,
      handler: ({ control, call, resolved, params, body }) =>
        control.rulesets.addRule(call, scopeOf({ resolved, call }), params.ruleset_id, body),
    }),
    route({
      ...write,
      method: "PATCH",
      path: `${base}/rulesets/:ruleset_id/rules/:rule_id`,
      id: `${level.id}-rulesets-rules-edit`,
      summary: "Replace or move a rule",
      body: RuleWriteAt,
      handler: ({ control, call, resolved, params, body }) =>
        control.rulesets.editRule(call, scopeOf({ resolved, call }), params.ruleset_id, params.rule_id, body),
    }),
    route({
      ...write,
      method: "DELETE",
      path: `${base}/rulesets/:ruleset_id/rules/:rule_id`,
      id: `${level.id}-rulesets-rules-delete`,
      summary: "Delete a rule",
      handler: ({ control, call, resolved, params }) =>
        control.rulesets.deleteRule(call, scopeOf({ resolved, call }), params.ruleset_id, params.rule_id),
    }),
  ];
}

export const RULESET_ROUTES: readonly Route[] = [
  ...rulesetRoutesOf("/zones/:zone_id", ZONE),
  ...versionRoutesOf("/zones/:zone_id", ZONE),
  traceRouteOf("/zones/:zone_id", ZONE),
  ...expressionRoutesOf("/zones/:zone_id", ZONE),
  MATCHES_ROUTE,
  ...rulesetRoutesOf("/accounts/:account_id", ACCOUNT),
  ...versionRoutesOf("/accounts/:account_id", ACCOUNT),
  traceRouteOf("/accounts/:account_id", ACCOUNT),
  ...expressionRoutesOf("/accounts/:account_id", ACCOUNT),
];
