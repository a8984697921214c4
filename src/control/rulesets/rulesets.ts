import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import { newId } from "#kernel/ids.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { buildRule, checkRefs, placeRule, replaceRules, type StoredRule } from "#control/rulesets/rules.ts";
import { managedSummary, managedView, rulesetSummary, rulesetView } from "#control/rulesets/view.ts";
import type { Ruleset, RulesetCreate, RulesetSummary, RulesetUpdate, RuleWriteAt } from "#model/ruleset.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import { type Phase, phaseNamed } from "#rules/phases.ts";
import { rulesetEntry } from "#snapshot/compile.ts";
import {
  deleteRuleset,
  entryPoint,
  insertRuleset,
  rulesetById,
  type RulesetOwner,
  type RulesetRow,
  rulesetsOf,
  updateRuleset,
} from "#store/rulesets.ts";
import type { Store, Unit } from "#store/store.ts";

/** Whose rulesets a call works on: the account of its path, or the zone and its account. */
export interface RulesetScope {
  readonly level: "account" | "zone";
  readonly account_id: string;
  readonly zone_id: string | null;
}

/** Each write makes a new version of the ruleset and is checked whole before anything is stored. */
export interface Rulesets {
  /** The scope's own rulesets, then the managed ones that it can execute. */
  list(scope: RulesetScope): Promise<readonly RulesetSummary[]>;
  create(call: Call, scope: RulesetScope, body: RulesetCreate): Promise<Ruleset>;
  get(scope: RulesetScope, id: string): Promise<Ruleset>;
  update(call: Call, scope: RulesetScope, id: string, body: RulesetUpdate): Promise<Ruleset>;
  delete(call: Call, scope: RulesetScope, id: string): Promise<void>;
  /** Throws `entrypoint_not_found` where the phase has none yet (SPEC 4.5). */
  entryPoint(scope: RulesetScope, phase: string): Promise<Ruleset>;
  /** Creates the entry point or replaces its rules. */
  putEntryPoint(call: Call, scope: RulesetScope, phase: string, body: RulesetUpdate): Promise<Ruleset>;
  addRule(call: Call, scope: RulesetScope, id: string, body: RuleWriteAt): Promise<Ruleset>;
  /** A position alone moves the rule; a definition replaces it. */
  editRule(call: Call, scope: RulesetScope, id: string, ruleId: string, body: RuleWriteAt): Promise<Ruleset>;
  deleteRule(call: Call, scope: RulesetScope, id: string, ruleId: string): Promise<Ruleset>;
}

export function createRulesets(deps: { readonly store: Store; readonly clock: Clock }): Rulesets {
  const { store, clock } = deps;
  const now = (): string => isoMicros(clock.nowMicros());

  const insert = async (unit: Unit, call: Call, scope: RulesetScope, kind: string, phase: Phase, body: RulesetUpdate): Promise<Ruleset> => {
    const at = now();
    const row: RulesetRow = {
      id: newId(),
      ...ownerOf(scope),
      name: body.name ?? "default",
      description: body.description ?? "",
      kind,
      phase: phase.name,
      version: 1,
      rules: JSON.stringify(replaceRules(body.rules ?? [], [], phase.name, at)),
      last_updated: at,
    };
    await insertRuleset(unit.db, row);
    return publish(unit, call, scope, "ruleset.create", null, row);
  };

  const save = async (unit: Unit, call: Call, scope: RulesetScope, before: RulesetRow, changes: Partial<RulesetRow>): Promise<Ruleset> => {
    const row = { ...before, ...changes, version: before.version + 1, last_updated: now() };
    await updateRuleset(unit.db, before.id, row);
    return publish(unit, call, scope, "ruleset.update", before, row);
  };

  const replace = (unit: Unit, call: Call, scope: RulesetScope, before: RulesetRow, body: RulesetUpdate): Promise<Ruleset> => {
    for (const key of ["kind", "phase"] as const) {
      if (body[key] !== undefined && body[key] !== before[key]) throw invalid(`${key} of a ruleset cannot change`, `/${key}`);
    }
    const rules = replaceRules(body.rules ?? [], rulesOf(before), before.phase, now());
    return save(unit, call, scope, before, {
      name: body.name ?? before.name,
      description: body.description ?? before.description,
      rules: JSON.stringify(rules),
    });
  };

  /** Loads the ruleset inside the unit, so that what `change` makes of its rules is based on the newest. */
  const changeRules = (
    call: Call,
    scope: RulesetScope,
    id: string,
    change: (rules: readonly StoredRule[], phase: string) => StoredRule[],
  ): Promise<Ruleset> =>
    commit(deps, call, async (unit) => {
      const before = await own(unit.db, scope, id);
      const rules = change(rulesOf(before), before.phase);
      checkRefs(rules);
      return save(unit, call, scope, before, { rules: JSON.stringify(rules) });
    });

  return {
    list: async (scope) => {
      const rows = await rulesetsOf(store.read, ownerOf(scope));
      return [...rows.map(rulesetSummary), ...[...MANAGED_RULESETS.values()].map(managedSummary)];
    },

    create: async (call, scope, body) => {
      const phase = phaseFor(scope, body.phase, "/phase");
      checkKind(scope, body.kind);
      return commit(deps, call, async (unit) => {
        if (body.kind !== "custom" && (await entryPoint(unit.db, ownerOf(scope), phase.name)))
          throw entryPointExists(body.kind, phase.name);
        return insert(unit, call, scope, body.kind, phase, body);
      });
    },

    get: async (scope, id) => {
      const managed = MANAGED_RULESETS.get(id);
      return managed ? managedView(managed) : rulesetView(await own(store.read, scope, id));
    },

    update: (call, scope, id, body) => commit(deps, call, async (unit) => replace(unit, call, scope, await own(unit.db, scope, id), body)),

    delete: (call, scope, id) =>
      commit(deps, call, async (unit) => {
        const before = await own(unit.db, scope, id);
        await deleteRuleset(unit.db, id);
        unit.audit({ ...auditOf(call, scope, "ruleset.delete", id), before: rulesetView(before) });
        unit.change({ kind: "ruleset", id, value: null });
      }),

    entryPoint: async (scope, name) => {
      const phase = phaseFor(scope, name, undefined);
      const row = await entryPoint(store.read, ownerOf(scope), phase.name);
      if (row === undefined)
        throw new PlatformError("entrypoint_not_found", { message: `could not find entrypoint ruleset in the ${phase.name} phase` });
      return rulesetView(row);
    },

    putEntryPoint: async (call, scope, name, body) => {
      const phase = phaseFor(scope, name, undefined);
      return commit(deps, call, async (unit) => {
        const before = await entryPoint(unit.db, ownerOf(scope), phase.name);
        return before
          ? replace(unit, call, scope, before, body)
          : insert(unit, call, scope, scope.level === "zone" ? "zone" : "root", phase, body);
      });
    },

    addRule: (call, scope, id, { position, ...write }) =>
      changeRules(call, scope, id, (rules, phase) =>
        placeRule(rules, buildRule({ ...write, id: "" }, undefined, phase, now(), ""), position),
      ),

    editRule: (call, scope, id, ruleId, { position, ...write }) =>
      changeRules(call, scope, id, (rules, phase) => {
        const existing = ruleNamed(rules, ruleId);
        const onlyMoves = position !== undefined && Object.values(write).every((value) => value === undefined);
        const rule = onlyMoves ? existing : buildRule(write, existing, phase, now(), "");
        const others = rules.filter((other) => other.id !== ruleId);
        return position === undefined ? rules.map((other) => (other.id === ruleId ? rule : other)) : placeRule(others, rule, position);
      }),

    deleteRule: (call, scope, id, ruleId) =>
      changeRules(call, scope, id, (rules) => {
        ruleNamed(rules, ruleId);
        return rules.filter((rule) => rule.id !== ruleId);
      }),
  };
}

