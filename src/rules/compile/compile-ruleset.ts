import { ACTIONS } from "#rules/actions/actions.ts";
import type { ActionName } from "#rules/phases.ts";
import { PRODUCT_PHASES } from "#rules/actions/skip.ts";
import { outlivesSkips, PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
import { compileExpression, type ExpressionOptions } from "#rules/expression/expression.ts";
import type { NamedLists } from "#rules/expression/values/lists.ts";
import { isBodyField } from "#rules/expression/fields/body-fields.ts";
import { creatingDispatch } from "#rules/expression/compile/dispatch.ts";
import type { FieldChange } from "#rules/actions/field-change.ts";
import { finish, type Work } from "#kernel/process/slices.ts";
import { createRegexTable, type RegexTable } from "#rules/regex/regex-table.ts";
import { compileHeaderChanges } from "#rules/actions/header-changes.ts";
import { type Compile, compileManaged, runsElsewhere } from "./compile-managed.ts";
import { compileSecLang } from "./compile-seclang.ts";
import { SECLANG_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { type SecLangPhase, secLangRuleset } from "#rules/managed/seclang-ruleset.ts";
import { executionOf, MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import type { ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import { PACKAGE_RULESETS } from "#rules/previous-waf/packages.ts";
import type { RateCounters } from "#rules/rate-limit/counter-table.ts";
import { type CompiledLimit, compileLimit } from "#rules/rate-limit/rate-limit.ts";
import type { CompiledRule, CompiledRuleset, Executed, Match, SkipList } from "#rules/engine/compiled-rule.ts";
import type { Predicate } from "#rules/views.ts";
import type { RuleDefinition, RulesetDefinition } from "#rules/definition.ts";
import { compileParameters } from "#rules/parameters/values.ts";
import type { PartExceptions } from "#rules/managed/excepted-parts.ts";

/** Rulesets, lists and counters that rules may refer to. */
export interface CompileDeps {
  /** The account's custom rulesets, read when a rule executes one. */
  custom?(id: string): CompiledRuleset | undefined;
  /** The account's lists. */
  readonly lists?: NamedLists;
  /** Counters of rate limits; without them no limit is ever reached. */
  readonly counters?: RateCounters;
  /** Predicates that replace the expressions of rules, by rule id. */
  readonly predicates?: ReadonlyMap<string, Predicate>;
  /** Defaults to the rulesets that the program includes. */
  readonly managed?: ReadonlyMap<string, ManagedRuleset>;
  /** Regular expressions of earlier versions of the ruleset, which are used again. */
  readonly regexes?: RegexTable;
}

/** Compiles a ruleset's enabled rules. Never throws: rules that do not compile are omitted and listed in `problems`. */
export const compileRuleset = (definition: RulesetDefinition, deps?: CompileDeps): CompiledRuleset =>
  finish(compilingRuleset(definition, deps));

/** The same in steps of a few milliseconds, so that other work on the thread can run between them. */
export function* compilingRuleset(definition: RulesetDefinition, deps: CompileDeps = {}): Work<CompiledRuleset> {
  const regexes = deps.regexes ?? createRegexTable();
  const rules: CompiledRule[] = [];
  const problems: { rule_id: string; message: string }[] = [];
  let readsBody = false;
  const options: ExpressionOptions = {
    ...(deps.lists === undefined ? {} : { lists: deps.lists }),
    regexes,
    onField: (field) => (readsBody ||= isBodyField(field)),
  };
  for (const rule of definition.rules) {
    if (!rule.enabled) continue;
    regexes.beginRule();
    try {
      rules.push(compileRule(definition, rule, deps, options));
    } catch (error) {
      problems.push({ rule_id: rule.id, message: error instanceof Error ? error.message : String(error) });
    }
    // A stored expression may be something other than a string, after another version or a manual change.
    yield RULE_UNITS + String(rule.expression).length * CHARACTER_UNITS;
    for (const regex of regexes.takeNew()) {
      regex.prepare();
      yield regex.size * PLACE_UNITS;
    }
  }
  // A rate limit may count requests that its rule does not match, so every rule is evaluated.
  const asksAll = rules.length < DISPATCH_RULES_MIN || rules.some(({ limit }) => limit !== null);
  const dispatch = asksAll ? null : yield* creatingDispatch(rules.map((rule) => rule.applies));
  const steps = rules.reduce((sum, rule) => sum + rule.definition.expression.length * CHARACTER_STEPS, 0);
  const judges = rules.some(({ executes }) => executes?.tells === true);
  return {
    id: definition.id,
    phase: definition.phase,
    version: definition.version ?? "",
    rules,
    dispatch,
    steps,
    readsBody,
    readsResponse: false,
    judges,
    outlivesSkips: outlivesSkips(definition.id),
    problems,
  };
}

/** Whether the rules of a phase, and the rulesets that they execute, read the request's body. */
export const readsBody = (rulesets: readonly CompiledRuleset[]): boolean =>
  rulesets.some((ruleset) => ruleset.readsBody || ruleset.rules.some(({ executes }) => executes?.ruleset()?.readsBody === true));

/** Measured units of compilation (`Work`): for a rule, a character of its expression, and a position of a regular expression. */
const RULE_UNITS = 10;
const CHARACTER_UNITS = 1;
const PLACE_UNITS = 8;

/** Steps per character of an expression that only compares. */
const CHARACTER_STEPS = 5;

// For fewer rules, evaluating one by one is faster than a dispatch.
const DISPATCH_RULES_MIN = 16;

function compileRule(ruleset: RulesetDefinition, rule: RuleDefinition, deps: CompileDeps, options: ExpressionOptions): CompiledRule {
  const executes = rule.action === "execute" ? executed(rule, deps, ruleset.phase) : null;
  const action = Object.hasOwn(ACTIONS, rule.action) ? ACTIONS[rule.action as ActionName] : undefined;
  const { increment, threshold } = scoreOf(rule);
  const changes = rule.action === "rewrite" ? compileHeaderChanges(rule.action_parameters, ruleset.phase, options) : NO_CHANGES;
  return {
    definition: rule,
    applies: deps.predicates?.get(rule.id) ?? compileExpression(rule.expression, ruleset.phase, options),
    ends: endedBy(rule, action?.terminates ?? false),
    executes,
    skips: rule.action === "skip" ? skipListOf(rule.action_parameters) : null,
    increment,
    points: null,
    threshold,
    limit: limitOf(ruleset, rule, deps, options),
    read: compileParameters(rule.action_parameters, ruleset.phase, options),
    readChanges: typeof changes === "function" ? changes : null,
    match: {
      ruleset_id: ruleset.id,
      rule,
      action: rule.action,
      action_parameters: rule.action_parameters,
      changes: typeof changes === "function" ? NO_CHANGES : changes,
      managed: executes?.managed ?? null,
      deployed_by: "",
      found: NOTHING_FOUND,
      public_key: "",
      logs: rule.logging?.enabled ?? action?.logs ?? false,
    },
  };
}

/** Rulesets that the program includes; customers' rules can only name managed ones. */
const shipped = (id: string): ManagedRuleset | undefined => MANAGED_RULESETS.get(id) ?? PACKAGE_RULESETS.get(id);

const NO_CHANGES: readonly FieldChange[] = [];
const NOTHING_FOUND: Match["found"] = [];

/** Without counters a limit is never reached, rather than always. */
const NO_COUNTERS: RateCounters = { nowMs: () => 0, add: () => 0, keptOutUntil: () => 0, keepOut: () => undefined };

function limitOf(
  ruleset: RulesetDefinition,
  rule: RuleDefinition,
  { counters = NO_COUNTERS }: CompileDeps,
  options: ExpressionOptions,
): CompiledLimit | null {
  return rule.ratelimit === undefined ? null : compileLimit(rule, ruleset, counters, options);
}

/** A skip ends the ruleset or phase that it names (waf.md, "Skip"). */
function endedBy(rule: RuleDefinition, terminates: boolean): CompiledRule["ends"] {
  if (terminates) return "phase";
  if (rule.action !== "skip") return null;
  if (rule.action_parameters["phase"] === "current") return "phase";
  return rule.action_parameters["ruleset"] === "current" ? "ruleset" : null;
}

function scoreOf(rule: RuleDefinition): { readonly increment: number; readonly threshold: number } {
  const { increment, score_threshold: threshold } = rule.action_parameters;
  return {
    increment: rule.action === "score" && typeof increment === "number" ? increment : 0,
    threshold: typeof threshold === "number" ? threshold : 0,
  };
}

function executed(rule: RuleDefinition, deps: CompileDeps, phase: string): Executed {
  const id = String(rule.action_parameters["id"]);
  const { public_key: publicKey = "" } = (rule.action_parameters["matched_data"] ?? {}) as { readonly public_key?: string };
  if (id === SECLANG_RULESET_ID) {
    const compiled = compileSecLang(secLangRuleset(String(rule.action_parameters["seclang"]), phase as SecLangPhase), compileWith);
    return { id, ruleset: () => compiled, managed: null, tells: true, publicKey };
  }
  const managed = deps.managed === undefined ? shipped(id) : deps.managed.get(id);
  if (managed === undefined) return { id, ruleset: () => deps.custom?.(id), managed: null, tells: false, publicKey: "" };
  const execution = executionOf(managed, rule.action_parameters);
  if (runsElsewhere(managed)) return { id, ruleset: () => undefined, managed: execution, tells: false, publicKey };
  const compiled = compileManaged(managed, execution, compileWith);
  return { id, ruleset: () => compiled, managed: null, tells: true, publicKey };
}

const compileWith: Compile = (definition, predicates) => compileRuleset(definition, { predicates });

const PRODUCT_RULESETS: Readonly<Record<string, string>> = {
  zoneLockdown: PREVIOUS_SLOTS.zone_lockdown.ruleset_id,
  uaBlock: PREVIOUS_SLOTS.ua_rules.ruleset_id,
};

/** Null if the rule skips nothing beyond its own ruleset or phase. */
function skipListOf(parameters: Readonly<Record<string, unknown>>): SkipList | null {
  const { phases = [], products = [], rulesets = [], rules = {}, matched = [] } = parameters as SkipParameters;
  const all = [...phases, ...products.flatMap((product) => PRODUCT_PHASES[product] ?? [])];
  const byRuleset = Object.entries(rules);
  const named = [...rulesets, ...products.flatMap((product) => PRODUCT_RULESETS[product] ?? [])];
  if (all.length + named.length + byRuleset.length === 0) return null;
  const places = [matched].flat();
  if (places.length === 0) return { phases: all, rulesets: named, rules: byRuleset, parts: [] };
  return { phases: all, rulesets: named, rules: [], parts: byRuleset.map(([id, ids]) => [id, partExceptions(ids, places)]) };
}

/** Names are text in the API, and bytes in requests. */
function partExceptions(ruleIds: readonly string[], matched: readonly SkipPlace[]): PartExceptions {
  const parts = matched.map(({ part, name = "", rules = ruleIds }) => ({
    rule_ids: new Set(rules),
    part,
    name: Buffer.from(name, "utf8").toString("latin1"),
  }));
  return { key: JSON.stringify(parts.map(({ rule_ids, part, name }) => [...rule_ids, part, name])), parts };
}

/** As validated by the shapes of rules. */
interface SkipParameters {
  readonly phases?: readonly string[];
  readonly products?: readonly string[];
  readonly rulesets?: readonly string[];
  readonly rules?: Readonly<Record<string, readonly string[]>>;
  readonly matched?: SkipPlace | readonly SkipPlace[];
}

interface SkipPlace {
  readonly part: string;
  readonly name?: string;
  readonly rules?: readonly string[];
}
