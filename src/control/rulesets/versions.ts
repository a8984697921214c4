import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { auditOf } from "#control/rulesets/publish.ts";
import { entryPointOf } from "#control/rulesets/entry-point.ts";
import { invalidRuleset, ownRuleset } from "#control/rulesets/scope.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { managedSummary, managedView, rulesetSummary, rulesetView } from "#control/rulesets/view.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Ruleset, RulesetSummary } from "#model/rulesets/ruleset.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import { deleteVersion, versionOf, versionsOf } from "#store/rulesets/ruleset-versions.ts";
import type { RulesetRow } from "#store/rulesets/rulesets.ts";
import type { Store } from "#store/database/store.ts";

/**
 * Versions of rulesets: every write creates one, and the newest are kept. Throws `ruleset_not_found`,
 * `ruleset_version_not_found`.
 */
export interface RulesetVersions {
  /** Newest first, without rules. */
  list(scope: RulesetScope, id: string): Promise<readonly RulesetSummary[]>;
  get(scope: RulesetScope, id: string, version: string): Promise<Ruleset>;
  /** The version, limited to rules with the tag. */
  byTag(scope: RulesetScope, id: string, version: string, tag: string): Promise<Ruleset>;
  /** Throws for the current version. */
  delete(call: Call, scope: RulesetScope, id: string, version: string): Promise<void>;
  /** The same for a phase's entry point. */
  ofEntryPoint(scope: RulesetScope, phase: string): Promise<readonly RulesetSummary[]>;
  getOfEntryPoint(scope: RulesetScope, phase: string, version: string): Promise<Ruleset>;
}

export function createRulesetVersions(deps: { readonly store: Store }): RulesetVersions {
  const { store } = deps;

  const summaries = async (row: RulesetRow): Promise<RulesetSummary[]> =>
    (await versionsOf(store.read, row.id)).map((version) => rulesetSummary({ ...row, ...version }));

  const shown = async (row: RulesetRow, version: string): Promise<Ruleset> => {
    const kept = version === "latest" ? row : await versionOf(store.read, row.id, numberOf(row.id, version));
    if (kept === undefined) throw absent(row.id, version);
    return rulesetView({ ...row, ...kept });
  };

  const get = async (scope: RulesetScope, id: string, version: string): Promise<Ruleset> => {
    const managed = MANAGED_RULESETS.get(id);
    if (managed === undefined) return shown(await ownRuleset(store.read, scope, id, "read"), version);
    if (version !== managed.version && version !== "latest") throw absent(id, version);
    return managedView(managed);
  };

  return {
    list: async (scope, id) => {
      const managed = MANAGED_RULESETS.get(id);
      return managed ? [managedSummary(managed)] : summaries(await ownRuleset(store.read, scope, id, "read"));
    },
    get,
    byTag: async (scope, id, version, tag) => {
      const ruleset = await get(scope, id, version);
      return { ...ruleset, rules: ruleset.rules.filter((rule) => rule.categories?.includes(tag)) };
    },
    delete: (call, scope, id, version) =>
      commit(deps, call, async (unit) => {
        const row = await ownRuleset(unit.db, scope, id, "write");
        const number = numberOf(id, version);
        const kept = await versionOf(unit.db, id, number);
        if (kept === undefined) throw absent(id, version);
        if (number === row.version)
          throw invalidRuleset(`version ${version} is in force and cannot be deleted; delete the ruleset instead`, "");
        await deleteVersion(unit.db, id, number);
        unit.audit({ ...auditOf(call, scope, "ruleset.delete_version", id), before: rulesetView({ ...row, ...kept }) });
      }),
    ofEntryPoint: async (scope, phase) => summaries(await entryPointOf(store.read, scope, phase)),
    getOfEntryPoint: async (scope, phase, version) => shown(await entryPointOf(store.read, scope, phase), version),
  };
}

function numberOf(id: string, version: string): number {
  if (!/^\d{1,9}$/.test(version)) throw absent(id, version);
  return Number(version);
}

const absent = (id: string, version: string): PlatformError =>
  new PlatformError("ruleset_version_not_found", { message: `could not find version ${version} of ruleset ${id}` });
