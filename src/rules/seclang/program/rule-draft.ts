import type { ActionRef } from "../syntax/actions.ts";
import type { Directive } from "../syntax/directives.ts";
import { refuse, type Text } from "../syntax/source-error.ts";
import type { VariableRef } from "../syntax/variables.ts";

/** A rule while the files are read: later directives may still change it. */
export interface SecRuleDraft {
  readonly id: number;
  readonly phase: number;
  readonly source: Text;
  readonly links: LinkDraft[];
}

export interface LinkDraft {
  readonly variables: VariableRef[];
  readonly directive: Extract<Directive, { kind: "rule" }>;
  readonly actions: ActionRef[];
}

const PHASE_NAMES: Readonly<Record<string, number>> = { request: 2, response: 4, logging: 5 };

/** The phase that actions name; 2 by default, as in ModSecurity. */
export function phaseOf(actions: readonly ActionRef[]): number {
  const action = lastOf(actions, "phase");
  if (action === undefined) return 2;
  const phase = PHASE_NAMES[action.argument.text.toLowerCase()] ?? Number(action.argument.text);
  if (!Number.isInteger(phase) || phase < 1 || phase > 5) refuse(action.argument, "a phase is 1 to 5, request, response or logging");
  return phase;
}

export function idOf(actions: readonly ActionRef[], source: Text): number {
  const action = lastOf(actions, "id");
  if (action === undefined) return refuse(source, "the rule needs an id, as in id:1000");
  return numberIn(action.argument, 1, 2 ** 52);
}

export function numberIn(text: Text, least: number, most: number): number {
  const value = Number(text.text);
  if (!/^\d{1,16}$/.test(text.text) || value < least || value > most) refuse(text, `expected a whole number from ${least} to ${most}`);
  return value;
}

export const lastOf = (actions: readonly ActionRef[], name: ActionRef["name"]): ActionRef | undefined =>
  actions.findLast((action) => action.name === name);

export const has = (actions: readonly ActionRef[], name: ActionRef["name"]): boolean => actions.some((action) => action.name === name);

/** Ids that a text such as `942100 942200-942299,1` names; chains are named by an offset, `942100:1`. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
  readonly link: number;
}

export function readIdRanges(text: Text): readonly IdRange[] {
  return text.text
    .split(/[\s,]/)
    .filter((part) => part !== "")
    .map((part) => {
      const found = /^(\d{1,16})(?:-(\d{1,16})|:(\d{1,3}))?$/.exec(part);
      if (found === null) return refuse(text, `expected ids such as 942100 or 942100-942199, not ${part.slice(0, 40)}`);
      const first = Number(found[1]);
      return { first, last: Number(found[2] ?? first), link: Number(found[3] ?? 0) };
    });
}

export const isIn = (id: number, ranges: readonly IdRange[]): boolean => ranges.some(({ first, last }) => id >= first && id <= last);
