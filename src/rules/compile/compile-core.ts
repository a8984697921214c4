import { bodyReading } from "#rules/body/request-body.ts";
import { phaseNamed } from "#rules/phases.ts";
import { definitionOf } from "./definition-of.ts";
import { ListScan } from "./list-scan.ts";
import type { CompiledRule, CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { Predicate } from "#rules/views.ts";
import type { RulesetDefinition } from "#rules/definition.ts";
import type { ManagedRule, ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import type { CoreRuleSet, Find } from "#rules/managed/core/core-rule-set.ts";
import { isCut } from "#rules/managed/core/transaction-of.ts";
import type { Dispatch } from "#rules/expression/compile/dispatch.ts";
import type { PartExceptions } from "#rules/managed/excepted-parts.ts";
import { matchedCause } from "#rules/managed/matched-part.ts";
import { compileTarget } from "#rules/seclang/run/compiled-rule.ts";
import type { ExcludedTarget } from "#rules/seclang/run/transaction.ts";
import { exceptingWhole, leftOutOf, rememberVariants } from "./part-exceptions.ts";

type Compile = (definition: RulesetDefinition, predicates: ReadonlyMap<string, Predicate>) => CompiledRuleset;

/**
 * Rules of the Core Rule Set as one rule executes them: the engine finds all matching rules at once, at the highest
 * enabled level.
 */
export function compileCore(ruleset: ManagedRuleset, core: CoreRuleSet, rules: readonly ManagedRule[], compile: Compile): CompiledRuleset {
  const paranoia = rules.reduce((most, { core: number, suspicion }) => (number === undefined ? most : Math.max(most, suspicion ?? 1)), 1);
  // Built now, so that the first request does not wait for it.
  core.prepare(paranoia);
  const isOfResponses = phaseNamed(ruleset.phase)?.side === "response";
  const numbers = new Map(rules.map(({ id, core: number }) => [id, number]));
  const causes = new Map(rules.map(({ id, cause }) => [id, cause]));
  const definition = { id: ruleset.id, phase: ruleset.phase, version: ruleset.version, rules: rules.map(definitionOf) };
  const withFind = (find: Find, exceptions: PartExceptions | null): CompiledRuleset => {
    const predicates = new Map<string, Predicate>();
    for (const { id, core: number, cause } of rules) {
      if (number !== undefined) predicates.set(id, (request, response) => find(request, response).has(number));
      if (cause !== undefined)
        predicates.set(id, (request) => bodyReading(request).causes.has(cause) || (cause === "size" && isCut(bodyReading(request))));
    }
    const compiled = compile(definition, predicates);
    const explained = compiled.rules.map((rule): CompiledRule => {
      const { id } = rule.definition;
      const number = numbers.get(id);
      const cause = causes.get(id);
      if (number !== undefined)
        return {
          ...rule,
          points: (request) => find(request, null).get(number)?.score ?? 0,
          explain: (request) => find(request, null).get(number)?.places ?? [],
        };
      if (cause === undefined) return rule;
      const told: CompiledRule = { ...rule, explain: (request) => [matchedCause(cause, request)] };
      const leftOut = exceptions === null ? null : leftOutOf(exceptions, id);
      return leftOut === null ? told : exceptingWhole(told, leftOut);
    });
    return {
      ...compiled,
      rules: explained,
      readsBody: !isOfResponses,
      readsResponse: isOfResponses,
      dispatch: createCoreDispatch(explained, numbers, find),
    };
  };
  const excepting = rememberVariants((exceptions) => {
    const excluded = excludedTargets(exceptions, numbers);
    return withFind(core.findExcepting(paranoia, excluded), exceptions);
  });
  return { ...withFind(core.find(paranoia), null), excepting };
}

/** Evaluates the found rules, and those that the set does not decide, in their order. */
function createCoreDispatch(rules: readonly CompiledRule[], numbers: ReadonlyMap<string, number | undefined>, find: Find): Dispatch {
  const always: number[] = [];
  const places = new Map<number, number>();
  for (const [place, { definition }] of rules.entries()) {
    const number = numbers.get(definition.id);
    if (number === undefined) always.push(place);
    else places.set(number, place);
  }
  return {
    scan: (request, response, asking = { asked: 0 }) => {
      const found = Array.from(find(request, response).keys()).flatMap((number) => places.get(number) ?? []);
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

const excludedTargets = ({ parts }: PartExceptions, numbers: ReadonlyMap<string, number | undefined>): readonly ExcludedTarget[] =>
  parts.map(({ rule_ids, part, name, target }) => ({
    ids: [...rule_ids].flatMap((id) => numbers.get(id) ?? []),
    ...(target === undefined ? {} : { target: compileTarget(target) }),
    // Each XPath selects a separate collection.
    ...(part === "XML" ? { collection: `XML:${name}`, name: "" } : { collection: part, name }),
  }));
