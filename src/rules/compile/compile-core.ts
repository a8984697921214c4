import { bodyReading } from "#rules/body/request-body.ts";
import { definitionOf } from "./definition-of.ts";
import { ListScan } from "./list-scan.ts";
import type { CompiledRule, CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { Predicate, RequestView } from "#rules/views.ts";
import type { RulesetDefinition } from "#rules/definition.ts";
import type { ManagedRule, ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import type { CoreMatch, CoreRuleSet } from "#rules/managed/core/core-rule-set.ts";
import { isCut } from "#rules/managed/core/transaction-of.ts";

type Compile = (definition: RulesetDefinition, predicates: ReadonlyMap<string, Predicate>) => CompiledRuleset;

/** Rules of the Core Rule Set as one rule executes them: the engine finds those that apply, all at once, at the highest level that is on. */
export function compileCore(ruleset: ManagedRuleset, core: CoreRuleSet, rules: readonly ManagedRule[], compile: Compile): CompiledRuleset {
  const paranoia = rules.reduce((most, { core: number, suspicion }) => (number === undefined ? most : Math.max(most, suspicion ?? 1)), 1);
  // Before requests come rather than with the first of them.
  core.prepare();
  const find = (request: RequestView): ReadonlyMap<number, CoreMatch> => core.find(request, paranoia);
  const predicates = new Map<string, Predicate>();
  for (const { id, core: number, cause } of rules) {
    if (number !== undefined) predicates.set(id, (request) => find(request).has(number));
    if (cause !== undefined)
      predicates.set(id, (request) => bodyReading(request).causes.has(cause) || (cause === "size" && isCut(bodyReading(request))));
  }
  const definition = { id: ruleset.id, phase: ruleset.phase, version: ruleset.version, rules: rules.map(definitionOf) };
  const compiled = compile(definition, predicates);
  const numbers = new Map(rules.map(({ id, core: number }) => [id, number]));
  const explained = compiled.rules.map((rule): CompiledRule => {
    const number = numbers.get(rule.definition.id);
    if (number === undefined) return rule;
    return { ...rule, points: (request) => find(request).get(number)?.score ?? 0, explain: (request) => shown(find(request).get(number)) };
  });
  const always: number[] = [];
  const places = new Map<number, number>();
  for (const [place, { definition }] of explained.entries()) {
    const number = numbers.get(definition.id);
    if (number === undefined) always.push(place);
    else places.set(number, place);
  }
  return {
    ...compiled,
    rules: explained,
    readsBody: true,
    dispatch: {
      scan: (request, response, asking = { asked: 0 }) => {
        const found = Array.from(find(request).keys()).flatMap((number) => places.get(number) ?? []);
        return new ListScan(
          explained,
          [...always, ...found].sort((a, b) => a - b),
          request,
          response,
          asking,
        );
      },
    },
  };
}

const shown = (match: CoreMatch | undefined): ReturnType<NonNullable<CompiledRule["explain"]>> =>
  match === undefined ? undefined : { part: match.part, name: match.name, value: match.value };
