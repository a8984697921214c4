import { ownerOf, phaseFor } from "#control/rulesets/scope.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { entryPoint, type RulesetRow } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";

/** The scope's entry point of a phase. Throws `entrypoint_not_found` if it does not exist (SPEC 4.5). */
export async function entryPointOf(db: Unit["db"], scope: RulesetScope, name: string): Promise<RulesetRow> {
  const phase = phaseFor(scope, name, "read", undefined);
  const row = await entryPoint(db, ownerOf(scope), phase.name);
  if (row === undefined)
    throw new PlatformError("entrypoint_not_found", { message: `could not find entrypoint ruleset in the ${phase.name} phase` });
  return row;
}