const ownerOf = (scope: RulesetScope): RulesetOwner => ({ level: scope.level, owner_id: scope.zone_id ?? scope.account_id });

const rulesOf = (row: RulesetRow): StoredRule[] => JSON.parse(row.rules) as StoredRule[];

async function own(db: Unit["db"], scope: RulesetScope, id: string): Promise<RulesetRow> {
  const row = await rulesetById(db, ownerOf(scope), id);
  if (row === undefined) throw new PlatformError("ruleset_not_found", { message: `could not find ruleset ${id}` });
  return row;
}

function ruleNamed(rules: readonly StoredRule[], id: string): StoredRule {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) throw new PlatformError("rule_not_found", { message: `could not find rule ${id}` });
  return rule;
}

const auditOf = (call: Call, scope: RulesetScope, action: string, id: string) => ({
  action,
  actor: auditActor(call),
  account_id: scope.account_id,
  zone_id: scope.zone_id,
  resource: { type: "ruleset", id },
});

function publish(unit: Unit, call: Call, scope: RulesetScope, action: string, before: RulesetRow | null, after: RulesetRow): Ruleset {
  const view = rulesetView(after);
  unit.audit({ ...auditOf(call, scope, action, after.id), before: before && rulesetView(before), after: view });
  unit.change({ kind: "ruleset", id: after.id, value: rulesetEntry(after) });
  return view;
}

function phaseFor(scope: RulesetScope, name: string, source: string | undefined): Phase {
  const phase = phaseNamed(name);
  const place = source === undefined ? {} : { source };
  if (phase === undefined) throw new PlatformError("ruleset_invalid", { message: `'${name}' is not a valid value for phase`, ...place });
  if (!phase.levels.includes(scope.level))
    throw new PlatformError("ruleset_invalid", { message: `phase ${name} has no rulesets at the ${scope.level} level`, ...place });
  return phase;
}

/** Managed rulesets ship with the program; custom ones are kept by accounts, since zones share them. */
const KINDS: Readonly<Record<RulesetScope["level"], readonly string[]>> = { account: ["root", "custom"], zone: ["zone"] };

function checkKind(scope: RulesetScope, kind: string): void {
  if (!KINDS[scope.level].includes(kind))
    throw invalid(
      `'${kind}' is not a valid value for kind because the ${scope.level} level takes ${KINDS[scope.level].join(" or ")}`,
      "/kind",
    );
}

const entryPointExists = (kind: string, phase: string): PlatformError =>
  new PlatformError("ruleset_entrypoint_exists", {
    message: `'${kind}' is not a valid value for kind because exceeded maximum number of ${kind} rulesets for phase ${phase}`,
    source: "/kind",
  });

const invalid = (message: string, source: string): PlatformError => new PlatformError("ruleset_invalid", { message, source });
