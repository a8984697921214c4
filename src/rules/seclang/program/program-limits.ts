import { parsePcre } from "../patterns/pcre-parse.ts";
import { patternPositions } from "../patterns/pattern-positions.ts";
import { PatternError } from "../patterns/pcre-node.ts";
import { SecLangError, type SourcePosition } from "../syntax/source-error.ts";
import type { Disruption, Rule, Target } from "./program.ts";

/**
 * The part of SecLang that a program may use if its author is not the operator. Patterns must not have look-around,
 * references or variables.
 */
export interface ProgramLimits {
  readonly rules: number;
  readonly phases: readonly number[];
  readonly disruptions: readonly Disruption[];
}

/** Throws SecLangError if a rule exceeds the limits. */
export function checkRule(rule: Rule, phase: number, { phases, disruptions }: ProgramLimits): void {
  if (!phases.includes(phase))
    throw new SecLangError(
      rule.place,
      `rules of phase ${phase} do not run here; use phase ${phases.slice(0, -1).join(", ")} or ${phases.at(-1)}`,
    );
  if (!disruptions.includes(rule.disruption)) throw new SecLangError(rule.place, `${rule.disruption} is not available here; use deny`);
  rulePositions(rule);
}

/** The positions of a rule's patterns (`patternPositions`). Throws SecLangError for an unbounded pattern. */
export function rulePositions({ links, place }: Rule): number {
  let places = 0;
  for (const { operator, targets, excluded, controls } of links) {
    if (operator?.name === "rx" || operator?.name === "rxGlobal") {
      if (typeof operator.argument !== "string") throw new SecLangError(operator.place, "a pattern cannot have variables in it here");
      places += positionsAt(operator.place, operator.argument);
    }
    const named = controls.flatMap((control) => (control.kind === "remove-target" ? control.target : []));
    for (const target of [...targets, ...excluded, ...named]) places += targetPositions(target, place);
  }
  return places;
}

export const targetPositions = ({ selector }: Target, place: SourcePosition): number =>
  selector?.kind === "pattern" ? positionsAt(place, selector.pattern) : 0;

/** Throws SecLangError for an invalid or unbounded pattern. */
export function positionsAt(place: SourcePosition, source: string): number {
  try {
    return patternPositions(parsePcre(source));
  } catch (error) {
    if (error instanceof PatternError) throw new SecLangError(place, `${error.message}, at character ${error.at + 1} of the pattern`);
    throw error;
  }
}
