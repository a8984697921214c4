import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { checkRuleCount, checkRulesBytes, RULESET_LIMITS, type RulesetLimits } from "#control/rulesets/limits.ts";
import { inertNotes, normalizationIn, note } from "#control/rulesets/inert-notes.ts";
import { publishRuleset, turnIfLong } from "#control/rulesets/publish.ts";
import { checkRefs, replaceRules, type RuleBuild, type StoredRule } from "#control/rulesets/rules.ts";
import type { RuleChecks } from "#control/rulesets/rule-checks.ts";
import type { Slices } from "#kernel/process/slices.ts";
import { invalidRuleset, ownerOf, ownRuleset } from "#control/rulesets/scope.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { checkBlockedRules } from "#control/previous-waf/blocked-rules.ts";
import { ruleContextOf } from "#control/rulesets/rule-context.ts";
import type { Ruleset, RulesetUpdate } from "#model/rulesets/ruleset.ts";
import { notRun } from "#rules/check.ts";
import type { Phase } from "#rules/phases.ts";
import { keepVersion } from "#store/rulesets/ruleset-versions.ts";
import { insertRuleset, type RulesetRow, rulesetsOf, updateRuleset } from "#store/rulesets/rulesets.ts";
import type { Store, Unit } from "#store/database/store.ts";

export interface RulesetsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits?: Partial<RulesetLimits>;
  /** The operator's own accounts may have rules of any length; default: none. */
  isTrustedAccount?(accountId: string): Promise<boolean>;
  /** Runs the checks of rules in slices. */
  readonly slices: Slices;
  /** Whether the edge can know where visitors are; default: it can. */
  readonly hasPlaces?: boolean;
}

export type ChangeRules = (rules: readonly StoredRule[], build: RuleBuild) => StoredRule[];

/** Creating and changing rulesets, each in a unit. */
export function createWriting(deps: RulesetsDeps, checks: RuleChecks) {
  const limits = { ...RULESET_LIMITS, ...deps.limits };
  const now = (): string => isoMicros(deps.clock.nowMicros());

  const buildOf = async (unit: Unit, scope: RulesetScope, kind: string, phase: string) => {
    const around = await ruleContextOf(unit.db, scope, kind);
    const build: RuleBuild = { now: now(), assertChecked: (write) => checks.assertChecked(write, phase, around) };
    const normalization = await normalizationIn(unit.db, scope);
    return { ...build, patterns: around.patterns, normalization, hasPlaces: deps.hasPlaces ?? true };
  };
  const rulesFrom = async (
    body: RulesetUpdate,
    scope: RulesetScope,
    before: readonly StoredRule[],
    build: RuleBuild,
  ): Promise<StoredRule[]> => {
    const writes = body.rules ?? [];
    checkRuleCount(limits, scope, writes.length);
    const rules = await replaceRules(writes, before, build);
    checkRefs(rules);
    return rules;
  };

  const checkBytes = async ({ db }: Unit, scope: RulesetScope, rules: string, before: string): Promise<void> => {
    if ((await deps.isTrustedAccount?.(scope.account_id)) !== true) await checkRulesBytes(db, limits.accountBytesMax, scope, rules, before);
  };

  const save = async (unit: Unit, call: Call, scope: RulesetScope, before: RulesetRow, changes: Partial<RulesetRow>): Promise<Ruleset> => {
    const row = { ...before, ...changes, version: before.version + 1, last_updated: now() };
    await checkBytes(unit, scope, row.rules, before.rules);
    await updateRuleset(unit.db, before.id, row);
    await turnIfLong(row);
    await keepVersion(unit.db, row, limits.versionsKept);
    await turnIfLong(row);
    return publishRuleset(unit, call, scope, "ruleset.update", before, row);
  };

  return {
    /** Checked first, because checking the rules takes longer. */
    checkCount: (scope: RulesetScope, rules: number): void => checkRuleCount(limits, scope, rules),

    insert: async (unit: Unit, call: Call, scope: RulesetScope, kind: string, phase: Phase, body: RulesetUpdate): Promise<Ruleset> => {
      checkKeys(body);
      const at = now();
      const build = await buildOf(unit, scope, kind, phase.name);
      const rules = await rulesFrom(body, scope, [], build);
      await checkBlockedRules(unit, scope.zone_id, phase.name, rules);
      // The rules are checked first, because their errors are more specific; even without rules, the ruleset would have
      // no effect.
      if (!phase.runs) throw new PlatformError("ruleset_invalid", { message: notRun(phase) });
      const row: RulesetRow = {
        id: newId(),
        ...ownerOf(scope),
        name: body.name ?? "default",
        description: body.description ?? "",
        kind,
        phase: phase.name,
        version: 1,
        rules: JSON.stringify(rules),
        last_updated: at,
      };
      await checkBytes(unit, scope, row.rules, "");
      await turnIfLong(row);
      await insertRuleset(unit.db, row);
      await turnIfLong(row);
      await keepVersion(unit.db, row, limits.versionsKept);
      note(call, await inertNotes(rules, build));
      return publishRuleset(unit, call, scope, "ruleset.create", null, row);
    },

    replace: async (unit: Unit, call: Call, scope: RulesetScope, before: RulesetRow, body: RulesetUpdate): Promise<Ruleset> => {
      checkKeys(body);
      checkUnchanged(body, before);
      const build = await buildOf(unit, scope, before.kind, before.phase);
      const rules = await rulesFrom(body, scope, rulesOf(before), build);
      await checkBlockedRules(unit, scope.zone_id, before.phase, rules);
      note(call, await inertNotes(rules, build));
      return save(unit, call, scope, before, {
        name: body.name ?? before.name,
        description: body.description ?? before.description,
        rules: JSON.stringify(rules),
      });
    },

    /** Loads the ruleset inside the unit, so that `change` starts from the newest rules. */
    changeRules: (call: Call, scope: RulesetScope, id: string, change: ChangeRules): Promise<Ruleset> =>
      commit(deps, call, async (unit) => {
        const before = await ownRuleset(unit.db, scope, id, "write");
        const build = await buildOf(unit, scope, before.kind, before.phase);
        const rules = change(rulesOf(before), build);
        checkRuleCount(limits, scope, rules.length);
        checkRefs(rules);
        await checkBlockedRules(unit, scope.zone_id, before.phase, rules);
        note(call, await inertNotes(rules, build));
        return save(unit, call, scope, before, { rules: JSON.stringify(rules) });
      }),

    checkCustomCount: async (unit: Unit, scope: RulesetScope): Promise<void> => {
      const custom = (await rulesetsOf(unit.db, ownerOf(scope))).filter(({ kind }) => kind === "custom");
      if (custom.length >= limits.customRulesetsMax)
        throw invalidRuleset(`an account has at most ${limits.customRulesetsMax} custom rulesets`, "/kind");
    },
  };
}

export const rulesOf = (row: RulesetRow): StoredRule[] => JSON.parse(row.rules) as StoredRule[];

/** Members of a ruleset, including read-only ones that clients send back. */
const KEYS = ["id", "name", "description", "kind", "phase", "version", "last_updated", "source", "rules"];

function checkKeys(body: object): void {
  const unknown = Object.keys(body).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw invalidRuleset(`unknown field "${unknown}" of a ruleset`, `/${unknown}`);
}

export function checkUnchanged(body: RulesetUpdate, before: { readonly kind: string; readonly phase: string }): void {
  for (const key of ["kind", "phase"] as const) {
    if (body[key] !== undefined && body[key] !== before[key]) throw invalidRuleset(`${key} of a ruleset cannot change`, `/${key}`);
  }
}
