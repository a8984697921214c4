import type { CompiledRule, CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { PartExceptions } from "#rules/managed/excepted-parts.ts";
import type { LeftOut, Place } from "#rules/managed/signatures/signature-set.ts";
import type { RequestView } from "#rules/views.ts";

/** Whether a rule ignores a part; null if it ignores none. */
export function leftOutOf({ parts }: PartExceptions, ruleId: string): LeftOut | null {
  const own = parts.filter(({ rule_ids }) => rule_ids.has(ruleId));
  if (own.length === 0) return null;
  return ({ part, name }) => own.some((excepted) => excepted.part === part && excepted.name === name);
}

/** A rule that judges whole parts, and matches unless all its findings are excepted. */
export function exceptingWhole(rule: CompiledRule, leftOut: LeftOut): CompiledRule {
  const { applies, explain } = rule;
  if (explain === undefined) return rule;
  const left = (request: RequestView): ReturnType<typeof explain> => explain(request).filter((place: Place) => !leftOut(place));
  return { ...rule, applies: (request, response) => applies(request, response) && left(request).length > 0, explain: left };
}

/** Remembers the variants, up to a bound: requests decide which exceptions apply and in which order. */
export function rememberVariants(make: (exceptions: PartExceptions) => CompiledRuleset): (exceptions: PartExceptions) => CompiledRuleset {
  const known = new Map<string, CompiledRuleset>();
  return (exceptions) => {
    let variant = known.get(exceptions.key);
    if (variant === undefined) {
      if (known.size === VARIANTS_MAX) known.clear();
      known.set(exceptions.key, (variant = make(exceptions)));
    }
    return variant;
  };
}

const VARIANTS_MAX = 64;
