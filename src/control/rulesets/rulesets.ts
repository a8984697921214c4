import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call, CursorPage, CursorRequest } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { pageAfter } from "#control/cursor.ts";
import { entryPointOf } from "#control/rulesets/entry-point.ts";
import { mayUse } from "#control/rulesets/phase-permissions.ts";
import { auditOf } from "#control/rulesets/publish.ts";
import { buildRule, placeRule, type StoredRule } from "#control/rulesets/rules.ts";
import { createRuleChecks } from "#control/rulesets/rule-checks.ts";
import { checkKind, entryPointKind, ownerOf, ownRuleset, phaseFor } from "#control/rulesets/scope.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { ruleContextOf } from "#control/rulesets/rule-context.ts";
import { managedSummary, managedView, rulesetSummary, rulesetView } from "#control/rulesets/view.ts";
import type { Ruleset, RulesetCreate, RulesetSummary, RulesetUpdate, RuleWrite, RuleWriteAt } from "#model/rulesets/ruleset.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import { deleteRuleset, entryPoint, rulesetsNaming, rulesetsOf } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";
import { checkUnchanged, type ChangeRules, createWriting, rulesOf, type RulesetsDeps } from "./write-rulesets.ts";

/** Rulesets of a scope. Each write creates a new version, and is checked completely before anything is stored. */
export interface Rulesets {
  /** The scope's own rulesets in phases that the caller may read, then the managed rulesets that it can execute. */
  list(scope: RulesetScope, page: CursorRequest): Promise<CursorPage<RulesetSummary>>;
  create(call: Call, scope: RulesetScope, body: RulesetCreate): Promise<Ruleset>;
  get(scope: RulesetScope, id: string): Promise<Ruleset>;
  update(call: Call, scope: RulesetScope, id: string, body: RulesetUpdate): Promise<Ruleset>;
  /** Throws `ruleset_in_use` while a rule executes it. */
  delete(call: Call, scope: RulesetScope, id: string): Promise<void>;
  /** Throws `entrypoint_not_found` if the phase has none yet (SPEC 4.5). */
  entryPoint(scope: RulesetScope, phase: string): Promise<Ruleset>;
  /** Creates the entry point or replaces its rules; `first` runs before that in the same unit. */
  putEntryPoint(
    call: Call,
    scope: RulesetScope,
    phase: string,
    body: RulesetUpdate,
    first?: (unit: Unit) => Promise<void>,
  ): Promise<Ruleset>;
  addRule(call: Call, scope: RulesetScope, id: string, body: RuleWriteAt): Promise<Ruleset>;
  /** A position alone moves the rule; a definition replaces it. */
  editRule(call: Call, scope: RulesetScope, id: string, ruleId: string, body: RuleWriteAt): Promise<Ruleset>;
  deleteRule(call: Call, scope: RulesetScope, id: string, ruleId: string): Promise<Ruleset>;
}

