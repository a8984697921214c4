import type { BodyCause } from "#rules/body/body-causes.ts";
import { bodyReading } from "#rules/body/request-body.ts";
import type { Dispatch } from "#rules/expression/compile/dispatch.ts";
import type { CompiledRule, CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { Predicate, RequestView } from "#rules/views.ts";
import type { RulesetDefinition } from "#rules/definition.ts";
import type { ManagedExecution, ManagedRule, ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import { definitionOf } from "./definition-of.ts";
import { ListScan } from "./list-scan.ts";
import { compileCore } from "./compile-core.ts";
import { matchedCause, matchedPart } from "#rules/managed/matched-part.ts";
import { ARGUMENTS, BODY, FILES, UPLOADS } from "#rules/managed/signatures/values/places.ts";
import type { LeftOut, SignatureSet } from "#rules/managed/signatures/signature-set.ts";
import { OWN_SIGNATURES } from "#rules/managed/signatures/table.ts";
import { exceptingWhole, leftOutOf, rememberVariants } from "./part-exceptions.ts";

/** Compiles a definition; rules with a predicate need no expression. */
export type Compile = (definition: RulesetDefinition, predicates: ReadonlyMap<string, Predicate>) => CompiledRuleset;

/** Whether another engine runs the ruleset. */
export const runsElsewhere = (ruleset: ManagedRuleset): boolean =>
  ruleset.rules.every((rule) => [rule.expression, rule.signature, rule.cause, rule.core].every((decides) => decides === undefined));

/** Compiles a managed ruleset as one rule executes it. Zones with equal executions share the result. */
export function compileManaged(ruleset: ManagedRuleset, execution: ManagedExecution, compile: Compile): CompiledRuleset {
  const known = COMPILED.get(ruleset) ?? new Map<string, CompiledRuleset>();
  COMPILED.set(ruleset, known);
  const key = JSON.stringify(execution.rules.map(({ id, action, score_threshold }) => [id, action, score_threshold]));
  const before = known.get(key);
  if (before !== undefined) return before;
  if (known.size >= COMPILED_MAX) known.clear();
  const compiled = compileRules(ruleset, execution.rules, compile);
  known.set(key, compiled);
  return compiled;
}

const COMPILED = new WeakMap<ManagedRuleset, Map<string, CompiledRuleset>>();
const COMPILED_MAX = 64;

function compileRules(ruleset: ManagedRuleset, rules: readonly ManagedRule[], compile: Compile): CompiledRuleset {
  if (ruleset.coreRuleSet !== undefined) return compileCore(ruleset, ruleset.coreRuleSet, rules, compile);
  const { signatures, set } = ruleset.signatures ?? OWN_SIGNATURES;
  const predicates = new Map<string, Predicate>();
  for (const { id, signature, cause } of rules) {
    if (signature !== undefined) predicates.set(id, (request) => set().matches(request, signature));
    if (cause !== undefined) predicates.set(id, (request) => bodyReading(request).causes.has(cause));
  }
  const definition = { id: ruleset.id, phase: ruleset.phase, version: ruleset.version, rules: rules.map(definitionOf) };
  const compiled = compile(definition, predicates);
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const explained = compiled.rules.map((rule) => judging(rule, byId.get(rule.definition.id)!, set));
  const isDispatched = predicates.size > 0;
  // Built now, so that the first request does not wait for it.
  if (isDispatched) set();
  const looksAtBody = (signature = -1): boolean => ((signatures[signature]?.targets ?? 0) & BODY_PLACES) !== 0;
  const withRules = (changed: readonly CompiledRule[]): CompiledRuleset => ({
    ...compiled,
    rules: changed,
    dispatch: isDispatched ? createManagedDispatch(changed, byId, set) : null,
    readsBody: compiled.readsBody || rules.some(({ signature, cause }) => cause !== undefined || looksAtBody(signature)),
  });
  const excepting = rememberVariants((exceptions) =>
    withRules(explained.map((rule) => exceptingParts(rule, byId.get(rule.definition.id)!, leftOutOf(exceptions, rule.definition.id), set))),
  );
  return { ...withRules(explained), excepting };
}

/** Made before requests arrive, and kept as long as its ruleset. */
type GetSet = () => SignatureSet;

/** The rule without the parts that an exception names. */
function exceptingParts(rule: CompiledRule, { signature }: ManagedRule, leftOut: LeftOut | null, set: GetSet): CompiledRule {
  if (leftOut === null) return rule;
  if (signature === undefined) return exceptingWhole(rule, leftOut);
  return {
    ...rule,
    applies: (request) => set().matches(request, signature, leftOut),
    explain: (request) => set().explain(request, signature, leftOut),
    ...(rule.points === null ? {} : { points: (request) => rule.increment * set().hits(request, signature, leftOut) }),
  };
}

/** Adds the explanation to a rule, and for a scoring rule the score of each value that it hits. */
function judging(compiled: CompiledRule, rule: ManagedRule, set: GetSet): CompiledRule {
  const explain = explanation(rule, set);
  const { signature } = rule;
  return {
    ...compiled,
    ...(explain === undefined ? {} : { explain }),
    ...(signature === undefined || compiled.increment === 0
      ? {}
      : { points: (request) => compiled.increment * set().hits(request, signature) }),
  };
}

/** The parts of a request that a rule has matched; undefined for rules that read no part. */
function explanation({ signature, shows, cause }: ManagedRule, set: GetSet): CompiledRule["explain"] {
  if (cause !== undefined) return (request) => [matchedCause(cause, request)];
  if (signature !== undefined) return (request) => set().explain(request, signature);
  if (shows === undefined) return undefined;
  return (request) => {
    const parts = shows.map((part) => matchedPart(part, request));
    return [parts.find(({ value }) => value !== "") ?? parts[0]!];
  };
}

const BODY_PLACES = ARGUMENTS | BODY | FILES | UPLOADS;

/** Evaluates, in their order, the rules whose signatures may match or whose cause the body has, and the rules with neither. */
function createManagedDispatch(rules: readonly CompiledRule[], managed: ReadonlyMap<string, ManagedRule>, set: GetSet): Dispatch {
  const bySignature = new Map<number, number>();
  const byCause = new Map<BodyCause, number>();
  const always: number[] = [];
  for (const [place, { definition }] of rules.entries()) {
    const { signature, cause } = managed.get(definition.id) ?? {};
    if (signature !== undefined) bySignature.set(signature, place);
    else if (cause !== undefined) byCause.set(cause, place);
    else always.push(place);
  }
  const causesOf = (request: RequestView): Iterable<BodyCause> =>
    byCause.size === 0 || (request.body?.raw ?? "") === "" ? [] : bodyReading(request).causes;
  return {
    scan: (request, response, asking = { asked: 0 }) => {
      const found = set()
        .candidates(request)
        .flatMap((signature) => bySignature.get(signature) ?? []);
      for (const cause of causesOf(request)) {
        const place = byCause.get(cause);
        if (place !== undefined) found.push(place);
      }
      if (found.length === 0) return new ListScan(rules, always, request, response, asking);
      return new ListScan(
        rules,
        [...always, ...found].sort((a, b) => a - b),
        request,
        response,
        asking,
      );
    },
  };
}
