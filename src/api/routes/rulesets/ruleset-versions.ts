import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { Ruleset, RulesetSummary } from "#model/rulesets/ruleset.ts";
import { type RulesetBase, type RulesetLevel, scopeOf } from "./ruleset-level.ts";

export function versionRoutesOf<const B extends RulesetBase>(base: B, level: RulesetLevel): Route[] {
  const read = { scope: level.scope, permissions: level.read, method: "GET" } as const;
  return [
    route({
      ...read,
      path: `${base}/rulesets/phases/:phase/entrypoint/versions`,
      id: `${level.id}-rulesets-entrypoint-versions-list`,
      summary: "List the versions of an entry point ruleset, newest first",
      result: RulesetSummary,
      paging: "list",
      handler: ({ control, call, resolved, params }) => control.rulesetVersions.ofEntryPoint(scopeOf({ resolved, call }), params.phase),
    }),
    route({
      ...read,
      path: `${base}/rulesets/phases/:phase/entrypoint/versions/:ruleset_version`,
      id: `${level.id}-rulesets-entrypoint-versions-get`,
      summary: "Show a version of an entry point ruleset",
      result: Ruleset,
      paging: "one",
      handler: ({ control, call, resolved, params }) =>
        control.rulesetVersions.getOfEntryPoint(scopeOf({ resolved, call }), params.phase, params.ruleset_version),
    }),
    route({
      ...read,
      path: `${base}/rulesets/:ruleset_id/versions`,
      id: `${level.id}-rulesets-versions-list`,
      summary: "List the versions of a ruleset, newest first",
      result: RulesetSummary,
      paging: "list",
      handler: ({ control, call, resolved, params }) => control.rulesetVersions.list(scopeOf({ resolved, call }), params.ruleset_id),
    }),
    route({
      ...read,
      path: `${base}/rulesets/:ruleset_id/versions/:ruleset_version`,
      id: `${level.id}-rulesets-versions-get`,
      summary: "Show a version of a ruleset",
      result: Ruleset,
      paging: "one",
      handler: ({ control, call, resolved, params }) =>
        control.rulesetVersions.get(scopeOf({ resolved, call }), params.ruleset_id, params.ruleset_version),
    }),
    route({
      scope: level.scope,
      permissions: level.write,
      method: "DELETE",
      path: `${base}/rulesets/:ruleset_id/versions/:ruleset_version`,
      id: `${level.id}-rulesets-versions-delete`,
      summary: "Delete a version of a ruleset that is no longer active",
      dry_run: true,
      result: Type.Null(),
      paging: "one",
      status: 204,
      handler: async ({ control, call, resolved, params }) => {
        await control.rulesetVersions.delete(call, scopeOf({ resolved, call }), params.ruleset_id, params.ruleset_version);
        return null;
      },
    }),
    route({
      ...read,
      path: `${base}/rulesets/:ruleset_id/versions/:ruleset_version/by_tag/:rule_tag`,
      id: `${level.id}-rulesets-versions-by-tag`,
      summary: "Show the rules of a version that have a tag",
      result: Ruleset,
      paging: "one",
      handler: ({ control, call, resolved, params }) =>
        control.rulesetVersions.byTag(scopeOf({ resolved, call }), params.ruleset_id, params.ruleset_version, params.rule_tag),
    }),
  ];
}
