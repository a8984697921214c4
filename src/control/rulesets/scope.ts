import type { RulesetScope } from "./ruleset-scope.ts";
import { checkUse } from "#control/rulesets/phase-permissions.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import { type Phase, phaseNamed } from "#rules/phases.ts";
import { type RulesetOwner, type RulesetRow, rulesetById } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";

export const ownerOf = (scope: RulesetScope): RulesetOwner => ({ level: scope.level, owner_id: scope.zone_id ?? scope.account_id });

/**
 * The scope's own ruleset, if the caller may use its phase. Throws `ruleset_not_found`, `authentication_error`, and
 * `ruleset_invalid` for changes of a managed one.
 */
export async function ownRuleset(db: Unit["db"], scope: RulesetScope, id: string, use: "read" | "write"): Promise<RulesetRow> {
  const row = await rulesetById(db, ownerOf(scope), id);
  const managed = row === undefined && use === "write" ? MANAGED_RULESETS.get(id) : undefined;
  if (managed !== undefined) {
    const message = `${managed.name} is managed and cannot be changed; to change its rules, use overrides in the rule that executes it`;
    throw new PlatformError("ruleset_invalid", { message });
  }
  if (row === undefined) throw new PlatformError("ruleset_not_found", { message: `could not find ruleset ${id}` });
  checkUse(scope.actor, scope, row.phase, use);
  return row;
}

/**
 * Throws `ruleset_invalid` for an unknown phase, or one without rulesets at the level; `authentication_error` if the
 * caller may not use it.
 */
export function phaseFor(scope: RulesetScope, name: string, use: "read" | "write", source: string | undefined): Phase {
  const phase = phaseNamed(name);
  const place = source === undefined ? {} : { source };
  if (phase === undefined) throw new PlatformError("ruleset_invalid", { message: `'${name}' is not a valid value for phase`, ...place });
  if (!phase.levels.includes(scope.level))
    throw new PlatformError("ruleset_invalid", { message: `phase ${name} has no rulesets at the ${scope.level} level`, ...place });
  checkUse(scope.actor, scope, phase.name, use);
  return phase;
}

/** Managed rulesets ship with the program; custom ones belong to accounts, because zones share them. */
const KINDS: Readonly<Record<RulesetScope["level"], readonly string[]>> = { account: ["root", "custom"], zone: ["zone"] };

export function checkKind(scope: RulesetScope, kind: string, phase: Phase): void {
  if (!KINDS[scope.level].includes(kind))
    throw invalidRuleset(
      `'${kind}' is not a valid value for kind because the ${scope.level} level takes ${KINDS[scope.level].join(" or ")}`,
      "/kind",
    );
  if (kind === "custom" && !phase.actions.includes("execute"))
    throw invalidRuleset(`'custom' is not a valid value for kind because nothing executes rulesets in phase ${phase.name}`, "/kind");
}

export const entryPointKind = (scope: RulesetScope): "zone" | "root" => (scope.level === "zone" ? "zone" : "root");

export const invalidRuleset = (message: string, source: string): PlatformError => new PlatformError("ruleset_invalid", { message, source });