export function createRulesets(deps: RulesetsDeps): Rulesets {
  const { store } = deps;
  const checks = createRuleChecks(deps.slices);
  const writing = createWriting(deps, checks);
  const { insert, replace, changeRules } = writing;

  /**
   * Checks all of a ruleset's rules before its unit of work begins; does nothing if the unit will refuse it for another
   * reason.
   */
  const checkAll = async (scope: RulesetScope, kind: string, phase: string, { rules }: RulesetUpdate): Promise<void> => {
    if (rules === undefined || rules.length === 0) return;
    writing.checkCount(scope, rules.length);
    const around = await ruleContextOf(store.read, scope, kind);
    await checks.check(
      rules.map((rule, index) => [rule, `/rules/${index}`]),
      [],
      phase,
      around,
    );
  };
  /** Checks one rule that is added, or replaces the given one. */
  const checkOne = async (scope: RulesetScope, id: string, write: RuleWrite, ruleId: string): Promise<void> => {
    const row = await ownRuleset(store.read, scope, id, "write");
    const rules = rulesOf(row);
    if (ruleId !== "") ruleNamed(rules, ruleId);
    const around = await ruleContextOf(store.read, scope, row.kind);
    await checks.check(
      [[write, ""]],
      rules.filter((rule) => rule.id !== ruleId),
      row.phase,
      around,
    );
  };

  return {
    list: async (scope, page) => {
      const own = await rulesetsOf(store.read, ownerOf(scope));
      const rows = own.filter(({ phase }) => mayUse(scope.actor, scope, phase, "read"));
      const managed = [...MANAGED_RULESETS.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const all = [...rows.map(rulesetSummary), ...managed.map(managedSummary)];
      return pageAfter(all, page, ({ kind, id }) => (kind === "managed" ? "1" : "0") + id);
    },

    create: async (call, scope, body) => {
      const phase = phaseFor(scope, body.phase, "write", "/phase");
      checkKind(scope, body.kind, phase);
      const create = async (unit: Unit): Promise<Ruleset> => {
        if (body.kind === "custom") await writing.checkCustomCount(unit, scope);
        else if (await entryPoint(unit.db, ownerOf(scope), phase.name)) throw entryPointExists(body.kind, phase.name);
        return insert(unit, call, scope, body.kind, phase, body);
      };
      return checks.before(
        () => checkAll(scope, body.kind, phase.name, body),
        () => commit(deps, call, create),
      );
    },

    get: async (scope, id) => {
      const managed = MANAGED_RULESETS.get(id);
      return managed ? managedView(managed) : rulesetView(await ownRuleset(store.read, scope, id, "read"));
    },

    update: (call, scope, id, body) =>
      checks.before(
        async () => {
          const { kind, phase } = await ownRuleset(store.read, scope, id, "write");
          await checkAll(scope, kind, phase, body);
        },
        () => commit(deps, call, async (unit) => replace(unit, call, scope, await ownRuleset(unit.db, scope, id, "write"), body)),
      ),

    delete: (call, scope, id) =>
      commit(deps, call, async (unit) => {
        const before = await ownRuleset(unit.db, scope, id, "write");
        if (before.kind === "custom") await refuseInUse(unit, scope, id);
        await deleteRuleset(unit.db, id);
        unit.audit({ ...auditOf(call, scope, "ruleset.delete", id), before: rulesetView(before) });
        unit.change({ kind: "ruleset", id, value: null });
      }),

    entryPoint: async (scope, name) => rulesetView(await entryPointOf(store.read, scope, name)),

    putEntryPoint: async (call, scope, name, body, first) => {
      const phase = phaseFor(scope, name, "write", undefined);
      const put = async (unit: Unit): Promise<Ruleset> => {
        await first?.(unit);
        const before = await entryPoint(unit.db, ownerOf(scope), phase.name);
        if (before) return replace(unit, call, scope, before, body);
        checkUnchanged(body, { kind: entryPointKind(scope), phase: phase.name });
        return insert(unit, call, scope, entryPointKind(scope), phase, body);
      };
      return checks.before(
        () => checkAll(scope, entryPointKind(scope), phase.name, body),
        () => commit(deps, call, put),
      );
    },

    addRule: (call, scope, id, { position, ...write }) => {
      const added = { ...write, id: "" };
      return checks.before(
        () => checkOne(scope, id, added, ""),
        () => changeRules(call, scope, id, (rules, build) => placeRule(rules, buildRule(added, undefined, build), position)),
      );
    },

    editRule: (call, scope, id, ruleId, { position, ...write }) => {
      const onlyMoves = position !== undefined && Object.values(write).every((value) => value === undefined);
      const edit: ChangeRules = (rules, build) => {
        const existing = ruleNamed(rules, ruleId);
        const rule = onlyMoves ? existing : buildRule(write, existing, build);
        const others = rules.filter((other) => other.id !== ruleId);
        return position === undefined ? rules.map((other) => (other.id === ruleId ? rule : other)) : placeRule(others, rule, position);
      };
      return checks.before(
        () => (onlyMoves ? Promise.resolve() : checkOne(scope, id, write, ruleId)),
        () => changeRules(call, scope, id, edit),
      );
    },

    deleteRule: (call, scope, id, ruleId) =>
      changeRules(call, scope, id, (rules) => {
        ruleNamed(rules, ruleId);
        return rules.filter((rule) => rule.id !== ruleId);
      }),
  };
}

async function refuseInUse(unit: Unit, scope: RulesetScope, id: string): Promise<void> {
  for (const row of await rulesetsNaming(unit.db, scope.account_id, id)) {
    const rule = rulesOf(row).find(({ action, action_parameters }) => action === "execute" && action_parameters["id"] === id);
    if (rule !== undefined)
      throw new PlatformError("ruleset_in_use", {
        message: `rule ${rule.id} of ruleset ${row.id} (phase ${row.phase}) executes this ruleset`,
      });
  }
}

function ruleNamed(rules: readonly StoredRule[], id: string): StoredRule {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) throw new PlatformError("rule_not_found", { message: `could not find rule ${id}` });
  return rule;
}

const entryPointExists = (kind: string, phase: string): PlatformError =>
  new PlatformError("ruleset_entrypoint_exists", {
    message: `'${kind}' is not a valid value for kind because exceeded maximum number of ${kind} rulesets for phase ${phase}`,
    source: "/kind",
  });
